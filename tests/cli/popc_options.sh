# popc's command line: which arguments it takes, which it refuses, with what message and exit status
# (C01-C09, C11, C12, C15, S14).
# shellcheck disable=SC2086 # options in one variable are words
set -u
popc=$POPULUS_BIN/popc
failures=0

fail() {
  echo "FAIL: $*"
  cat err.txt
  failures=$((failures + 1))
}

# expect <status> <text in standard error> <argument>...: and popc writes no output.
expect() {
  wanted=$1
  text=$2
  shift 2
  "$popc" "$@" >out.txt 2>err.txt </dev/null
  status=$?
  [ $status = "$wanted" ] || fail "popc $* ends with $status instead of $wanted"
  grep -qF -e "$text" err.txt || fail "popc $* does not say '$text'"
  ! ls ./*.gp* >/dev/null 2>&1 || { fail "popc $* leaves a file"; rm -f ./*.gp*; }
}

cat >vertex.c <<'END'
#include <populus/vertex.h>
#include "limit.h"
typedef struct { OUTPUT(int) out; } V;
COMPUTE(V) { *vertex->out = LIMIT + EXTRA; return true; }
END
mkdir include
echo '#define LIMIT 3' >include/limit.h
flags='-DEXTRA=1 -I include'

# C01: no input
expect 2 'no input files'
expect 2 'usage: popc'
# C02: unknown and misspelt options
expect 2 "unknown option '--hepl'; did you mean '--help'?" --hepl vertex.c
expect 2 "did you mean '-isystem'?" -isysten include vertex.c
expect 2 "unknown option '--frobnicate'" --frobnicate vertex.c
# C03: an option without its value
expect 2 "'-o' needs a value" $flags vertex.c -o
expect 2 "'-D' needs a value" vertex.c -D
# C04: inputs that cannot be read
mkfifo fifo.c
mkdir folder.c
expect 1 "cannot read 'absent.c': No such file" absent.c
expect 1 "'folder.c': it is a folder" folder.c
expect 1 "'fifo.c': it is a pipe" fifo.c
expect 1 "'/dev/zero'" /dev/zero
echo text >notes.txt
expect 2 "'notes.txt' is no input for popc" notes.txt
# C05: output folders that cannot be written to
expect 4 "'absent/x.gp'" $flags vertex.c -o absent/x.gp
expect 4 'Not a directory' $flags vertex.c -o vertex.c/x.gp
mkdir taken
expect 4 "'taken': it is a folder" $flags vertex.c -o taken
# C07: a full disk
expect 4 'No space left on device' $flags vertex.c -o /dev/full
# C90 has no inline. The codelet header works without it.
echo '#include <populus/vertex.h>
#include <populus/workers.h>
typedef struct { OUTPUT(int) out; } V;
COMPUTE(V) { *vertex->out = 1; return true; }' >old.c
for standard in -ansi -std=c90 -std=gnu90; do
  "$popc" -fsyntax-only -Werror $standard old.c 2>err.txt || fail "$standard refuses old.c"
done
# An input that is compiled already.
"$popc" old.c -o old.archive
expect 2 "'old.archive' is compiled already: objdump -d" -S -x gp old.archive
expect 2 "same file as the input 'old.archive': -o names another" -x gp old.archive -o old.archive
# C12: empty names
expect 2 'empty' ''
expect 2 "'-o' has an empty value" $flags vertex.c -o ''
expect 2 "'-D' has an empty value" -D '' vertex.c
# S14: options that would load code into the compiler
for option in -fplugin=x.so -fpass-plugin=x.so -Xclang -Xclang=-load -load -mllvm -mllvm=-x -B/tmp -Wl,-x -Wp,-MD,f -flto; do
  expect 2 'is not for codelets' "$option" vertex.c
done
expect 2 "'-Xclang=-load'" -X -Xclang=-load vertex.c
expect 2 'two output files' $flags vertex.c -o a.gp -o b.gp

# accept <argument>...: status 0 and no message
accept() {
  "$popc" "$@" >out.txt 2>err.txt || fail "popc $* ends with $?"
  [ ! -s err.txt ] && [ ! -s out.txt ] || fail "popc $* says something"
}
accept $flags vertex.c
[ -s vertex.gp ] || fail 'vertex.gp is not the default output'
accept -D EXTRA=1 -Iinclude -O3 -std=c11 -g -Wall -o named.gp vertex.c
[ -s named.gp ] || fail 'no named.gp'
for level in 0 1 2 3 s; do accept $flags -O$level vertex.c; done
accept $flags -UEXTRA -DEXTRA=2 vertex.c -o two.gp
accept -D EXTRA=2 -I include vertex.c -o two.gp
# A warning that both targets give is shown once.
"$popc" $flags -DEXTRA=2 vertex.c -o two.gp 2>err.txt || fail 'a macro defined twice is an error'
[ "$(grep -c 'macro redefined' err.txt)" = 1 ] || fail 'a warning is not shown once'
accept -isystem include -include limit.h -DEXTRA=1 vertex.c
cp vertex.gp before.gp
accept $flags vertex.c
cmp -s vertex.gp before.gp || fail 'the same source gives other bytes'

# C06: the output is the input
cp vertex.gp input.gp
ln -s input.gp link.gp
ln input.gp hard.gp
for output in input.gp link.gp hard.gp; do
  "$popc" input.gp -o $output 2>err.txt
  [ $? = 2 ] || fail "popc overwrites its input through $output"
  grep -q 'same file as the input' err.txt || fail 'does not say why'
done
cmp -s input.gp before.gp || fail 'the input has changed'
# Nor is any other output an input, and two outputs are two files.
one_file() {
  cp vertex.c source.c
  "$popc" "$@" 2>err.txt
  [ $? = 2 ] || fail "popc $* ends with another status than 2"
  cmp -s vertex.c source.c || fail "popc $* overwrites its source"
}
cp vertex.c source.c && ln source.c hard.d
one_file $flags source.c -o x.gp -MD -MF source.c
one_file $flags source.c -o hard.gp -MD
one_file $flags source.c -o x.gp -MJ ./source.c
one_file $flags source.c -M -MF source.c
grep -q 'same file as the input' err.txt || fail 'does not say why'
one_file $flags source.c -o both.d -MD
grep -q "two outputs would be the file 'both.d': -o or -MF" err.txt || fail 'does not say why'
one_file $flags source.c -o both.d -MJ both.d
one_file $flags source.c -o both.d -MJ ./both.d
[ ! -e both.d ] || fail 'there is an output'
accept $flags source.c -o /dev/null -MD -MF /dev/null
# Somebody who may not write into /dev may write to what is there.
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups "$popc" --version >/dev/null 2>&1; then
  setpriv --reuid=65534 --clear-groups "$popc" -x c - -o /dev/null 2>err.txt <old.c || fail '/dev/null for another user'
fi

# C11: unusual names
mkdir 'with space'
for name in 'with space/a b.c' "quote'.c" "$(printf 'new\nline.c')" 'semi;colon.c' "$(printf 'latin\351.c')" '$(dollar).c'; do
  cp vertex.c "$name"
  accept $flags "$name" -o strange.gp
done
cp vertex.c ./-dash.c
accept $flags -o strange.gp -- -dash.c
# C15: an escape sequence in a name does not reach the terminal
"$popc" "$(printf 'bad\033[31m.c')" 2>err.txt
grep -qF 'bad\x1b[31m.c' err.txt || fail 'control characters are not escaped'
# Nor does one in a line that is shown, in the name of a file or in a .gp.
escaped() {
  ! grep -q "$(printf '[\033\233]')" err.txt || fail "$1: control characters are not escaped"
  grep -qF "$2" err.txt || fail "$1: no '$2'"
}
odd=$(printf 'odd\033[31m')
printf '#include <poplar/Vertex.hpp>\nstruct V : poplar::Vertex { poplar::Output<int> o; virtual /*\033[31m\302\233*/ void f(); bool compute(); };\n' >"$odd.cpp"
"$popc" -fno-color-diagnostics "$odd.cpp" -o strange.gp 2>err.txt
escaped "popc's message" 'virtual /*\x1b[31m\xc2\x9b*/ void f()'
escaped "popc's message" 'odd\x1b[31m.cpp:2:77'
[ "$(sed -n '2s/f();.*/^/p' err.txt | wc -c)" = "$(sed -n 3p err.txt | wc -c)" ] || fail 'the caret is at another place'
"$popc" -fcolor-diagnostics "$odd.cpp" -o strange.gp 2>err.txt
grep -qF "$(printf '\033[0;1;31merror: ')" err.txt || fail 'no colour'
grep -qF 'odd\x1b[31m.cpp:2:77' err.txt || fail 'control characters are not escaped in colour'
echo 'int x = y;' >"$odd.c"
"$popc" -fno-color-diagnostics "$odd.c" -o strange.gp 2>err.txt
escaped "clang's message" 'odd\x1b[31m.c:1:9: error'
cp vertex.c "$odd.c"
accept $flags "$odd.c" -o strange.gp
"$popc" --list-vertices strange.gp >err.txt
escaped '--list-vertices' 'odd\x1b[31m.c:'

# --help and --version answer, whatever else is on the command line.
"$popc" --nonsense --version >out.txt 2>err.txt || fail '--version fails'
head -1 out.txt | cut -d ' ' -f3 | grep -Eq '^[0-9]+\.[0-9]+\.[0-9]+' || fail 'field 3 of line 1 is no version'
"$popc" --help >out.txt || fail '--help fails'
for option in -o -D -U -I -g -O -std= -v --help --version; do
  grep -q -e "^  $option" out.txt || fail "--help does not list $option"
done
# C08: standard output cannot be written
"$popc" --help >/dev/full 2>err.txt
[ $? = 4 ] || fail '--help to a full disk is not 4'

# C09: closed standard streams
"$popc" $flags vertex.c -o closed.gp <&- >&- 2>&- || fail 'fails with closed streams'
cmp -s closed.gp before.gp || fail 'closed streams change the output'

[ $failures = 0 ]
