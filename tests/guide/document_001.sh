# Document 001 from its beginning to its end: each listing and each command line, with what the document prints beside what is
# printed here. runtime/GUIDE.md says section by section what differs, and why.
set -eu
. "$POPULUS_SOURCE_DIR/tests/guide/document.sh"
PATH=$POPULUS_BIN:$PATH

section "Device code"
cat >codelets.cpp <<'END'
#include <poplar/Vertex.hpp>

using namespace poplar;

class AdderVertex : public Vertex {
public:
  Input<float> x;
  Input<float> y;
  Output<float> sum;

  bool compute() {
    *sum = x + y;
    return true;
  }
};
#ifndef __POPC__
#error "__POPC__ is defined when code is compiled by the codelet compiler"
#endif
#ifdef __IPU__
WITH(tile)
#else
WITH(host)
#endif
END

section "Pre-compiling codelets"
line 'popc -D"WITH(x)=static int x;" codelets.cpp -o codelets.gp'
[ "$(ar t codelets.gp | grep -c -e '^tile' -e '^host')" = 2 ] || fail "not for the IPU and the host: $(ar t codelets.gp)"
line 'popc -D"WITH(x)=" -I. -g -O3 codelets.cpp -o codelets.gp'
line 'popc --help'
has out '^ *-D *<macro>|^ *-D' '^ *-I' '^ *-g' '^ *-O'

section "Using the Poplar library"
cat >my-program.cpp <<'END'
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Engine.hpp>
#include <include/popops/ElementWise.hpp>
#include <poplar/IPUModel.hpp>

using namespace poplar;

int main() {
  IPUModel ipuModel;
  ipuModel.numIPUs = 8;
  ipuModel.tilesPerIPU = 2;
  Target target = ipuModel.createDevice().getTarget();
  // Replicating an existing graph
  Graph g = Graph(target);
  Graph rg = g.createReplicatedGraph(4);
  Tensor t = rg.addVariable(FLOAT, {3}, "t");
  if (g.getNonReplicatedTensor(t).shape() != std::vector<std::size_t>{4, 3}) return 1;
  if (rg.getTarget().getNumIPUs() != 2) return 2;
  // Creating a replicated graph
  Graph top = Graph(target, replication_factor(4));
  if (top.getReplicationFactor() != 4 || top.getTarget().getNumIPUs() != 2) return 3;
  // "Any functions that rely on the existence of a parent … will fail."
  try {
    top.getNonReplicatedTensor(top.addVariable(FLOAT, {3}, "t"));
    return 4;
  } catch (const poplar_error &) {
  }
  // The types of the device.
  for (Type type : {INT, SHORT, CHAR, FLOAT, HALF, BOOL})
    if (target.getTypeSize(type) > 4) return 5;
  if (target.getTypeSize(BOOL) != 1 || target.getTypeSize(HALF) != 2) return 6;
  return 0;
}
END
line 'g++ -std=c++11 my-program.cpp -lpoplar -lpopops -o my-program'
line './my-program'

section "Tutorials"
cp "$POPULUS_SOURCE_DIR/tests/guide/tutorials.cpp" .
line 'g++ --std=c++11 tutorials.cpp -lpoplar -lpoplin -lpopops -o tutorials'

section "Tutorial 1: programs and variables"
line './tutorials 1 1'
sample err 'v1-debug: {0,0,0,0}'
sample out 'Running program' 'Program complete'
line './tutorials 1 2'
sample err 'v1-debug: {1,1.5,2,2.5}'
line './tutorials 1 3'
sample err 'v1-debug: {1,1.5,2,2.5}' 'v2-debug: {1,1.5,2,2.5}'
line './tutorials 1 4'
sample out 'Running program' 'Program complete' '' 'h3 data:' '  0 0 0 0 ' '  0 0 0 0 ' '  0 0 0 0 ' '  0 0 0 0 '
line './tutorials 1 5' # the sample's last line has lost its last zero
sample out 'Running program' 'Program complete' '' 'h3 data:' '  0 0 0 0 ' '  0 1 1.5 2 ' '  0 0 0 0 ' '  0 0 0 0 '
line './tutorials 1 6'
sample err 'v1-debug: {1,1.5,2,2.5}' 'v2-debug: {1,1.5,2,2.5}' 'v4-0: {0,1,2,3,4,5,6,7,8,9}' \
  'v4-1: {10,11,12,13,14,15,16,17,18,19}'
line './tutorials 1 6 hardware'
sample err 'Trying to attach to IPU 0' 'Attached to IPU 0' 'v1-debug: {1,1.5,2,2.5}' 'v2-debug: {1,1.5,2,2.5}' \
  'v4-0: {0,1,2,3,4,5,6,7,8,9}' 'v4-1: {10,11,12,13,14,15,16,17,18,19}'

section "Tutorial 2: using Poplibs"
line './tutorials 2'
sample err 'v3: {' ' {5,4.5},' ' {4,3.5}' '}' 'v4: {' ' {6,6},' ' {6,6}' '}' 'v5: {' ' {5,5},' ' {3.5,3.5}' '}'

