# popc under hard conditions: clang is missing, hangs or crashes; sources without an end; signals;
# small limits (S02-S07, S13, S17, C14, C16, D06, D07, T01).
set -u
popc=$POPULUS_BIN/popc
failures=0

fail() {
  echo "FAIL: $*"
  cat err.txt
  failures=$((failures + 1))
}

# expect <status> <text>: checks the command before, which wrote err.txt. No output may be left.
expect() {
  [ $status = "$1" ] || fail "$name ends with $status instead of $1"
  grep -qF -e "$2" err.txt || fail "$name does not say '$2'"
  ! ls ./*.gp* >/dev/null 2>&1 || { fail "$name leaves a file"; rm -f ./*.gp*; }
}

cat >vertex.cpp <<'END'
#include <poplar/Vertex.hpp>
struct V : poplar::Vertex { poplar::Output<int> o; bool compute() { *o = 1; return true; } };
END
"$popc" vertex.cpp -o good 2>err.txt || fail 'the sample does not compile'

fake() {
  printf '#!/bin/sh\n[ "$1" = -dumpversion ] && { echo %s; exit; }\n%s\n' "$2" "$3" >"$1"
  chmod +x "$1"
}

name=S04
POPC_CLANG=$PWD/absent "$popc" vertex.cpp 2>err.txt
status=$?
expect 4 "$PWD/absent"
fake old 14.0.6 :
POPC_CLANG=$PWD/old "$popc" vertex.cpp 2>err.txt
status=$?
expect 4 "version '14.0.6': it must be a clang of version 19"

name=S05
fake crash 19.1.7 'kill -SEGV $$'
mkdir crashes
TMPDIR=$PWD/crashes POPC_CLANG=$PWD/crash "$popc" -DNAME="it's" vertex.cpp 2>err.txt
status=$?
expect 70 'ended by signal 11'
[ "$(wc -l <err.txt)" = 1 ] || fail 'a crash is more than one line'
script=$(sed -n "s/.*; sh \(.*\/run\.sh\) does it again$/\1/p" err.txt)
[ -s "$script" ] || fail 'S05: no script'
# The script repeats the crash from any folder with that clang, and succeeds with another one.
mkdir elsewhere
(cd elsewhere && TMPDIR=$PWD/../crashes POPC=$popc POPC_CLANG=$OLDPWD/crash sh "$script") 2>err.txt
status=$?
expect 70 'ended by signal 11'
(POPC=$popc sh "$script") 2>err.txt || fail 'S05: the script fails where clang does not'

name='S05 behind the preprocessor'
mkdir include
echo '#define VALUE 1' >include/value.h
sed 's/\*o = 1/*o = VALUE/; 1s/^/#include <value.h>\n/' vertex.cpp >included.cpp
fake late 19.1.7 'for word; do [ "$word" = -E ] && exec clang-19 "$@"; done; kill -SEGV $$'
rm -rf crashes/*
TMPDIR=$PWD/crashes POPC_CLANG=$PWD/late "$popc" -Iinclude included.cpp 2>err.txt
status=$?
expect 70 'ended by signal 11'
rm -r include
(POPC=$popc sh crashes/*/run.sh) 2>err.txt || fail 'S05: the script needs a header'

name=S06
fake hang 19.1.7 'exec sleep 1000'
POPC_TIME_LIMIT=1 POPC_CLANG=$PWD/hang "$popc" vertex.cpp 2>err.txt
status=$?
expect 4 'longer than 1 s'

name=S03
echo '#include "/dev/zero"' >zero.c
if [ -z "$POPULUS_SANITIZE" ]; then # a sanitizer's allocator prints its own message
  POPC_MEMORY_LIMIT=600 "$popc" zero.c 2>err.txt
  status=$?
  expect 4 'more than 600 MiB of memory'
fi

name='S03: std::bad_alloc in a source, and in what is said about it'
printf '%s\n' '#include <new>' 'void f() { throw std::bad_alloc(); }' >throws.cpp
"$popc" throws.cpp 2>err.txt
status=$?
expect 1 "cannot use 'throw' with exceptions disabled"
{ echo '#warning bad_alloc'; cat vertex.cpp; } >warns.cpp
"$popc" warns.cpp -o good.warns 2>err.txt || fail "$name: a warning"

name='S07 byte order mark, CR LF'
printf '\357\273\277#include <populus/vertex.h>\r\ntypedef struct { OUTPUT(int) o; } V;\r\nCOMPUTE(V) { *vertex->o = 1; return true; }\r\n' >crlf.c
"$popc" crlf.c -o good.crlf 2>err.txt || fail "$name"

name='a file that includes itself'
cat >twice.c <<'END'
#ifndef ONCE
#define ONCE
#include <populus/vertex.h>
#include __FILE__
typedef struct { OUTPUT(int) o; } V;
COMPUTE(V) { *vertex->o = more; return true; }
#else
enum { more = 3 };
#endif
END
"$popc" twice.c -o good.twice 2>err.txt || fail "$name"

