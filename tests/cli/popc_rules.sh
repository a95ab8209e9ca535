# What a build asks of a compiler besides the output: -M, -MM, -MG, -MJ, --save-temps=obj,
# -fsyntax-only. Options of clang that popc refuses get a message that says what to do instead.
set -eu
popc=$POPULUS_BIN/popc

fail() {
  echo "FAIL: $1"
  exit 1
}

mkdir include "a folder"
echo '#define HALF 2' >include/half.h
cat >"a folder/codelet.cpp" <<'END'
#include <poplar/Vertex.hpp>
#include "half.h"
#ifndef __IPU__
#include "host only.h"
#endif
struct V : poplar::Vertex { poplar::InOut<int> out; bool compute() { *out += HALF; return true; } };
END
echo '#define HOST 1' >'include/host only.h'
source='a folder/codelet.cpp'

"$popc" -MM -Iinclude "$source" >rule.txt
cat >expected.txt <<'END'
codelet.gp: \
  a\ folder/codelet.cpp \
  include/half.h \
  include/host\ only.h
END
diff expected.txt rule.txt || fail -MM
[ ! -e codelet.gp ] || fail '-MM compiles'
"$popc" -M -Iinclude "$source" -o rule.d
grep -q 'poplar/Vertex.hpp' rule.d && grep -q 'include/half.h' rule.d || fail '-M'
"$popc" -M -MF named.d -MT 'x y' -MQ 'p q' -MP -Iinclude "$source"
grep -q '^x y p\\ q:' named.d && grep -qx 'include/half.h:' named.d || fail '-M with -MF, -MT, -MQ, -MP'
# make reads the rule.
printf 'codelet.gp:\n\ttouch $@\ninclude rule.txt\n' >Makefile
make -s -f Makefile codelet.gp || fail 'make does not read the rule'
make -q -f Makefile codelet.gp || fail 'made and not up to date'
touch -d '-1 minute' codelet.gp
! make -q -f Makefile codelet.gp || fail 'up to date behind a newer header'
rm codelet.gp
# The rule lists the same files as -MMD, for all targets.
"$popc" -MMD -MF by-md.d -Iinclude "$source" -o codelet.gp
diff rule.txt by-md.d || fail '-MM and -MMD differ'
# Assembly and .gp files are listed too. Several inputs give one rule.
echo '#include "half.h"' >assembly.S
echo 'nop' >plain.s
"$popc" -MM -Iinclude assembly.S plain.s codelet.gp >rule.txt
tr -d '\\\n' <rule.txt | tr -s ' ' >line.txt
[ "$(cat line.txt)" = 'assembly.gp: assembly.S include/half.h plain.s codelet.gp' ] || fail "several inputs: $(cat line.txt)"

rm 'include/host only.h'
! "$popc" -MM -Iinclude "$source" >rule.txt 2>err.txt || fail 'a missing header'
grep -q 'host only.h' err.txt && [ ! -s rule.txt ] || fail 'which header is missing?'
"$popc" -MM -MG -Iinclude "$source" | grep -q 'host\\ only.h' || fail -MG

# -MJ writes JSON that clang's tools read.
echo '#define HOST 1' >'include/host only.h'
cp "$source" second.cpp
sed -i 's/V :/W :/' second.cpp
"$popc" -MJ entries.json -Iinclude -DNAME='"a b"' "$source" second.cpp -o both.gp
{ echo '['; sed '$s/,$//' entries.json; echo ']'; } >compile_commands.json
python3 - "$PWD" <<'END' || fail 'the entries'
import json, sys
entries = json.load(open('compile_commands.json'))
assert [e['file'] for e in entries] == ['a folder/codelet.cpp', 'second.cpp'], entries
for e in entries:
    assert e['directory'] == sys.argv[1] and e['output'] == 'both.gp'
    assert '-DNAME="a b"' in e['arguments'] and '-D__IPU__=1' in e['arguments']
END
if command -v clang-tidy-19 >/dev/null; then
  clang-tidy-19 -p . --checks='-*,misc-unused-parameters' second.cpp >tidy.txt 2>&1 || fail "clang-tidy: $(cat tidy.txt)"
fi

mkdir out
"$popc" -Iinclude --save-temps=obj second.cpp -o out/x.gp
[ -s out/second-ipu2.s ] && [ -s out/second-ipu2.ii ] && [ -s out/second-cpu.o ] || fail '--save-temps=obj'
[ -z "$(ls second-* 2>/dev/null)" ] || fail '--save-temps=obj in the current folder'
mkdir twins
echo 'int in_c;' >twins/second.c
"$popc" -Iinclude --save-temps=obj out/x.gp second.cpp twins/second.c -o twins/x.gp --target ipu1 2>err.txt || fail 'two of a name'
grep -q 'in_c' twins/second-2-ipu1.s && grep -q 'runCodelet' twins/second-ipu1.s || fail "two of a name: $(ls twins)"
# No two sources have the same files.
echo 'int second_2;' >second-2.c
echo 'int named_stdin;' >twins/stdin.c
echo 'int from_stdin;' >stream.c
"$popc" --save-temps=obj second.cpp twins/second.c second-2.c -x c - twins/stdin.c -x none -Iinclude -o twins/x.gp \
  --target ipu1 <stream.c 2>err.txt || fail "five sources: $(cat err.txt)"