section "Tutorial 3: writing vertex code"
cat >tut3_codelets.cpp <<'END'
#include <poplar/Vertex.hpp>

class SumVertex : public poplar::Vertex {
public:
  // Fields
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<float> out;

  // Compute function
  bool compute() {
    *out = 0;
    for (const auto &v : in) {
      *out += v;
    }
    return true;
  }
};
END
line './tutorials 3 tut3_codelets.cpp'
sample err 'v2: {7,6,4.5,2.5}'
line 'popc tut3_codelets.cpp -o tut3_codelets.gp'
line './tutorials 3 tut3_codelets.gp'
sample err 'v2: {7,6,4.5,2.5}'

section "Tutorial 4: profiling output; Profile summary output"
line './tutorials 4'
has out '^            Stack: '
if grep -qE 'Code: |Code  ' out; then fail "code is in the memory of a model that does not compile it"; fi
line './tutorials 4 compileIPUCode'
# The lines of the sample, in its order, with other numbers.
in_order out '^Target:' '^  Number of IPUs:         1$' '^  Tiles per IPU:          1,216$' '^  Total Tiles:            1,216$' \
  '^  Memory Per-Tile:        256.0 kB$' '^  Total Memory:           304.0 MB$' '^  Clock Speed \(approx\):   1,600.0 MHz$' \
  '^  Number of Replicas:     1$' '^  IPUs per Replica:       1$' '^  Tiles per Replica:      1,216$' \
  '^  Memory per Replica:     304.0 MB$' '^Graph:' '^  Number of vertices:  ' '^  Number of edges:  ' \
  '^  Number of variables:  ' '^  Number of compute sets:  ' '^Memory on all IPUs:' '^Memory Usage:' '^  Total:' \
  '^    Including Gaps:  ' '^    Excluding Gaps:' '^      By Memory Region:' '^        Non-interleaved: ' \
  '^        Interleaved: ' '^        Overflowed:                  0 B$' '^      Total: ' '^      By Data Type:' \
  '^        Not Overlapped' '^            Variables: ' '^            Internal Exchange Message Buffers: ' \
  '^            Stack: ' '^            Vertex Instances: ' '^            Control Code: ' '^            Vertex Code: ' \
  '^            Internal Exchange Code: ' '^          Total: ' '^        Overlapped' '^          Total: ' \
  '^          Total After Overlapping: ' '^      Vertex Data \([0-9,]+B\):' '^        By Category:' \
  '^          Internal vertex state: ' '^          Edge pointers: ' '^          Copy pointers: ' '^          Padding: ' \
  '^          Descriptors: ' '^        By Type:' '^          poplin::MatMul.* B$' '^  By Tile \(Excluding Gaps\):' \
  '^    Range \(KB\) Histogram \(Excluding Gaps\)               Count \(tiles\)$' \
  '^ *[0-9]+ - +[0-9]+ \*\*\*\*\*\*' '^    Maximum \(Including Gaps\): [0-9,]+ \([0-9.]+ K\) on tile [0-9]+$' \
  '^    Maximum \(Excluding Gaps\): [0-9,]+ \([0-9.]+ K\) on tile [0-9]+$' '^    0 tile\(s\) out of memory$' \
  '^  Variable Storage Liveness: All tiles$' '^    Always-live bytes: ' '^    Always-live variables:$' \
  '^      controlCode  ' '^      stack  ' '^      vertexCode  ' '^    Maximum live bytes \(including always-live\): ' \
  '^    Sequence' 'DoExchange: m4/ExchangePre$' 'Live Bytes \(excluding always-live\): ' 'Live Vars \(excluding always-live\):' \
  '^Execution:' '^  Total cycles: +[0-9,]+ \(approx [0-9.]+ microseconds\)$' \
  '^  Total compute cycles \(including idle threads\): [1-9][0-9,]*$' \
  '^  Total compute cycles \(excluding idle threads\): [1-9][0-9,]*$' '^  Total IPU exchange cycles: +[1-9]' \
  '^  Total global exchange cycles: +0$' '^  Total host exchange cycles: ' '^  Total shared structure copy cycles: +0$' \
  '^  Total sync cycles: +[1-9]' '^  Total tile balance: +[0-9.]+%$' '^  Total thread balance: +[0-9.]+%$' \
  '^  Cycles by vertex type:$' '^    poplin::MatMulBlock<float,float,[0-9],[0-9],[a-z]+,[a-z]+> +\([0-9]+ instances\): +[1-9][0-9,]*$' '^Steps$' \
  '^  --- Internal Sync ---$' '^  DoExchange \(cycles [0-9,]+ - [0-9,]+\): m4/ExchangePre$' \
  '^    Cycles: +[0-9,]+ \([0-9,]+ overlapped with previous\)$' '^    Active Tiles: +[0-9,]+ / 1,216$' '^    Tile Balance: ' \
  '^    Active Tile Balance: ' '^    Total Data: ' '^    Data Balance \(mean / max data per tile\): ' \
  '^  OnTileExecute \(cycles [0-9,]+ - [0-9,]+\): m4$' '^    Cycles: ' '^    Thread Balance: ' '^    By vertex type:$' \
  '^      poplin::MatMulBlock<float,float,[0-9],[0-9],[a-z]+,[a-z]+> +\([0-9]+ instances\): '