name=C16
fake slow 19.1.7 'echo $$ >>pids; exec sleep 1000'
for signal in INT TERM HUP; do
  rm -f pids
  # A shell starts background jobs with SIGINT ignored.
  env --default-signal=INT POPC_CLANG="$PWD/slow" "$popc" vertex.cpp 2>err.txt &
  child=$!
  while [ ! -e pids ] || [ "$(wc -l <pids)" -lt 2 ]; do sleep 0.05; done
  kill -$signal $child
  wait $child
  status=$?
  [ "$(kill -l $status)" = $signal ] || fail "$name: SIG$signal ends popc with $status"
  sleep 0.1
  # Where no process collects orphans, they stay as zombies (Z). A zombie does nothing.
  while read -r pid; do
    ! grep -q '^State:.[^ZX]' "/proc/$pid/status" 2>/dev/null || fail "$name: the compiler lives on"
  done <pids
  ! ls ./*.gp* >/dev/null 2>&1 || fail "$name leaves a file"
done

# As a daemon may start it. Without the children's statuses a source that does not compile looks as
# if it did.
name='SIGCHLD is ignored at the start'
echo '#include "absent.h"' >absent.c
env --ignore-signal=CHLD "$popc" -E absent.c -o absent.gp.i 2>err.txt
status=$?
expect 1 "'absent.h' file not found"
env --ignore-signal=CHLD "$popc" vertex.cpp -o good.chld 2>err.txt || fail "$name"

name='C14: no TMPDIR, no HOME'
env -u HOME TMPDIR=/nonexistent "$popc" vertex.cpp -o good.again 2>err.txt || fail "$name"
cmp -s good good.again || fail "$name: other bytes"

name='D06: a limit on file sizes'
(ulimit -f 1 && "$popc" vertex.cpp -o small.gp) 2>err.txt
status=$?
expect 4 ''

name='D07: the output that was there stays when a compilation fails'
cp good kept
echo 'int x = y;' >bad.c
"$popc" bad.c -o kept 2>err.txt && fail "$name: it did not fail"
cmp -s good kept || fail "$name"

name='S17: a source that is replaced after it was read'
fake swap 19.1.7 'for last; do :; done; mv other.cpp "$last"; exec clang-19 "$@"'
sed 's/= 1/= undeclared/' vertex.cpp >other.cpp
cp vertex.cpp edited.cpp
! POPC_CLANG=$PWD/swap "$popc" edited.cpp -o good.edited 2>err.txt || cmp -s good good.edited || fail "$name: neither an error nor the old content"

# Half of the processes write one library, the other half another one. The output is always one of
# the two, complete.
name='T01: a hundred at once, one output'
sed 's/= 1/= 2/; s/^struct V/struct Longer/' vertex.cpp | cat vertex.cpp - >other.cpp
"$popc" other.cpp -o good.other 2>err.txt || fail "$name: the other sample"
! cmp -s good good.other || fail "$name: the samples are equal"
mkdir race
ln -s "$PWD/good" race/one.gp
ln -s "$PWD/good.other" race/two.gp
"$popc" race/one.gp -o race/one && "$popc" race/two.gp -o race/two || fail "$name: alone"
race() {
  i=0
  while [ $i -lt 50 ]; do
    for which in one two; do
      { "$popc" race/$which.gp -o race/out 2>>race.txt || echo "exit status $?" >>race.txt; } &
    done
    i=$((i + 1))
  done
  wait
}
race &
racing=$!
# A reader sees one of the two complete outputs at any time.
looks=0
while kill -0 $racing 2>/dev/null || [ $looks = 0 ]; do
  cp race/out seen 2>/dev/null || continue
  looks=$((looks + 1))
  cmp -s seen race/one || cmp -s seen race/two || { fail "$name: look $looks sees neither one's output"; break; }
done
wait
mv race.txt err.txt
[ ! -s err.txt ] || fail "$name"
cmp -s race/out race/one || cmp -s race/out race/two || fail "$name: neither one's output"
[ "$(ls -A race | wc -l)" = 5 ] || fail "$name: something is left: $(ls -A race)"

name='S13: code that no tile can hold'
cat >large.c <<'END'
#include <populus/vertex.h>
typedef struct { OUTPUT(int) o; } Fits;
COMPUTE(Fits) { *vertex->o = 1; return true; }
typedef struct { OUTPUT(int) o; } Large;
COMPUTE(Large)
{
  __asm__(".rept 160000\n nop\n .endr");
  *vertex->o = 1;
  return true;
}
END
"$popc" large.c 2>err.txt
status=$?
expect 1 "large.c:4: vertex 'Large' needs 6400"
expect 1 'a tile of ipu1 has 262144'
# The code is too large for a tile of one IPU version, but fits one of another version.
"$popc" --target ipu2 large.c -o good.large 2>err.txt && fail "$name: ipu2 takes it"
sed -i s/160000/100000/ large.c
"$popc" --target ipu2 large.c -o good.large 2>err.txt || fail "$name: ipu2 has room for it"
"$popc" --target ipu1 large.c 2>err.txt
status=$?
expect 1 "vertex 'Large' needs 4000"
# Two vertices that each fit are no fault, although both together do not fit.
sed '/^typedef.*Large/,$!d; s/Large/More/' large.c >more.c
cat more.c >>large.c
"$popc" --target ipu2 large.c -o good.large 2>err.txt || fail "$name: two, of which a graph may use one"

[ $failures = 0 ]