for pair in second-3:in_c second-2:second_2 second:runCodelet stdin:from_stdin stdin-2:named_stdin; do
  grep -q "${pair#*:}" "twins/${pair%:*}-ipu1.s" || fail "$pair: $(ls twins)"
done
# No input is replaced.
mkdir replaced
cp second.cpp replaced
echo 'int in_assembly;' >replaced/in.c
"$popc" -S --target ipu1 replaced/in.c -o replaced/second-ipu1.s
cp replaced/second-ipu1.s kept.s
status=0
(cd replaced && "$popc" --save-temps --target ipu1 -I../include second.cpp second-ipu1.s -o x.gp) 2>err.txt || status=$?
[ $status = 2 ] || fail "--save-temps over an input ends with $status"
grep -qF "would replace the input 'second-ipu1.s'" err.txt && cmp kept.s replaced/second-ipu1.s || fail "$(cat err.txt)"

"$popc" -fsyntax-only -Iinclude second.cpp && [ ! -e second.gp ] || fail -fsyntax-only
"$popc" -fsyntax-only -MMD -MF checked.d -Iinclude second.cpp && [ ! -e second.gp ] || fail '-fsyntax-only -MMD'
"$popc" -MM -Iinclude second.cpp >rule.txt
diff rule.txt checked.d || fail '-fsyntax-only -MMD is another rule'
"$popc" --list-vertices -MMD -MF listed.d -Iinclude second.cpp >list.txt
diff rule.txt listed.d && grep -q ^W: list.txt || fail '--list-vertices -MMD is another rule'
echo 'struct V : poplar::Vertex {};' >bad.cpp
status=0
"$popc" -fsyntax-only bad.cpp 2>err.txt || status=$?
[ $status = 1 ] || fail '-fsyntax-only of a wrong source'

# A .gp for the host alone lists its vertices with the host's sizes.
"$popc" --target=cpu -Iinclude second.cpp -o host.gp
"$popc" --list-vertices host.gp >list.txt
grep -q '^W: worker, second.cpp:6$' list.txt && grep -q '^  state 8 bytes$' list.txt || fail "host: $(cat list.txt)"
"$popc" --list-vertices --json host.gp | python3 -c 'import json, sys
v = json.load(sys.stdin)["vertices"]
assert len(v) == 1 and v[0]["fields"][0]["size"] == 8, v' || fail 'the JSON list of a .gp for the host'

# refused <text> <options>: the message says what to do instead.
refused() {
  text=$1 status=0
  shift
  "$popc" "$@" second.cpp -o refused.gp 2>err.txt || status=$?
  [ $status = 2 ] || fail "$*: ends with $status"
  grep -qF -e "$text" err.txt || fail "$*: not said: $text: $(cat err.txt)"
  [ ! -e refused.gp ] || fail "$*: a file is left"
}
refused 'give sources, or .gp files' -lm
refused 'give sources, or .gp files' -L/usr/lib
refused 'linked when a graph is compiled' -Wl,--gc-sections
refused 'linked when a graph is compiled' -shared
refused 'linked when a graph is compiled' -nostdlib
refused 'chosen by --target' -march=native
refused 'chosen by --target' -m64
refused 'it would load code into the compiler' -fplugin=x.so
refused '-X hands on' -Xclang -ast-dump
refused 'popc merges .gp files' -r
refused 'does not uncompress it' -gz
refused 'a second file would be lost' -gsplit-dwarf
# clang would write beside its output, which is a stream: "-.su" in the current folder.
refused '--list-vertices shows the stacks' -fstack-usage
refused '-Rpass, handed on by -X' -fsave-optimization-record=yaml
refused '-ftime-trace=<file> names the file' -ftime-trace
"$popc" -ftime-trace=times.json -Iinclude "$source" -o times.gp &&
  [ -s times.json ] || fail '-ftime-trace=times.json'
refused 'MultiVertex' -pthread
refused 'headers of its own' -nostdinc
refused '-MD needs -MF where no .gp is made' -fsyntax-only -MD
refused "'-S' and '-M' cannot be had in one call" -S -M
refused '-MG needs -M or -MM' -MG
refused '-MD and -MMD are for compilations' -M -MD
# What JSON cannot say is not left out of the entry.
refused 'is not UTF-8' -MJ x.json -Iinclude -DNAME="$(printf '\351')"
refused '-MJ is for compilations' -MJ x.json -E
