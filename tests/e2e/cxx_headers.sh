# The C++ headers: each compiles by itself, all together do so in every standard with both compilers and without a warning,
# and what is missing says so when a program is compiled.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

cd "$POPULUS_SOURCE_DIR/runtime/cxx/include"
headers=$(find pop* pva -name '*.hpp' | sort)
cd "$OLDPWD"
for header in $headers; do
  printf '#include <%s>\n' "$header" >>all.cpp
done
sort -r all.cpp >reverse.cpp # what a header needs and does not include itself is not there yet in one of the orders
cxx g++ -std=c++14 -fsyntax-only reverse.cpp 2>err || fail "in reverse: $(cat err)"
for standard in c++11 c++17 c++20; do
  pids=
  for compiler in $compilers; do # at the same time
    cxx "$compiler" -std=$standard -Wshadow -Wconversion -fsyntax-only all.cpp 2>"err-$compiler" &
    pids="$pids $!"
  done
  for pid in $pids; do wait "$pid" || fail "$standard: $(cat err-*)"; done
done

# What is missing: a use, and the sentence with which it is not compiled.
cat >missing <<'END'
graph.getTarget().getNumConvUnits();|Target::getNumConvUnits: Populus' tiles are RV32IMF
graph.getMaxFieldDim("V", "f", 0);|Graph::getMaxFieldDim is not there yet
graph.addFunctionBuffer(0);|Graph::addFunctionBuffer is not there yet
engine.reportIntervals(0);|Engine::reportIntervals is not there yet
poplar::IPUModel().dataPathWidth = 64;|IPUModel::dataPathWidth: Populus' tiles have no such figure
poplar::Type type = poplar::LONG; (void)type;|poplar::LONG: a long has 32 bits on the device
poplar::program::Loop loop(0);|program::Loop: a run has to end
poplar::compileModule(graph, 0);|compileModule is not there yet
poplar::printProfileSummary(0, 0);|printProfileSummary of values is not there
poplar::DebugInfo("a", "b").setValue("c", 0);|DebugInfo::setValue: nothing would show
poplar::Tensor().getMetadata();|Tensor::getMetadata: quarters of a graph
poplar::program::Execute(graph.addComputeSet(), poplar::Tensor());|exit codes of vertices are not kept
END
{
  printf '%s\n' '#include <poplar/Engine.hpp>' '#include <poplar/IPUModel.hpp>' \
    'void f(poplar::Graph &graph, poplar::Engine &engine)' '{'
  cut -d'|' -f1 missing
  printf '}\n'
} >missing.cpp
for compiler in $compilers; do
  if cxx "$compiler" -std=c++11 -fsyntax-only missing.cpp 2>err; then fail "what is missing compiles"; fi
  cut -d'|' -f2 missing >sentences
  while read -r sentence; do has err "$sentence"; done <sentences
done

# A codelet may be compiled with the host's headers on its path.
printf '%s\n' '#include <poplar/TypeTraits.hpp>' '#include <poplar/Vertex.hpp>' 'struct V : poplar::Vertex {' \
  'poplar::Output<int> out;' 'bool compute() { *out = 1; return true; } };' >codelet.cpp
"$POPULUS_BIN/popc" -I "$POPULUS_SOURCE_DIR/runtime/cxx/include" -I "$POPULUS_SOURCE_DIR/runtime/include" codelet.cpp -o codelet.gp
