# popc behaves like other compilers: outputs between source and object, dependencies, standard input
# and output, argument files (C10), colours (O06), SOURCE_DATE_EPOCH (C13), and the same bytes from
# any folder.
set -u
popc=$POPULUS_BIN/popc
failures=0
unset NO_COLOR CLICOLOR CLICOLOR_FORCE SOURCE_DATE_EPOCH
: >err.txt

fail() {
  echo "FAIL: $*"
  cat err.txt
  failures=$((failures + 1))
}

run() {
  "$popc" "$@" >out.txt 2>err.txt || fail "popc $* ends with $?"
}

# says <pattern>: popc printed the pattern.
says() {
  grep -q -e "$1" out.txt || { fail "no '$1'"; cat out.txt; }
}

# refused <status> <text> <argument>...
refused() {
  wanted=$1
  text=$2
  shift 2
  "$popc" "$@" >out.txt 2>err.txt
  status=$?
  [ $status = "$wanted" ] || fail "popc $* ends with $status instead of $wanted"
  grep -qF -e "$text" err.txt || fail "popc $* does not say '$text'"
}

mkdir include
cat >v.cpp <<'END_'
#include <poplar/Vertex.hpp>
#include "value.h"
struct V : poplar::Vertex {
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<int> out;
  bool compute() { *out = VALUE; return true; } // remark
};
END_
echo '#define VALUE 3' >include/value.h
cat >v.c <<'END_'
#include <populus/vertex.h>
typedef struct { OUTPUT(int) out; } V;
COMPUTE(V) { *vertex->out = 3; return true; }
END_

# Outputs between source and object.
run -E -Iinclude v.cpp
says 'out = 3;'
run -E -P -C -Iinclude v.cpp
says '// remark'
! grep -q '^# ' out.txt || fail '-P leaves line markers'
run -S -Iinclude v.cpp && grep -q '^__runCodelet_V:' v.s || fail '-S'
run -S -Iinclude v.cpp -o - --target cpu
says 'x86\|aarch64\|%rdi\|x0'
run -emit-llvm -Iinclude v.cpp -o - && says '^define .*@__runCodelet_V'
run -S -emit-llvm -Iinclude v.cpp -o v.ll --target ipu2 && grep -q '^target triple = "riscv32' v.ll || fail '-S -emit-llvm'
run -c --emit-llvm -Iinclude v.cpp -o v.bc && [ "$(head -c2 v.bc)" = BC ] || fail 'bitcode'
refused 2 "'-E' and '-S'" -E -S v.cpp
refused 2 'one source at a time' -E v.cpp v.c
# popc takes these outputs as inputs again.
run -Iinclude v.cpp -o v.gp --target ipu2
for file in v.ll v.bc v.s; do
  run $file --target ipu2 -o back.gp
  nm back.gp | grep -q ' [TW] __runCodelet_V$' || fail "$file does not come back"
  run --list-vertices back.gp
done
# Preprocessed C annotates the fields; compiled C must not. Each annotated access would become an
# intrinsic call, which blocks loop-invariant code motion.
run -E v.c -o v.i
run -x c v.i --target ipu2 -o back.gp
run --list-vertices back.gp
says 'out'
for target in ipu2 cpu; do
  run -E -P -Iinclude v.cpp --target $target -o v.ii
  run -x c++ v.ii --target $target -o back.gp
done
run -emit-llvm v.c -o - && says '^define .*@__runCodelet_V'
! grep -q 'annotation' out.txt || fail 'fields are annotated in code'
printf '  bogus\n' >wrong.s
refused 1 'wrong.s:1:3: error: unrecognized instruction' wrong.s
cp wrong.s wrong.S
refused 1 'wrong.S:1:3: error: unrecognized instruction' wrong.S
echo 'not IR' >wrong.ll
refused 1 'expected top-level entity' wrong.ll

# -###, -v and --save-temps
run '-###' -Iinclude v.cpp -o never.gp
[ ! -e never.gp ] && [ "$(grep -c -- "'v.cpp'" err.txt)" = 2 ] || fail '-### runs something, or does not show it'
# The commands that -### shows can be run.
head -1 err.txt | sed "s/$/ '-o' 'shown.o'/" | sh 2>sherr.txt && [ -s shown.o ] || fail 'what -### shows cannot be run'
run -v -Iinclude v.cpp -o shown.gp
[ "$(grep -c -- "'v.cpp'" err.txt)" = 2 ] && [ -s shown.gp ] || fail '-v'
run --save-temps -Iinclude v.cpp -o temps.gp
for file in v-ipu2.ii v-ipu2.s v-ipu2.o v-cpu.ii v-cpu.s v-cpu.o; do [ -s $file ] || fail "no $file"; done

