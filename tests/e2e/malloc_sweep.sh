# D04 (tests/support/sweep.sh): tools, and programs that run graphs on tiles, while allocations
# fail.
set -u
. "$POPULUS_SOURCE_DIR/tests/support/sweep.sh"
busy_graph=$POPULUS_BUILD_DIR/tests/support/busy_graph
quiet out "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o busy.gp
POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"a.a"}' quiet out "$POPULUS_BIN/matvec_split" 60 40

sweep popc one.gp "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o one.gp
sweep 'popc --list-vertices' - "$POPULUS_BIN/popc" --list-vertices busy.gp
(
  cases=1000000
  sweep popexec - "$POPULUS_BIN/popexec" --list a.a
) || exit 1
sweep 'popexec --memory' - "$POPULUS_BIN/popexec" --memory --list a.a
sweep popsize - "$POPULUS_BIN/popsize" --json a.a
if [ -f "$POPULUS_DATA_DIR/viewer.js" ]; then
  POPLAR_ENGINE_OPTIONS='{"autoReport.all":"true","autoReport.directory":"report"}' quiet out "$busy_graph" busy.gp ipu2 8
  sweep popview page.html "$POPULUS_BIN/popview" report -o page.html
fi
sweep 'host program' - "$busy_graph" busy.gp ipu2 8
# The variables are set for the whole shell: with `env`, that process would count the allocations.
(
  export POPLAR_EXECUTABLE_CACHE_DIR=cache
  sweep cache - "$busy_graph" busy.gp ipu2 8
  with_llvm
  sweep 'cache of native code' - "$busy_graph" busy.gp ipu2 8
) || exit 1
(
  export 'POPLAR_ENGINE_OPTIONS={"autoReport.all":"true","autoReport.directory":"reports"}'
  sweep reports - "$busy_graph" busy.gp ipu2 8
) || exit 1
with_llvm
sweep translator - "$busy_graph" busy.gp ipu2 8
