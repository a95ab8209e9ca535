# code.json lists the instructions of the vertices as llvm-objdump shows them in the images. Its
# lines are those of the source. The source's text is included, left out on request, or missing with
# a reason. An archive gives the same listing as the compilation.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"
objdump=$(command -v llvm-objdump-19 || command -v "$(llvm-config-19 --bindir)/llvm-objdump") || { echo "no llvm-objdump"; exit 77; }
link "$compiler" c++11 "$POPULUS_SOURCE_DIR/tests/guide/faulted.cpp" faulted -lpoplar || fail "faulted.cpp is not compiled"
mkdir source
# Source lines that are not UTF-8, have a NUL, contain markup, and one that is long.
sed 's|int sum = 0;|int sum = 0; /* \xff </script><img src=x> "quoted" \x00 */|; s|int count = .*|& // '"$(printf '%0900d' 0)"'|' \
  "$POPULUS_SOURCE_DIR/tests/guide/faulted_codelets.cpp" >source/codelets.cpp
quiet out "$POPULUS_BIN/popc" -g -O2 source/codelets.cpp -o codelets.gp

# listed <folder> <option>...: runs the program with these options.
listed()
{
  folder=$1 options='"autoReport.directory":"'$1'"'
  shift
  for option in "$@"; do options="$options,$option"; done
  POPLAR_ENGINE_OPTIONS="{$options}" quiet out ./faulted codelets.gp
}
listed all '"autoReport.all":"true"'
(mkdir images && cd images && ar x ../all/archive.a)
python3 - "$objdump" <<'END'
import json, re, subprocess, sys
code = json.load(open("all/code.json"))
images = {f["tile"] for f in code["functions"]}
known, compared = {}, 0
for tile in images:
    out = subprocess.run([sys.argv[1], "-d", "-z", "--no-show-raw-insn", "--print-imm-hex=false", f"images/tile-{tile:05}.elf"], capture_output=True, text=True).stdout
    for line in out.splitlines():
        m = re.match(r"\s*([0-9a-f]+): \s*(.*)", line)
        if m: known[tile, int(m[1], 16)] = re.sub(r"\s*<[^>]*\+?[^>]*>$", "", m[2].replace("\t", " ")).strip() if "<unknown>" not in m[2] else None
short = [(r"bltz (\w+), ", r"blt \1, zero, "), (r"bgez (\w+), ", r"bge \1, zero, "), (r"blez (\w+), ", r"bge zero, \1, "), (r"bgtz (\w+), ", r"blt zero, \1, "),
         (r"fmv\.s (\w+), (\w+)$", r"fsgnj.s \1, \2, \2"), (r"neg (\w+), ", r"sub \1, zero, "), (r"zext\.b (\w+), (\w+)", r"andi \1, \2, 255")]
for f in code["functions"]:
    assert len(f["instructions"]) == len(f["cycles"]) == f["bytes"] // 4 == sum(f["lines"][0::3]), f["name"]
    for i, text in enumerate(f["instructions"]):
        other = known[f["tile"], f["address"] + 4 * i]
        if other is None:
            assert text.startswith("tile."), text
            continue
        for pattern, by in short: other = re.sub("^" + pattern, by, other)
        plain = re.sub(r"0x[0-9a-f]+", lambda m: str(int(m[0], 16)), text)
        assert plain == re.sub(r"0x[0-9a-f]+", lambda m: str(int(m[0], 16)), other), f"{text} is {other}"
        compared += 1
assert compared > 40, compared
types = {t["name"]: code["functions"][t["function"]] for t in code["vertexTypes"]}
assert set(types) >= {"Step", "Scale"}, types.keys()
# The instruction that faults is of the line that does so; each of an object's lines has its text.
number = next(n for n, f in enumerate(code["files"]) if f["name"].endswith("source/codelets.cpp"))
lines = {first + i: text for first, *texts in code["files"][number]["parts"] for i, text in enumerate(texts)}
def line_of(f, wanted):
    at = 0
    for count, file, line in zip(*[iter(f["lines"])] * 3):
        if any(t.startswith(wanted) for t in f["instructions"][at:at + count]) and file == number: return line
        at += count
