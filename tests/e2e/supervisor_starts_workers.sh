# A supervisor vertex starts workers itself: one, all, or several times, in C and C++. Forbidden
# operations are faults that name the vertex.
set -eu
codelets=$POPULUS_SOURCE_DIR/tests/codelets
run=$POPULUS_BUILD_DIR/tests/support/run_vertex

fail() {
  echo "FAIL: $1"
  exit 1
}

expect() {
  out=$("$run" "$1" "$2" "${4:--O2}") || fail "$2 does not run"
  [ "$out" = "out = $3" ] || fail "$2: $out"
}

expect "$codelets/workers.c" OneAfterAnother 21
expect "$codelets/workers.c" AllAtOnce 2100
expect "$codelets/workers.cpp" Phases 189
expect "$codelets/workers.c" AllAtOnce 2100 -O0
expect "$codelets/workers.cpp" Phases 189 -O0
for engine in interpreter translator; do
  export POPULUS_TILE_ENGINE=$engine
  expect "$codelets/workers.cpp" Steps 1284
done
unset POPULUS_TILE_ENGINE
expect "$codelets/workers.cpp" Steps 1284 -O0

# If vertices are measured, work lists made by the compiler begin with the place for the cycles. A
# vertex's own work lists do not.
export POPLAR_ENGINE_OPTIONS='{"debug.instrument":"true","debug.computeInstrumentationLevel":"vertex"}'
expect "$codelets/workers.c" AllAtOnce 2100
unset POPLAR_ENGINE_OPTIONS

# faults <vertex> <words>...: the run ends with status 3, and the message has the words.
faults() {
  vertex=$1
  status=0
  "$run" "${source:-$codelets/workers.c}" "$vertex" >out.txt 2>&1 || status=$?
  [ $status = 3 ] || fail "$vertex ends with $status: $(cat out.txt)"
  shift
  for word; do grep -qF -e "$word" out.txt || fail "$vertex: not said: $word: $(cat out.txt)"; done
}
faults Twice INVALID_OPERAND Twice
faults WildWorker INVALID_ADDRESS 'worker 4' WildWorker
source=$codelets/workers.cpp
faults 'Trapped<ipu::PatchedBreakpoint::PBRK1>' TRAP 'value 1' 'worker 3'
faults TrappedSupervisor TRAP 'value 0' supervisor

# A supervisor that starts no workers does not contain the stub.
cat >plain.cpp <<'END'
#include <poplar/Vertex.hpp>
struct Plain : poplar::SupervisorVertex { poplar::Output<int> out; bool compute() { *out = 1; return true; } };
END
"$POPULUS_BIN/popc" plain.cpp
! nm plain.gp | grep populus_worker_stub || fail 'a supervisor that starts no workers keeps the stub'
