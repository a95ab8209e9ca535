# C08: a tool whose output cannot be written does not report success. C09: with closed streams, no
# tool prints into a file that it opens.
set -u
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"a.a"}' quiet out "$POPULUS_BIN/matvec_split" 60 40
cat >vertex.c <<'END'
#include <populus/vertex.h>
typedef struct { OUTPUT(int) out; } One;
COMPUTE(One) { *vertex->out = 1; return true; }
END
quiet out "$POPULUS_BIN/popc" vertex.c -o vertex.gp
cat >m.mlir <<'END'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
END
cp a.a before.a
cp vertex.gp before.gp

# answers <command>...: each lost output ends with exit status 4 and a message. If the reader is
# gone, SIGPIPE is accepted.
answers()
{
  quiet out "$@"
  [ -s out ] || fail "$* prints nothing"
  for target in '>/dev/full' '>&-' '<&- >&-'; do
    status=0
    eval '"$@"' "$target" 2>err || status=$?
    [ $status -eq 4 ] || fail "$* $target exits $status: $(cat err)"
    grep -q 'standard output' err || fail "$* $target does not say what failed: $(cat err)"
  done
  status=0
  "$@" <&- >&- 2>&- || status=$?
  [ $status -eq 4 ] || fail "$* without any stream exits $status"
  { "$@" 2>err; echo $? >status; } | true
  # Status 0 is right if everything was printed before the reader left.
  case $(cat status) in 0 | 4 | 141) ;; *) fail "$* exits $(cat status) when its reader is gone" ;; esac
}
answers "$POPULUS_BIN/popc" --help
answers "$POPULUS_BIN/popc" --version
answers "$POPULUS_BIN/popc" --list-targets
answers "$POPULUS_BIN/popc" --print-clang-flags
answers "$POPULUS_BIN/popc" --print-completion=bash
answers "$POPULUS_BIN/popc" --list-vertices vertex.gp
answers "$POPULUS_BIN/popc" vertex.c -o -
answers "$POPULUS_BIN/popc" -S vertex.c -o -
answers "$POPULUS_BIN/popexec" --help
answers "$POPULUS_BIN/popexec" --version
answers "$POPULUS_BIN/popexec" --list a.a
answers "$POPULUS_BIN/popexec" --memory --list a.a
answers "$POPULUS_BIN/popsize" --help
answers "$POPULUS_BIN/popsize" a.a
answers "$POPULUS_BIN/popsize" --json a.a
answers "$POPULUS_BIN/popview" --help
answers "$POPULUS_BIN/pophlo" --help
answers "$POPULUS_BIN/pophlo" --list m.mlir
answers "$POPULUS_BIN/pophlo" --codelets m.mlir
answers "$POPULUS_BIN/pophlo" --check m.mlir
answers "$POPULUS_BIN/gc-info" --help
answers "$POPULUS_BIN/gc-info" -l
answers "$POPULUS_BIN/gc-info" -i -d 0

cmp -s a.a before.a || fail 'something was written into the archive'
cmp -s vertex.gp before.gp || fail 'something was written into the .gp'
# A tool that has nothing to print needs no standard output.
"$POPULUS_BIN/popc" vertex.c -o vertex.gp <&- >&- 2>&- || fail "popc exits $? without streams"
cmp -s vertex.gp before.gp || fail 'closed streams change the output'
"$POPULUS_BIN/pophlo" m.mlir -o m.a
"$POPULUS_BIN/pophlo" m.mlir -o closed.a <&- >&- 2>&- || fail "pophlo exits $? without streams"
cmp -s m.a closed.a || fail "closed streams change pophlo's output"
# Nor may a file that is opened first, such as the log, get what is printed.
status=0
POPLAR_LOG_LEVEL=INFO POPLAR_LOG_DEST=log.txt "$POPULUS_BIN/pophlo" m.mlir --codelets -o closed.a >&- 2>err || status=$?
[ $status -eq 4 ] || fail "pophlo --codelets exits $status without standard output"
! grep -q COMPUTE log.txt || fail 'pophlo prints into the log'
