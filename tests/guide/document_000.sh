# Document 000, as far as it needs no TensorFlow: event traces and their reports, the text report, the tensor map, the archive of
# tile images. runtime/GUIDE.md says section by section what differs, and why.
set -eu
. "$POPULUS_SOURCE_DIR/tests/guide/document.sh"
PATH=$POPULUS_BIN:$PATH
export PATH

section "Adding an operation to get compilation and execution events; Extract the reports"
line 'event_trace profiling=true use_poplar_text_report=true'
[ -s events.pb ] && [ -s Trace_Event_Report.rep ] || fail "$(ls)"

section "Reading the Poplar textual summary report"
in_order Trace_Event_Report.rep 'Target:' 'Number of IPUs:         1$' 'Tiles per IPU: ' 'Total Tiles: ' 'Memory Per-Tile: ' \
  'Total Memory: ' 'Clock Speed \(approx\): ' 'Graph:' 'Number of vertices: ' 'Number of edges: ' 'Number of variables: ' \
  'Number of compute sets: ' 'Memory Usage:' 'Including Gaps: ' 'Excluding Gaps:' 'By Memory Region:' 'Non-interleaved: ' \
  'Interleaved: ' 'Overflowed: +0 B' 'By Data Type:' 'Vertex Data \(' 'By Category:' 'Internal vertex state: ' 'Edge pointers: ' \
  'Copy pointers: +0 B' 'Padding: ' 'Descriptors: ' 'By Type:' 'By Tile \(Excluding Gaps\):' \
  'Range \(KB\) Histogram \(Excluding Gaps\)               Count \(tiles\)$' 'Maximum \(Including Gaps\): ' \
  'Maximum \(Excluding Gaps\): ' '0 tile\(s\) out of memory'

section "Producing reports for use with the PopVision Graph Analyser"
line 'event_trace profiling=true profile_execution=true enable_poplar_serialized_graph=true report_directory=reports'
[ -n "$(find reports -mindepth 1 -maxdepth 1 -type d)" ] || fail "no folder for the compilation: $(find reports)"

section "Using the IPU Model device for debugging" # out of memory: the code runs to completion, so the report can be generated
cat >large.cpp <<'END'
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <iostream>
using namespace poplar;
int main()
{
  IPUModel model("ipu1");
  Device device = model.createDevice();
  Graph graph(device.getTarget());
  Tensor large = graph.addVariable(INT, {200000}, "large"), small = graph.addVariable(INT, {1}, "small");
  graph.setTileMapping(large, 0);
  graph.setTileMapping(small, 1);
  graph.setInitialValue(small, 7);
  graph.createHostRead("large", large);
  Engine engine(graph, program::Copy(small, large.slice(199999, 200000)));
  engine.load(device);
  engine.run(0);
  std::vector<int> data(200000);
  engine.readTensor("large", data.data());
  if (data.back() != 7) return 1;
  engine.printProfileSummary(std::cout);
}
END
line 'g++ -std=c++11 large.cpp -lpoplar -o large'
line './large'
in_order out '^ *[0-9]+ - +[0-9]+ \*\*\*' '^    Maximum \(Including Gaps\): [0-9,]+ \([0-9.]+ K\) on tile 0$' \
  '^    1 tile\(s\) out of memory$' '^Tile # 0 memory usage:$' '^Memory Usage:$' '^    Including Gaps: ' '^    Excluding Gaps:$' \
  '^      By Memory Region:$' '^        Non-interleaved: ' '^        Interleaved: +131,072 B$' '^        Overflowed: +[1-9]' \
  '^      By Data Type:$' 'Variables: ' 'Stack: ' 'Vertex Data \(' 'By Category:' 'By Type:'

section "gc-info"
line 'gc-info -l'
has out '^ *-\+- Id: \[0\]|Id: +\[?0'

section "Producing an ELF image of the compilation"
line "POPLAR_ENGINE_OPTIONS='{\"target.saveArchive\":\"archive.a\", \"debug.allowOutOfMemory\": \"true\"}' ./large"
line 'size -A archive.a > tiles_elf.txt'
line "size -A archive.a | grep -e \".text\" | awk '{print \$2}' > memory_usage_per_tile.txt"
[ "$(wc -l <memory_usage_per_tile.txt)" = 1216 ] || fail "$(wc -l <memory_usage_per_tile.txt) tiles"
[ "$(head -1 memory_usage_per_tile.txt)" -gt 800000 ] || fail "tile 0 has $(head -1 memory_usage_per_tile.txt) bytes"
