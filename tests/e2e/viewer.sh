# popview's page in a real browser: the tests that viewer/CHECKLIST.md names. Pages are opened from
# file://, and a request for anything else fails the test (W04). Browsers that lack a needed feature
# get a message (W05). A report of 14.7 million intervals is drawn 30 times a second (W03).
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/viewer.sh"
[ -z "$POPULUS_SANITIZE" ] || viewer_skip "the page is that of the release build"
viewer_tools

# The type check runs while programs run. Its success is remembered, as in cmake/tidy.sh.
right=$caches/viewer-types-$(viewer_types_key)
types=
if [ -e "$right" ]; then
  touch "$right"
else
  ln -sfn "$viewer/src" "$modules/src"
  cp "$viewer/tsconfig.json" "$modules/"
  (cd "$modules" && exec node node_modules/typescript/bin/tsc -p . --preserveSymlinks) >types.txt 2>&1 &
  types=$!
fi

POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"real","autoReport.outputArchive":"false",
  "debug.instrument":"true","debug.computeInstrumentationLevel":"vertex"}' quiet out "$POPULUS_BIN/matvec_split" 1000 300
# Programs of the tutorials, with timed blocks: a matrix-vector product, branches, four IPUs,
# replicas, remote buffers, streams.
examples=
for example in matvec control_flow pipeline replicas remote_buffer streams; do
  case $example in matvec) arguments='100 40' ;; *) arguments= ;; esac
  # shellcheck disable=SC2086 # two numbers or nothing
  POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"'$example'","autoReport.outputArchive":"false","debug.instrument":"true",
    "profiler.programs.filter":"."}' "$POPULUS_BIN/$example" $arguments >out 2>&1 || fail "$example: $(cat out)"
  examples="$examples $example"
done
# The quick start with 1,472 tiles. MNIST, with digits that the example draws itself, because the
# MNIST files are not available. A regression with the libraries. Named blocks and runs, once with
# buffers that overflow (the guide's page on lightweight profiling). popview --demo covers two IPUs.
reported() { folder=$1 more=$2; shift 2; POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"'$folder'","autoReport.outputArchive":"false",'$more'}' quiet out "$@"; }
reported quickstart '"debug.instrument":"true"' "$POPULUS_BIN/matvec_split" 10000 1000
reported mnist '"debug.instrument":"true"' "$POPULUS_BIN/mnist" --epochs 1
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"
example regression regression
link "$compiler" c++11 "$POPULUS_SOURCE_DIR/tests/guide/trace.cpp" trace -lpoplar || fail "trace.cpp is not compiled"
reported learned '"debug.instrument":"true"' ./regression
reported blocks '"profiler.blocks.filter":".*"' ./trace
reported overflow '"profiler.programs.filter":".*","profiler.blocks.bufferSize":"64","profiler.blocks.implicitFlush":"false"' ./trace
# A run that ends in a fault.
link "$compiler" c++11 "$POPULUS_SOURCE_DIR/tests/guide/faulted.cpp" faulted.bin -lpoplar || fail "faulted.cpp is not compiled"
quiet popc.txt "$POPULUS_BIN/popc" -g -O2 "$POPULUS_SOURCE_DIR/tests/guide/faulted_codelets.cpp" -o faulted.gp
reported faulted '"debug.instrument":"true"' ./faulted.bin faulted.gp
examples="$examples quickstart mnist learned blocks overflow faulted"
# Their traces must follow Perfetto's rules. None of its packages is in npm or Debian, so a script
# checks the rules (X6).
for example in real $examples; do
  python3 "$POPULUS_SOURCE_DIR/tests/support/validate_trace.py" "$example/execution_trace.json" 2>err || fail "$example: $(cat err)"
done
if [ -n "$types" ]; then
  wait "$types" || fail "types: $(head -20 types.txt)"
  : >"$right"
fi
# shellcheck disable=SC2086 # a list of folders
tests() { node "$viewer/test/run.mjs" "$modules" "$chromium" "$POPULUS_BIN/popview" real $examples; }
VIEWER_PART=others tests >others.txt 2>&1 &
others=$! status=0
tests >tests.txt 2>&1 || status=1
wait "$others" || status=1
cat others.txt >>tests.txt
[ "$status" -eq 0 ] || fail "$(cat tests.txt)"
grep ' passed, 0 failed$' tests.txt
# Each ticked row of the checklist names a test that has passed, or the file of a test.
[ -z "${VIEWER_TEST-}" ] || exit 0
grep '^| ☑' "$viewer/CHECKLIST.md" | sed -n 's/^| ☑ | \([A-Z][0-9]*\) .* | [MSC] | [^`]*`\([^`]*\)`.*/\1 \2/p' >done.txt
[ "$(wc -l <done.txt)" -eq "$(grep -c '^| ☑' "$viewer/CHECKLIST.md")" ] || fail "a row of the checklist is ticked and names no test"
while read -r row named; do
  [ -f "$POPULUS_SOURCE_DIR/$named" ] || grep -Fq "ok   $named" tests.txt || fail "row $row names '$named', which is no test that has passed"
done <done.txt