# Dependencies: one rule for any number of targets.
run -MD -Iinclude v.cpp -o out.gp
grep -q '^out.gp: ' out.d && grep -q 'include/value.h' out.d && grep -q 'poplar/Vertex.hpp' out.d || fail '-MD'
[ "$(grep -c 'value.h' out.d)" = 1 ] && [ "$(grep -c '^[^ ].*:' out.d)" = 1 ] || fail 'a header twice, or two rules'
run -MMD -MP -MF deps -MT 'a$x' -MQ 'c d' -Iinclude v.cpp -o out.gp
head -1 deps | grep -qF 'a$x c\ d:' || fail '-MT and -MQ'
! grep -q Vertex.hpp deps || fail '-MMD lists system headers'
grep -qx 'include/value.h:' deps || fail '-MP'
cp v.cpp 'blank name.cpp'
run -MMD -MF - -Iinclude 'blank name.cpp' -o out.gp && says 'blank\\ name.cpp'
# clang writes '/' for a backslash.
mkdir -p 'a\b' && cp v.cpp 'a\b/c\ d.cpp' && cp include/value.h 'a\b/value.h'
cat >expected.d <<'END_'
NAME: \
  a\b/c\\\ d.cpp \
  a\b/value.h
END_
for rule in '-MMD -MF slashes.d' '-MM -MF slashes.d'; do
  run $rule -o out.gp 'a\b/c\ d.cpp'
  sed '1s/.*:/NAME:/' slashes.d | cmp - expected.d || fail "$rule: backslashes: $(cat slashes.d)"
done
make -s -f slashes.d -n >make.txt 2>&1 || grep -q 'Nothing to be done' make.txt || fail "make: $(cat make.txt)"
run -MD -MF gp.d out.gp -o copy.gp && grep -q 'copy.gp:.*' gp.d && grep -q ' out.gp$' gp.d || fail '.gp inputs are no dependencies'
# So are those whose names clang does not hear.
for file in v.ll v.s; do
  run -MD -MF stream.d $file --target ipu2 -o copy.gp && grep -qx "  $file" stream.d || fail "$file is no dependency"
done
refused 2 'need -MD' -MF x v.c
refused 2 'needs -MF' -MD v.c -o -

# Standard input and output.
run -x c - -o in.gp <v.c
run --list-vertices in.gp && says '^V: worker, <stdin>:2'
"$popc" -x c - <v.c >piped.gp 2>err.txt && cmp -s in.gp piped.gp || fail 'standard output'
refused 2 '-x c' - <v.c
refused 2 'name its file' -x gp - -o copy.gp <v.gp
refused 2 'standard input can be an input only once' -x c - - -o twice.gp <v.c
echo 'int x = ;' >wrong.c
"$popc" -x c - <wrong.c 2>err.txt
grep -q '^<stdin>:1:9: error' err.txt || fail 'a mistake in standard input has no place'
sed "s,V,W,g" v.c >codelet.txt
run -x c codelet.txt -o named.gp
run -x c codelet.txt -x none v.cpp -Iinclude --target cpu -o named.gp
refused 2 'no language' -x fortran v.c
"$popc" v.c -o - >/dev/full 2>err.txt
[ $? = 4 ] || fail 'standard output on a full disk is not 4'

# C10: argument files
printf '%s\n' "v.c -o 'at file.gp'" '-DX="a b" -DY=\"' >args
run @args && [ -s 'at file.gp' ] || fail '@file'
echo '@args' >outer && run @outer
cat >lines <<'END_'
\
v.c \
  -o jo\
ined.gp
END_
run @lines && [ -s joined.gp ] || fail 'lines that go on'
echo '@self' >self
refused 2 'more than 10 deep' @self
refused 2 "cannot read 'absent'" @absent
printf 'v.c\0' >nul
refused 2 'NUL' @nul
refused 2 'folder' @include
truncate -s 100M large
refused 2 "'@large'" @large
# Memory for a large one is not that for each of its arguments once more. (The address sanitizer
# reserves more than any limit.)
seq 1 100000 | sed 's/^/-DA/' >many
limit=1000000
[ -z "$POPULUS_SANITIZE" ] || limit=unlimited
(ulimit -v $limit && exec "$popc" @many --list-targets) >out.txt 2>err.txt || fail 'a file of many arguments'

