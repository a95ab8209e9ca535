# Messages to C++ programs use C++ names: each C function that the C++ headers call and that a
# message may name has a C++ name in the headers. (CHECK_THROWS of tests/cxx/check.hpp checks that
# no C name is left in the exceptions of the tests.)
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

cxx g++ -std=c++11 "$POPULUS_SOURCE_DIR/tests/cxx/names.cpp" -o names
./names --check 2>err || fail "$(cat err)"

cd "$POPULUS_SOURCE_DIR/runtime"
find cxx/include -name '*.hpp' ! -path '*/detail/Names.hpp' -exec cat {} + >"$OLDPWD/headers"
# Names in string literals, and functions that pass __func__ to the code that reports mistakes.
find graph engine driver device compiler cpu executable events profile poplibs/host -name '*.c' -exec cat {} + |
  awk '/^[a-z].*[ *]pop_[a-z_0-9]*\(/ { own = $0; sub(/\(.*/, "", own); sub(/.*[ *]/, "", own) }
       /__func__/ { print own }
       { line = $0
         while (match(line, /"[^"]*"/)) {
           text = substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH)
           while (match(text, /pop_[a-z_0-9]*/)) { print substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH) }
         } }' | sort -u >"$OLDPWD/said"
cd "$OLDPWD"
grep -ohE '\bpop_[a-z_0-9]+\b' headers | sort -u | comm -12 - said >c_names
[ "$(wc -l <c_names)" -gt 100 ] || fail "only $(wc -l <c_names) names: the search for them is wrong"
./names <c_names >cxx_names
grep -ohE '[A-Za-z_]+' headers | sort -u >identifiers
paste c_names cxx_names | while read -r c cxx; do
  echo "$cxx" | grep -oE '[A-Za-z_]+' | sort -u | comm -23 - identifiers | grep . >unknown || continue
  fail "$c becomes $cxx, and no C++ header has $(cat unknown)"
done