assert "nobody may" in lines[line_of(types["Step"], "sw a1, 16(zero)")], lines
hostile = next(t for t in lines.values() if "int sum" in t)
assert '</script><img src=x> "quoted" ?' in hostile and "\ufffd" in hostile, hostile
assert max(len(t) for t in lines.values()) <= 300 and any(t.endswith("...") for t in lines.values())
source = open("source/codelets.cpp", "rb").read().decode("utf-8", "replace").replace("\0", "?").splitlines()
for n, text in lines.items(): assert text == source[n - 1] or text.endswith("..."), n
# Functions that a vertex refers to are there, too.
for f in code["functions"]:
    for at, to in zip(f["calls"][0::2], f["calls"][1::2]): assert at < len(f["instructions"]) and to < len(code["functions"])
END

# Without the text; without the file; without debug information.
listed bare '"autoReport.outputCode":"true"' '"autoReport.includeSources":"false"'
[ "$(ls bare)" = code.json ] || fail "outputCode writes $(ls bare)"
! grep -q 'int sum' bare/code.json || fail "includeSources=false has the source"
has bare/code.json 'autoReport.includeSources'
mv source/codelets.cpp source/away.cpp
listed away '"autoReport.outputCode":"true"'
has away/code.json 'the file could not be read when the report was written'
: >source/codelets.cpp
listed emptied '"autoReport.outputCode":"true"'
has emptied/code.json 'it has no such lines'
# A file whose name is not that of a source is not read, whatever the debug information says.
mv source/away.cpp source/secret
quiet out "$POPULUS_BIN/popc" -g -O2 -x c++ source/secret -o codelets.gp
listed secret '"autoReport.outputCode":"true"'
has secret/code.json 'not that of a C, C\+\+ or assembly source'
! grep -q 'int sum' secret/code.json || fail "what is not called as a source is read"
mv source/secret source/codelets.cpp
quiet out "$POPULUS_BIN/popc" -O2 source/codelets.cpp -o codelets.gp
listed plain '"autoReport.outputCode":"true"'
has plain/code.json '"files":\[\]|"files": *\[ *\]'

# An archive alone, an archive without symbols, and the page without sources.
[ -f "$POPULUS_DATA_DIR/viewer.js" ] || exit 0
in_page() { python3 -c '
import base64, json, re, sys, zlib
text = "".join(re.findall(r"<script type=\"application/octet-stream\"[^>]*>([A-Za-z0-9+/=]*)</script>", open(sys.argv[1], encoding="utf-8").read()))
json.dump(json.loads(zlib.decompress(base64.b64decode(text)))["reports"][0]["code"], open("code.json", "w"), sort_keys=True)' "$1"; }
mv all/code.json kept.json
quiet out "$POPULUS_BIN/popview" all/archive.a -o page.html
in_page page.html
python3 -c '
import json
one, other = json.load(open("kept.json")), json.load(open("code.json"))
assert one["functions"] == other["functions"] and one["vertexTypes"] == other["vertexTypes"]
assert [f["name"] for f in one["files"]] == [f["name"] for f in other["files"]]' || fail "the archive has other code than the compilation"
mv kept.json all/code.json
quiet out "$POPULUS_BIN/popview" --no-source all -o page.html
in_page page.html
! grep -q 'int sum' code.json || fail "--no-source has the source"
has code.json '"missing": "sources were left out'
has code.json 'mulh'
(cd images && for tile in tile-*.elf; do llvm-strip-19 "$tile" 2>/dev/null || strip "$tile"; done && ar rcs ../stripped.a -- *)
quiet out "$POPULUS_BIN/popview" stripped.a -o page.html
in_page page.html
has code.json '"functions": \[\]'