# -X hands on options; some options go to tiles only; some are refused.
run -X -ffast-math -X -Wno-override-module -X -Qunused-arguments v.c -o x.gp
run '-###' -X -ffast-math -mno-relax v.c
grep -q "riscv32.*'-ffast-math'.*" err.txt && [ "$(grep -c "mno-relax'.*mno-relax" err.txt)" = 1 ] || fail '-X or -m'
refused 2 "'-load'" -X -load v.c
refused 2 "'plugin.so'" -X plugin.so v.c
refused 2 "'-o'" -X -o v.c
refused 2 'no level' -O7 v.c

# O06: colours by option, NO_COLOR, CLICOLOR_FORCE and CLICOLOR
coloured() {
  env "$@" "$popc" $option wrong.c 2>err.txt
  grep -q "$(printf '\033')" err.txt
}
option=
! coloured A=1 || fail 'colours without a terminal'
coloured CLICOLOR_FORCE=1 || fail 'CLICOLOR_FORCE'
! coloured CLICOLOR_FORCE=0 || fail 'CLICOLOR_FORCE=0'
! coloured CLICOLOR_FORCE=1 NO_COLOR=1 || fail 'NO_COLOR does not win'
coloured CLICOLOR_FORCE=1 NO_COLOR= || fail 'an empty NO_COLOR wins'
for option in -fcolor-diagnostics -fdiagnostics-color -fdiagnostics-color=always; do
  coloured NO_COLOR=1 || fail "$option"
done
for option in -fno-color-diagnostics -fno-diagnostics-color -fdiagnostics-color=never; do
  ! coloured CLICOLOR_FORCE=1 || fail "$option"
done
option=-fdiagnostics-color=auto
! coloured A=1 || fail "$option"
refused 2 'auto, always or never' -fdiagnostics-color=often v.c

# C13
for date in x -1 1.5 18446744073709551616 ''; do
  SOURCE_DATE_EPOCH=$date "$popc" v.c -o d.gp 2>err.txt
  [ $? = 2 ] || fail "SOURCE_DATE_EPOCH='$date' is accepted"
done
echo 'const char date[] = __DATE__;' >date.c
SOURCE_DATE_EPOCH=86400 "$popc" date.c -o d.gp 2>err.txt || fail 'SOURCE_DATE_EPOCH'
strings d.gp | grep -q 'Jan  2 1970' || fail 'SOURCE_DATE_EPOCH is not the date'

# The bytes are the same whatever folder popc runs in. With a prefix map, they do not depend on the
# source's folder either.
mkdir -p a/deep/er b
for folder in a/deep/er b; do
  cp -r v.cpp include $folder
  (cd $folder && "$popc" -g -Iinclude v.cpp -o out.gp) 2>err.txt || fail "in $folder"
  "$popc" -g "-I$PWD/$folder/include" "$PWD/$folder/v.cpp" "-ffile-prefix-map=$PWD/$folder=/src" -o "mapped-$(basename $folder).gp" \
    2>err.txt || fail "from outside, $folder"
done
cmp a/deep/er/out.gp b/out.gp || fail 'other bytes in another folder'
cmp mapped-er.gp mapped-b.gp || fail 'other bytes from another folder with a map'
! strings b/out.gp mapped-b.gp | grep -qF -e "$PWD" -e "$POPULUS_BUILD_DIR" || fail 'a path of this machine in the output'

# --list-vertices
run --list-vertices -Iinclude v.cpp
says '^V: worker, v.cpp:3$'
says '^  state 12 bytes; code ipu1 [0-9]*, ipu2 [0-9]*, ipu21 [0-9]* bytes'
says '^    in  *input  *span  *float  *0  *8$'
[ ! -e V.gp ] || fail '--list-vertices writes'
mv out.txt listed.txt
run --list-vertices -Iinclude v.cpp -o list.txt
cmp -s listed.txt list.txt && [ ! -s out.txt ] || fail '--list-vertices with -o'
run --list-vertices --json v.gp
python3 -c 'import json, sys
table = json.load(open("out.txt"))
vertex = table["vertices"][0]
assert vertex["name"] == "V" and vertex["code_bytes"]["ipu2"] > 0, vertex
assert [f["name"] for f in vertex["fields"]] == ["in", "out"]' 2>err.txt || fail '--json'
[ "$(wc -l <out.txt)" = 1 ] || fail '--json is not on one line'
mv out.txt line.json
run --list-vertices --pretty v.gp
python3 -c 'import json
assert json.load(open("out.txt")) == json.load(open("line.json"))' && [ "$(wc -l <out.txt)" -gt 10 ] || fail '--pretty'
refused 2 'for --list-vertices' --json v.c
refused 2 'for --list-vertices' --pretty v.c
# Fields that are addressed from the base of tile memory: only the graph compiler knows that base.
printf '%s\n' '#include <poplar/Vertex.hpp>' 'using namespace poplar;' \
  'struct Rows : Vertex { Input<VectorList<float, VectorListLayout::DELTAN>> in; Output<float> out;' \
  '  bool compute() { *out = in[0][0]; return true; } };' >rows.cpp
run --list-vertices rows.cpp
says 'code ipu1 [0-9]*, ipu2 [0-9]*, ipu21 [0-9]* bytes'

# The printed flags are what clangd needs to read a codelet.
run --print-clang-flags -Iinclude
cp out.txt compile_flags.txt
clang=$("$popc" '-###' v.c 2>&1 | sed "s/^ '\([^']*\)'.*/\1/; q")
xargs -d '\n' "$clang" -fsyntax-only v.cpp <compile_flags.txt 2>err.txt || fail '--print-clang-flags'
run --print-clang-flags -x c && says '^-std=gnu17$'
run --print-clang-flags -x c v.cpp && says '^-std=gnu17$'
run --print-clang-flags -x c++ v.c && says '^-std=c++17$'

[ $failures = 0 ]
