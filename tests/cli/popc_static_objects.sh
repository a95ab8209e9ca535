# Nothing runs constructors on a tile. A static object whose constructor the optimizer evaluates is
# accepted, whatever warnings are enabled. An object that needs its constructor at run time is an
# error.
# shellcheck disable=SC2086 # options in one variable are words
set -u
popc=$POPULUS_BIN/popc
run=$POPULUS_BUILD_DIR/tests/support/run_vertex
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

cat >known.cpp <<'END_OF_CODELET'
#include <poplar/Vertex.hpp>
struct Range {
  int *data;
  unsigned size;
  Range() : data(nullptr), size(5) {}
};
Range range;
class Static : public poplar::Vertex
{
public:
  poplar::Output<int> out;
  bool compute() { *out = static_cast<int>(range.size++); return true; }
};
END_OF_CODELET
sed 's/size(5)/size(sizeOf())/; s/^struct Range/unsigned sizeOf();\n&/; s/^class/unsigned sizeOf() { volatile unsigned n = 5; return n; }\n&/' \
  known.cpp >unknown.cpp

for flags in '' '-Wall -Werror' '-Wglobal-constructors -Werror --target=ipu2'; do
  "$popc" $flags known.cpp -o known.gp 2>said.txt || fail "known.cpp $flags ends with $?"
  [ ! -s said.txt ] || fail "known.cpp $flags says: $(cat said.txt)"
  [ "$("$run" known.gp Static)" = 'out = 5' ] || fail "known.cpp $flags: $("$run" known.gp Static)"
done
"$popc" -S --target=ipu2 -o known.s known.cpp 2>said.txt && [ ! -s said.txt ] || fail "-S says: $(cat said.txt)"

for flags in '' -O0 -Wno-error; do
  rm -f unknown.gp
  "$popc" $flags unknown.cpp -o unknown.gp 2>said.txt
  [ $? = 1 ] && [ ! -e unknown.gp ] || fail "unknown.cpp $flags compiles"
  grep -q 'unknown.cpp:8:7: error: declaration requires a global constructor \[-Werror,-Wglobal-constructors\]' said.txt ||
    fail "unknown.cpp $flags says: $(cat said.txt)"
  grep -q '^1 error generated\.$' said.txt || fail "unknown.cpp $flags counts: $(cat said.txt)"
done
for flags in -w -Wno-global-constructors; do
  "$popc" $flags unknown.cpp -o unknown.gp 2>said.txt && fail "unknown.cpp $flags compiles"
  [ "$(cat said.txt)" = 'unknown.cpp: error: it has static objects with constructors, which nothing runs on a tile' ] ||
    fail "unknown.cpp $flags says: $(cat said.txt)"
done
"$popc" --target=cpu unknown.cpp -o unknown.gp 2>said.txt && [ ! -s said.txt ] || fail "the host: $(cat said.txt)"

# A program on a tile has no end, so destructors of static objects do not run. The host has no list of them.
sed 's/size(5) {}/size(5) {}\n  ~Range() { size = 0; }/; s/size++);/&static Range last; *out += ++last.size;/' known.cpp >ends.cpp
"$popc" ends.cpp -o ends.gp 2>said.txt && [ ! -s said.txt ] || fail "ends.cpp says: $(cat said.txt)"
[ "$("$run" ends.gp Static)" = 'out = 11' ] || fail "ends.cpp: $("$run" ends.gp Static)"
"$popc" -S --target=cpu -o - ends.cpp | grep -q 'atexit' && fail 'the host keeps a list of destructors'

[ $failures = 0 ]
