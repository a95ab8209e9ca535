# Other programs can read event traces: protoc with the published event_trace.proto, text reports,
# report folders.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
for tool in protoc python3; do
  command -v $tool >/dev/null 2>&1 || { echo "$tool is not installed"; exit 77; }
done
example=$POPULUS_BIN/event_trace
proto=$POPULUS_SOURCE_DIR/runtime/include/populus/event_trace.proto

# trace <option=value>...: runs the example, and decodes each event with protoc into
# events/<number>.txt.
trace()
{
  quiet out.txt "$example" "$@"
  grep -q '^result: {3,8}$' out.txt || fail "the example computes $(cat out.txt)"
  rm -rf events
  mkdir events
  python3 "$POPULUS_SOURCE_DIR/tests/support/split_events.py" events.pb events || fail "$*: events.pb is cut"
  for message in events/*.pb; do
    protoc --proto_path="$(dirname "$proto")" --decode=populus.IpuTraceEvent event_trace.proto \
      <"$message" >"${message%.pb}.txt" || fail "$*: $message is no IpuTraceEvent"
    ! grep -qE '^ *[0-9]+[:{ ]' "${message%.pb}.txt" || fail "$message has a field that the .proto does not have"
  done
}

# types: the types of the events, in order.
types()
{
  sed -n 's/^type: //p' events/*.txt | tr '\n' ' '
}

# field <event> <name>: the field's value, without quotation marks.
field()
{
  sed -n "s/^ *$2: \"*\([^\"]*\).*/\1/p" "events/$1.txt"
}

trace profiling=true profile_execution=TILE_PROFILE enable_poplar_serialized_graph=true ordinal=7
[ "$(types)" = "COMPILE_BEGIN COMPILE_END LOAD_ENGINE EXECUTE " ] || fail "there are $(types)"
for event in 0 1 2 3; do
  [ "$(field $event module_name)" = basic_graph ] || fail "event $event is of module $(field $event module_name)"
  [ "$(field $event ordinal)" = 7 ] || fail "event $event has ordinal $(field $event ordinal)"
  [ "$(field $event timestamp | cut -d. -f1)" -gt 1600000000 ] || fail "event $event is of $(field $event timestamp)"
done
for event in 1 2 3; do
  [ "$(field $event duration)" -gt 0 ] || fail "event $event takes no time"
done
grep -q '^  compilation_report: "{\\"target\\":' events/1.txt || fail "there is no compilation report"
grep -q '^  tensor_map: "{\\"mappings\\":{\\"basic_graph\\":\[\[\\"a\\",0,\[2\],\\"float\\",false,false,2,\[\[0,1\],\[1,1\]\]\],' \
  events/1.txt || fail "the tensor map is $(grep tensor_map events/1.txt)"
grep -q '^  instruction_info: "{\\"ml_types\\":{}}' events/1.txt || fail "there is no instruction info"
grep -q '^  poplar_graph: "{.*\\"variables\\":' events/1.txt || fail "there is no graph"
grep -q '^  execution_report: "{\\"profilerMode\\":\\"COMPUTE_SETS\\"' events/3.txt || fail "there is no execution report"
[ "$(field 3 program)" = basic_graph ] || fail "the program is $(field 3 program)"

# Text reports, in the events and in a file.
trace profiling=true profile_execution=true use_poplar_text_report=true
grep -q 'compilation_report: "Target:\\n  Number of IPUs:         1\\n' events/1.txt || fail "no text report"
for line in 'Compile begin: basic_graph' 'Compile end: basic_graph' 'Load engine: basic_graph' \
  'Execute: basic_graph, program basic_graph' 'Memory Usage:' '    0 tile(s) out of memory' 'Execution:'; do
  grep -q -- "$line" Trace_Event_Report.rep || fail "the text has no line '$line'"
done

# Events without reports.
trace enable_ipu_events=true
[ "$(types)" = "COMPILE_BEGIN COMPILE_END LOAD_ENGINE EXECUTE " ] || fail "there are $(types)"
! grep -q '_report' events/*.txt || fail "there are reports that nobody asked for"

# Each compilation has its own report folder, also if processes start at the same time. The events
# name the folder.
trace profiling=true profile_execution=true use_poplar_cbor_report=true enable_poplar_serialized_graph=true \
  report_directory=reports
[ "$(field 1 compilation_report)" = reports/basic_graph/report.cbor ] || fail "the report is $(field 1 compilation_report)"
[ "$(field 1 poplar_graph)" = reports/basic_graph/serialized_graph.json ] || fail "the graph is $(field 1 poplar_graph)"
[ "$(field 3 execution_report)" = reports/basic_graph/execution.cbor ] || fail "the report is $(field 3 execution_report)"
sum=$(cksum reports/basic_graph/*)
pids=
for process in 1 2 3 4; do
  mkdir -p p$process
  (cd p$process && "$example" profiling=true report_directory=../reports --device ipumodel >out.txt 2>&1) &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || fail "one of four processes fails: $(cat p*/out.txt)"; done
[ "$(ls reports | wc -l)" = 5 ] || fail "five compilations leave $(ls reports)"
[ "$(find reports -name 'report.json' -size +0 | wc -l)" = 4 ] || fail "four compilations leave $(find reports)"
[ "$(cksum reports/basic_graph/*)" = "$sum" ] || fail "a folder was written to again"

# A report that is too large is left out, and the log says so.
export POPLAR_LOG_LEVEL=WARN POPLAR_LOG_DEST=log.txt
trace profiling=true max_report_size=1000
! grep -q compilation_report events/1.txt || fail "a report is there that is too large"
grep -q "report.json of module 'basic_graph' is discarded: it is larger than max_report_size, 1000 bytes" log.txt ||
  fail "the log says $(cat log.txt)"