section "Tutorial 6: matrix-vector multiplication"
line "matvec 40 50"
has out '^Multiplication result OK$'

section "Tutorial 7: matrix-vector multiplication optimisation" # the costs are on one line here
cat >matrix-mul-codelets.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;
class DotProductVertex : public Vertex {
public:
  Input<Vector<float>> a;
  Input<Vector<float>> b;
  Output<float> out;
  bool compute() {
    float sum = 0;
    for (unsigned i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    *out = sum;
    return true;
  }
};
class ReduceVertex : public Vertex {
public:
  Input<Vector<float>> in;
  Output<float> out;
  bool compute() {
    float sum = 0;
    for (float v : in) sum += v;
    *out = sum;
    return true;
  }
};
END
line './tutorials 7 matrix-mul-codelets.cpp'
sample out 'Multiplication result OK'
line 'matvec_split --device ipumodel --target ipu1 10000 1000'
in_order out '^Multiplying matrix of size 10000x1000 by vector of size 1000$' '^Constructing compute graph and control program$' \
  '^Best split chosen:$' \
  '^colsAxisSplit=5, total cost=4751 \(compute cost=4410, exchange cost=200, reduce exchange cost=45, reduce compute cost=96\)$' \
  '^Worst cost seen: 64373$' \
  '^Running graph program to multiply matrix by vector$' '^Multiplication result OK$' '^Program cycles: 5[0-9][0-9][0-9]$'
# The sample's 5,071, to 5 %.
awk '$1 == "Program" { found = $3 >= 4818 && $3 <= 5324 } END { exit !found }' out || fail "tutorial 7: $(tail -1 out)"

section "Profile summary output: colours"
line 'CLICOLOR_FORCE=1 ./tutorials 4'
grep -q "$(printf '\033')" out || fail "CLICOLOR_FORCE=1 gives no colours"
# By default on a terminal, as C++ streams have it.
TERM=xterm python3 -c "import pty; pty.spawn(['./tutorials', '4'])" >terminal
grep -q "$(printf '\033')" terminal || fail "no colours on a terminal"
TERM=dumb python3 -c "import pty; pty.spawn(['./tutorials', '4'])" >terminal
! grep -q "$(printf '\033')" terminal || fail "colours on a dumb terminal"
line 'CLICOLOR=0 ./tutorials 4'
! grep -q "$(printf '\033')" out || fail "CLICOLOR=0 gives colours"

section "Environment variables: logging"
line 'POPLAR_LOG_LEVEL=INFO POPLIBS_LOG_LEVEL=OFF POPLAR_LOG_DEST=log.txt ./tutorials 2'
has log.txt ' PO:[A-Z]+ +\[I\] '
line 'POPLAR_LOG_LEVEL=OFF POPLAR_LOG_DEST=off.txt ./tutorials 2'
[ ! -s off.txt ] || fail "OFF logs: $(cat off.txt)"
# ERR: "Only error conditions will be reported."
line 'POPLAR_LOG_LEVEL=ERR POPLAR_LOG_DEST=errors.txt ./tutorials 2'
[ ! -s errors.txt ] || fail "ERR logs: $(cat errors.txt)"
line '! POPLAR_LOG_LEVEL=ERR POPLAR_LOG_DEST=errors.txt ./tutorials 3 nothing.gp'
has errors.txt " PO:GRAPH +\[E\] .*'nothing.gp'"
# INFO: "Very high level information, such as Poplibs function calls."
line 'POPLIBS_LOG_LEVEL=INFO POPLIBS_LOG_DEST=poplibs.txt ./tutorials 4'
has poplibs.txt " PL:POPLIN +\[I\] mat_mul.*: float\{90,60\}, float\{60,30\}, name 'm4'$"

section "Environment variables: graph report"
line 'POPLAR_GRAPH_REPORT_DEST=graph_report.txt ./tutorials 2'
in_order graph_report.txt '^Target:' '^Graph:' '^Memory Usage:' '^  By Tile'
! grep -q '^Execution:' graph_report.txt || fail "the graph report has an execution"

section "Environment variables: setting options"
line "POPLAR_ENGINE_OPTIONS='{\"debug.instrument\": \"true\", \"debug.computeInstrumentationLevel\": \"vertex\"}' ./tutorials 4"
has out '^  Cycles by vertex type:$'
line "POPLAR_SIMULATOR_OPTIONS='{\"debug.maxCyclesPerRun\": \"10000000\"}' ./tutorials 2"
