# Document 003: execution traces, detailed and lightweight, as far as a page can be looked at without a browser (with one:
# tests/e2e/viewer.sh and viewer/). runtime/GUIDE.md says section by section what differs, and why.
set -eu
. "$POPULUS_SOURCE_DIR/tests/guide/document.sh"
PATH=$POPULUS_BIN:$PATH
cp "$POPULUS_SOURCE_DIR/tests/guide/trace.cpp" .
line 'g++ -std=c++11 trace.cpp -lpoplar -o trace'

# json <file> <expression of Python about its value j>
json()
{
  python3 -c "import json, sys; j = json.load(open(sys.argv[1])); print($2)" "$1"
}
same()
{
  [ "$1" = "$2" ] || fail "$1 is not $2"
}

# page <report>: the viewer's, where the build has it
page()
{
  [ -e "$POPULUS_BUILD_DIR/lib/populus/viewer.css" ] || return 0
  line "popview $1 -o page.html"
  has page.html '<html' '<script'
}

section "14.1 Detailed Execution Trace"
line "POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\", \"autoReport.directory\":\"report\", \"debug.instrument\":\"true\"}' ./trace"
sample out 4
# "every single program step is included and the trace covers every tile on every IPU"
steps="[s['type'] for s in j['simulation']['steps']]"
for type in Sync OnTileExecute DoExchange StreamCopy; do
  [ "$(json report/execution.json "$steps.count('$type')")" -gt 0 ] || fail "no $type in the trace"
done
same "$(json report/execution.json "$steps.count('OnTileExecute')")" 12 # 5 and 1 of each run: behind loop and branch, too
same "$(json report/execution.json "{s['activeTiles'] for s in j['simulation']['steps'] if s['type'] == 'OnTileExecute'}")" '{8}'

section "14.3.2 Defining program names"
same "$(json report/execution.json "[r.get('runName') for r in j['runs']][:1]")" "['WeightsToHost']"

section "14.3.5 Details tab; StreamCopy"
# "as three separate phases, StreamCopyBegin, the Copy itself (StreamCopyMid), and StreamCopyEnd"
[ "$(json report/execution.json "$steps.count('StreamCopyBegin')")" -gt 0 ] || fail "no StreamCopyBegin"
page report

section "14.4 Lightweight Profiling"
line "POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\", \"autoReport.directory\":\"light\", \"profiler.blocks.filter\":\".*\"}' ./trace"
types="{b['type'] for t in j['lightweightProfile']['tiles'] for b in t['blocks']}"
for type in Common StreamCopyBegin StreamCopyMid StreamCopyEnd; do
  same "$(json light/execution.json "'$type' in $types")" True
done
names="[b['name'] for b in j['lightweightProfile']['tiles'][0]['blocks'] if b['type'] == 'Common']"
same "$(json light/execution.json "$names")" "['forward', 'backward', 'forward', 'backward']"

section "14.4.2 Buffer Flush; Overflow; Unknown"
line "POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\", \"autoReport.directory\":\"small\", \"profiler.programs.filter\":\".*\", \
\"profiler.blocks.bufferSize\":\"64\", \"profiler.blocks.implicitFlush\":\"false\"}' ./trace"
same "$(json small/execution.json "'Overflow' in $types")" True
page light
