#!/bin/sh
# Little memory (D05) and small files (D06): a program works, or says what it lacks and leaves no
# incomplete file. scarcity.sh tests other scarce resources.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
case $POPULUS_SANITIZE in *address* | *thread*) echo "skipped: the sanitizers reserve all address space"; exit 77 ;; esac
busy_graph=$POPULUS_BUILD_DIR/tests/support/busy_graph
quiet out "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o busy.gp

# saved <name>: runs the graph; its archive is in <name>.a, its output in <name>.out.
saved()
{
  POPLAR_ENGINE_OPTIONS="{\"target.saveArchive\":\"$1.a\"}" "$busy_graph" busy.gp ipu2 8 >"$1.out" 2>"$1.err"
}
saved whole || fail "$(cat whole.err)"

# D05: limits from too little to enough. The amount that is needed depends on the machine, so the
# test must see both a refusal and a success.
refused=0 done=0
for kib in 6000 9000 12000 14000 16000 18000 20000 22000 24000 26000 30000 60000 200000 1000000 5000000; do
  rm -f limited.a
  status=0
  (ulimit -v $kib && saved limited) || status=$?
  case $status in
  0) done=$((done + 1)) && cmp limited.out whole.out || fail "$kib KiB: $(cat limited.out)" ;;
  4) refused=$((refused + 1)) && grep -Eq 'memory|load' limited.err || fail "$kib KiB: $(cat limited.err)" ;;
  127) refused=$((refused + 1)) ;; # its libraries cannot be loaded
  *) fail "$kib KiB: status $status: $(cat limited.err)" ;;
  esac
  [ ! -e limited.a ] || cmp limited.a whole.a || fail "$kib KiB: half an archive"
  [ -z "$(find . -name 'limited.a?*')" ] || fail "$kib KiB: $(ls)"
done
[ $refused -gt 0 ] && [ $done -gt 0 ] || fail "$refused refused, $done done"

refused=0 done=0
for kib in 20000 60000 100000 200000 400000 1000000 4000000; do
  rm -f limited.gp
  status=0
  (ulimit -v $kib && TMPDIR=$PWD "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o limited.gp 2>limited.err) ||
    status=$?
  case $status in
  0) done=$((done + 1)) && cmp limited.gp busy.gp || fail "popc, $kib KiB: other bytes" ;;
  4 | 127) refused=$((refused + 1)) && [ ! -e limited.gp ] && [ "$(wc -l <limited.err)" -ge 1 ] ||
    fail "popc, $kib KiB: $(cat limited.err)" ;;
  *) fail "popc, $kib KiB: status $status: $(cat limited.err)" ;;
  esac
done
[ $refused -gt 0 ] && [ $done -gt 0 ] || fail "popc: $refused refused, $done done"
# If popc runs but the compiler does not, the message names the limit.
for kib in 60000 100000; do
  status=0
  (ulimit -v $kib && TMPDIR=$PWD "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o limited.gp 2>limited.err) ||
    status=$?
  [ $status = 127 ] && continue
  [ $status = 4 ] && has limited.err "$kib KiB of memory that processes may have here \(ulimit -v\)" ||
    fail "popc, $kib KiB: status $status: $(cat limited.err)"
done
# D06: a limit on file sizes, which hits the compiler's output or popc's.
for blocks in 1 20; do
  rm -f limited.gp
  status=0
  (ulimit -f $blocks && "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o limited.gp 2>limited.err) || status=$?
  [ $status = 4 ] && has limited.err 'ulimit -f|File too large' || fail "popc, ulimit -f $blocks: status $status: $(cat limited.err)"
  [ ! -e limited.gp ] || fail 'popc, ulimit -f: half a file'
done
