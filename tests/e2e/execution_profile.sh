# The execution profile of examples in all its modes: it follows the schema, profile.pop has the
# same contents, its steps agree with the graph profile and the cycles of tiles, and the trace for
# other tools is in order.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
python=
for candidate in /usr/bin/python3 python3; do
  "$candidate" -c 'import cbor2, jsonschema' 2>imports.err && python=$candidate && break
done
[ -n "$python" ] || { echo "python3-cbor2 and python3-jsonschema are not installed"; exit 77; }

# profile <mode> <engine options> <program> <arguments>...
profile()
{
  mode=$1 options=$2 program=$3
  shift 3
  rm -rf reports
  POPLAR_ENGINE_OPTIONS="{$options\"autoReport.outputGraphProfile\":\"true\",\"autoReport.outputExecutionProfile\":\"true\",
    \"autoReport.directory\":\"reports\"}" "$POPULUS_BIN/$program" "$@" >out.txt 2>&1 || fail "$program $* exits $?: $(cat out.txt)"
  "$python" "$POPULUS_SOURCE_DIR/tests/support/validate_execution.py" \
    "$POPULUS_SOURCE_DIR/tests/golden/execution_profile.schema.json" "$mode" reports/graph.json reports/execution.json \
    reports/profile.pop reports/execution_trace.json || fail "$program $* ($mode): the profile is not as it should be"
  [ ! -e reports/execution_trace.json ] || "$python" "$POPULUS_SOURCE_DIR/tests/support/validate_trace.py" reports/execution_trace.json ||
    fail "$program $* ($mode): the trace loses events where it is opened"
}

all='"debug.instrument":"true",'
level='"debug.computeInstrumentationLevel":'
profile COMPUTE_SETS "$all" matvec_split 300 40
profile VERTICES "$all$level\"vertex\"," control_flow
profile SINGLE_TILE_COMPUTE_SETS "$all$level\"device\"," pipeline
profile SINGLE_TILE_COMPUTE_SETS "\"debug.instrumentCompute\":\"true\",$level\"ipu\"," pipeline
profile EXTERNAL_EXCHANGES '"debug.instrumentExternalExchange":"true",' pipeline
profile HOST_EXCHANGES '"debug.instrumentExternalExchange":"true",' streams
profile COMPUTE_SETS "$all\"profiler.programs.filter\":\".\"," streams
profile IPU_MODEL '' matvec_split --device ipumodel 300 40

# A program of 1,000 steps on 1,472 tiles, with profile, summary and trace: the process stays within
# 2 GiB.
if [ -z "$POPULUS_SANITIZE" ]; then
  "$POPULUS_BUILD_DIR/tests/bench/execution" 0 1000 >figures.txt || fail "1,472 tiles x 1,000 steps: $?"
  awk '$1 == "peak_mib" { exit !($2 > 0 && $2 < 2048) } END { if (NR < 3) exit 1 }' figures.txt ||
    fail "1,472 tiles x 1,000 steps: $(cat figures.txt)"
fi
