# The C++ headers: each compiles by itself, all together do so in every standard with both compilers and without a warning,
# and what is missing says so when a program is compiled.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

cd "$POPULUS_SOURCE_DIR/runtime/include"
headers=$(find pop* pva -name '*.hpp' | sort)
cd "$OLDPWD"
for header in $headers; do
  printf '#include <%s>\n' "$header" >>all.cpp
done
sort -r all.cpp >reverse.cpp # what a header needs and does not include itself is not there yet in one of the orders
cxx g++ -std=c++14 -fsyntax-only reverse.cpp 2>err || fail "in reverse: $(cat err)"
for compiler in $compilers; do
  for standard in c++11 c++17 c++20; do
    cxx "$compiler" -std=$standard -fsyntax-only all.cpp 2>err || fail "$compiler $standard: $(cat err)"
  done
done

cat >missing.cpp <<'END'
#include <poplar/Engine.hpp>
void f(poplar::Graph &graph)
{
  graph.getTarget().getNumConvUnits();
  graph.registerPerfEstimator("V", 0);
  (void)poplar::program::Execute(graph.addComputeSet(), poplar::Tensor());
}
END
for compiler in $compilers; do
  if cxx "$compiler" -std=c++11 -fsyntax-only missing.cpp 2>err; then fail "what is missing compiles"; fi
  has err "Target::getNumConvUnits: Populus' tiles are RV32IMF" 'Graph::registerPerfEstimator is not there yet' \
    'exit codes of vertices are not kept'
done

# A codelet may be compiled with the host's headers on its path.
printf '%s\n' '#include <poplar/TypeTraits.hpp>' '#include <poplar/Vertex.hpp>' 'struct V : poplar::Vertex {' \
  'poplar::Output<int> out;' 'bool compute() { *out = 1; return true; } };' >codelet.cpp
"$POPULUS_BIN/popc" -I "$POPULUS_SOURCE_DIR/runtime/include" codelet.cpp -o codelet.gp
