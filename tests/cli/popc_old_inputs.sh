# The elements of inputs are const. Codelets written before that rule still compile: popc falls back
# by itself and prints a note, or does it at once if asked.
set -u
popc=$POPULUS_BIN/popc
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

cat >old.cpp <<'END_OF_CODELET'
#include <poplar/Vertex.hpp>
using namespace poplar;
struct Pair { float first, second; };
static float first(float *row) { return row[0]; }
class Old : public Vertex
{
public:
  Input<Vector<float>> in;
  Input<VectorList<float, VectorListLayout::DELTAN>> rows;
  Output<int> out;
  bool compute()
  {
    float result = in.size() > 1 ? reinterpret_cast<Pair *>(&in[0])->second : 1;
    for (unsigned i = 0; i < rows.size(); ++i) result += first(&rows[i][0]);
    *out = static_cast<int>(result);
    return true;
  }
};
END_OF_CODELET
note='popc: note: old.cpp: its pointers to inputs could write these, as old compilers allowed; compiled with --mutable-inputs instead'

"$popc" old.cpp -o old.gp 2>said.txt || fail "old.cpp ends with $?"
[ "$(cat said.txt)" = "$note" ] || fail "says: $(cat said.txt)"
"$popc" -w old.cpp -o again.gp 2>said.txt && [ ! -s said.txt ] && cmp -s old.gp again.gp || fail "-w says: $(cat said.txt)"
for asked in --mutable-inputs -DPOPULUS_MUTABLE_INPUTS; do
  "$popc" $asked old.cpp -o again.gp 2>said.txt && [ ! -s said.txt ] && cmp -s old.gp again.gp || fail "$asked: $(cat said.txt)"
done
"$popc" --mutable-inputs=never old.cpp -o never.gp 2>said.txt
[ $? = 1 ] && [ ! -e never.gp ] || fail '--mutable-inputs=never compiles'
grep -q "reinterpret_cast from 'const float \*' to 'Pair \*' casts away qualifiers" said.txt || fail "never: $(cat said.txt)"

# A source that also has the chip's assembly gets two notes.
sed 's/return true;/asm("setzi $m0, 1" : : : "$m0"); return true;/; s/^class Old/#ifndef __IPU__\n#define asm(...)\n#endif\n&/' \
  old.cpp >both.cpp
"$popc" both.cpp -o both.gp 2>said.txt || fail "both.cpp: $(cat said.txt)"
[ "$(grep -c '^popc: note: both.cpp: ' said.txt)" = 2 ] && [ "$(wc -l <said.txt)" = 2 ] || fail "both.cpp says: $(cat said.txt)"

# A function that takes a vector accepts an input, as in the documented headers: const or not, and
# of each layout.
cat >vectors.cpp <<'END_OF_CODELET'
#include <poplar/Vertex.hpp>
using namespace poplar;
static float first(Vector<float> &v) { return v[0]; }
static float last(const Vector<float> &v) { return v[v.size() - 1]; }
template <typename T, VectorLayout L> float third(const Vector<T, L> &v) { return v[2]; }
class Sum : public Vertex
{
public:
  Input<Vector<float>> in;
  Input<Vector<float, VectorLayout::ONE_PTR>> more;
  Output<Vector<float>> out;
  bool compute()
  {
    out[0] = first(in) + last(in) + third(in) + third(more);
    out[1] = first(out);
    return true;
  }
};
END_OF_CODELET
"$popc" -Wall -Werror vectors.cpp -o vectors.gp 2>said.txt || fail "vectors.cpp: $(cat said.txt)"
"$popc" -Wall -Werror --mutable-inputs vectors.cpp -o vectors.gp 2>said.txt || fail "vectors.cpp, mutable: $(cat said.txt)"

# A write to an input is an error with and without the fallback.
sed 's/float result = .*/in[0] = 1; float result = 0;/; s/first(&rows/static_cast<float>(rows/; s/\[0\]);/[0]);/' old.cpp >write.cpp
"$popc" write.cpp -o write.gp 2>said.txt && fail 'an input is written'
grep -q 'write.cpp:13:[0-9]*: error: cannot assign to return value' said.txt || fail "write.cpp: $(cat said.txt)"

[ $failures = 0 ]
