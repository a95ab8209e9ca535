# -Wdouble-promotion reports double only. A half that becomes a float is not reported, neither as a
# warning nor as an error. A float that becomes a double is reported and counted in clang's form.
# shellcheck disable=SC2086 # options in one variable are words
set -u
popc=$POPULUS_BIN/popc
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

cat >scale.hpp <<'END_OF_CODELET'
inline float scale(half h)
{
  return h * 2.5f;
}
END_OF_CODELET
cat >half.cpp <<'END_OF_CODELET'
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>
#include "scale.hpp"
using sum_type = float;
template <typename T> class Scale : public poplar::Vertex
{
public:
  poplar::Input<T> in;
  poplar::Output<float> out;
  bool compute()
  {
    T x = *in;
    sum_type sum = x;
    *out = sum + scale(x) + x * 3.0f;
    return true;
  }
};
template class Scale<half>;
END_OF_CODELET
sed 's/3\.0f/3.0/' half.cpp >double.cpp

# Halves only: popc prints nothing and succeeds, whether the warning is on or an error.
for flags in -Wdouble-promotion '-Wdouble-promotion -Werror' -Werror=double-promotion '-Wdouble-promotion -Werror -O0 -g'; do
  "$popc" $flags half.cpp -o half.gp >said.txt 2>&1 || fail "$flags ends with $?"
  [ ! -s said.txt ] || fail "$flags says: $(cat said.txt)"
done
CLICOLOR_FORCE=1 "$popc" -Wdouble-promotion half.cpp -o half.gp >said.txt 2>&1
[ ! -s said.txt ] || fail "in colours: $(cat said.txt)"

# Other warnings stay, and their number is right.
sed 's/T x = /int unused; T x = /' half.cpp >unused.cpp
"$popc" -Wall -Wdouble-promotion unused.cpp -o unused.gp --target ipu2 2>said.txt || fail unused.cpp
grep -q "unused.cpp:12:9: warning: unused variable 'unused'" said.txt || fail "unused: $(cat said.txt)"
grep -q '^1 warning generated\.$' said.txt || fail "unused is counted: $(tail -1 said.txt)"
grep -q promot said.txt && fail "unused: $(cat said.txt)"

# A double is reported as a warning, or as an error where the options say so.
real="double.cpp:14:16: warning: implicit conversion increases floating-point precision: 'float' to 'double' [-Wdouble-promotion]"
"$popc" -Wdouble-promotion double.cpp -o double.gp --target ipu2 2>said.txt || fail "double.cpp ends with $?"
grep -qF "$real" said.txt || fail "double.cpp: $(cat said.txt)"
grep -q "to 'float'" said.txt && fail "double.cpp: $(cat said.txt)"
as_error=$(echo "$real" | sed 's/warning:/error:/; s/\[-W/[-Werror,-W/')
for flags in '-Wdouble-promotion -Werror' '-Werror=double-promotion' '-Wno-error -Werror=double-promotion'; do
  rm -f double.gp
  "$popc" $flags double.cpp -o double.gp --target ipu2 2>said.txt
  [ $? = 1 ] && [ ! -e double.gp ] || fail "$flags compiles"
  grep -qF "$as_error" said.txt || fail "$flags: $(cat said.txt)"
  grep -q '^[0-9]* errors\? generated\.$' said.txt || fail "$flags counts: $(tail -1 said.txt)"
  [ "$(sed -n 's/^\([0-9]*\) error.*/\1/p' said.txt)" = "$(grep -c ': error: ' said.txt)" ] || fail "$flags: $(cat said.txt)"
done
for flags in '-Werror -Wdouble-promotion -Wno-error=double-promotion' '-Werror -Wno-error -Wdouble-promotion'; do
  "$popc" $flags double.cpp -o double.gp --target ipu2 2>said.txt || fail "$flags ends with $?"
  grep -qF "$real" said.txt || fail "$flags: $(cat said.txt)"
done
"$popc" -Werror=double-promotion -fcolor-diagnostics double.cpp -o double.gp --target ipu2 2>said.txt
grep -q "$(printf '31m')error: " said.txt && ! grep -q 'warning: ' said.txt || fail "in colours: $(cat said.txt)"

[ $failures = 0 ]
