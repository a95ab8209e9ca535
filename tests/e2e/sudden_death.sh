# D07, A13: kill -9 at any moment of popc, saveArchive, a write to the cache and the write of a
# report. The final name has the old file or the new one, complete. The next writer removes what
# killed processes left. A cache works after a kill. Each case has POPULUS_TEST_CASES rounds (CI: a
# few); POPULUS_TEST_SEED chooses the moments.
set -u
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
rounds=${POPULUS_TEST_CASES:-6}
busy_graph=$POPULUS_BUILD_DIR/tests/support/busy_graph
export POPULUS_TILE_ENGINE=interpreter
source=$POPULUS_SOURCE_DIR/tests/codelets/busy.c
quiet out "$POPULUS_BIN/popc" -O2 "$source" -o new.gp
quiet out "$POPULUS_BIN/popc" -O0 "$source" -o old.gp
cp new.gp busy.gp
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"new.a"}' quiet whole.out "$busy_graph" busy.gp ipu2 8

# The duration of the command in microseconds: the best of three, because the machine may do other
# work.
microseconds()
{
  best=
  for _ in 1 2 3; do
    start=$(date +%s%N)
    "$@" >/dev/null 2>&1 || fail "$* exits $?"
    took=$((($(date +%s%N) - start) / 1000))
    [ -n "$best" ] && [ "$best" -le $took ] || best=$took
  done
  echo "$best"
}

# kill_often <name> <check> <command>...: runs `check` after each round. timeout(1) runs in the
# foreground, so it kills only the writer and waits for its death. Otherwise timeout would die of
# its own SIGKILL while the writer still holds its locks, and nothing would be removed.
kill_often()
{
  name=$1 check=$2
  shift 2
  whole=$(microseconds "$@") killed=0
  parts=$(awk -v n="$rounds" -v seed="${POPULUS_TEST_SEED:-1}" 'BEGIN { srand(seed); for (i = 0; i < n; i++) print 1 + int(rand() * 1100000) }')
  for part in $parts; do # of a million
    status=0 start=$(date +%s%N) moment=$((part * whole / 1000000))
    timeout --foreground -s KILL "$(printf %d.%06d $((moment / 1000000)) $((moment % 1000000)))" "$@" >/dev/null 2>&1 || status=$?
    took=$((($(date +%s%N) - start) / 1000))
    if [ $status != 0 ]; then killed=$((killed + 1)); elif [ $took -lt "$whole" ]; then whole=$took; fi
    $check
  done
  "$@" >/dev/null 2>&1 || fail "$name: afterwards it exits $?"
  $check
  echo "$name: $rounds rounds, $killed killed"
  [ $killed -gt 0 ] || [ "$rounds" -lt 5 ] || fail "$name: no round was killed"
}
# one_of <file> <whole file>...
one_of()
{
  [ -e "$1" ] || return 0
  found=$1
  shift
  for good; do cmp -s "$found" "$good" && return 0; done
  fail "$found is no whole file: $(ls -l "$found")"
}
swept()
{
  left=$(find "$1" -name '.*.tmp' | wc -l)
  [ "$left" = 0 ] || fail "$left temporary files are left in $1"
}

mkdir popc && cp old.gp popc/out.gp
check_popc() { one_of popc/out.gp old.gp new.gp; }
kill_often popc check_popc "$POPULUS_BIN/popc" -O2 "$source" -o popc/out.gp
cmp popc/out.gp new.gp || fail 'popc: the last one'
swept popc

mkdir archive
check_archive() { one_of archive/out.a new.a; }
kill_often saveArchive check_archive \
  env 'POPLAR_ENGINE_OPTIONS={"target.saveArchive":"archive/out.a"}' "$busy_graph" busy.gp ipu2 8
cmp archive/out.a new.a || fail 'saveArchive: the last one'
swept archive

mkdir cache
check_cache()
{
  for entry in cache/*.a; do
    [ -e "$entry" ] && ! "$POPULUS_BIN/popexec" --list "$entry" >/dev/null 2>err && fail "$entry: $(cat err)"
  done
  # Without this, the next run would only read the entry.
  rm -f cache/*.a
}
kill_often cache check_cache env POPLAR_EXECUTABLE_CACHE_DIR=cache "$busy_graph" busy.gp ipu2 8
quiet out env POPLAR_EXECUTABLE_CACHE_DIR=cache "$busy_graph" busy.gp ipu2 8
cmp out whole.out || fail 'with the cache: another result'
swept cache

check_reports()
{
  # One Python for all of them: starting it takes as long as writing the reports.
  python3 - reports/*.json 2>err <<'END' || fail "$(tail -1 err)"
import json, os, sys

for path in sys.argv[1:]:
    try:
        if os.path.exists(path):
            json.load(open(path))
    except ValueError as error:
        sys.exit(f"{path}: {error}")
END
  [ ! -e reports/archive.a ] || cmp -s reports/archive.a reports.a || fail 'reports/archive.a is half an archive'
}
options='{"autoReport.all":"true","autoReport.directory":"reports","debug.instrument":"true"}'
quiet out env "POPLAR_ENGINE_OPTIONS=$options" "$busy_graph" busy.gp ipu2 8
mv reports/archive.a reports.a
check_reports
kill_often reports check_reports env "POPLAR_ENGINE_OPTIONS=$options" "$busy_graph" busy.gp ipu2 8
swept reports
