# For scripts that compare the cycles of execution profiles with the machine's. Source it
# after check.sh. Defines cycles_agree.

vertices=0 # that were compared, of all programs

# cycles_agree <level> <program> <arguments>...: compiles with
# debug.computeInstrumentationLevel and checks that the archive measures what the machine
# counts, on the interpreter and on the translator.
cycles_agree()
{
  level=$1
  shift
  rm -f archive.a
  POPLAR_ENGINE_OPTIONS="{\"target.saveArchive\":\"archive.a\",\"debug.instrument\":\"true\",
    \"debug.computeInstrumentationLevel\":\"$level\"}" "$@" >out.txt 2>&1 || fail "$* exits $?: $(cat out.txt)"
  # Native code of vertices is the same in many archives: it is kept where compiled codelets are.
  POPLAR_EXECUTABLE_CACHE_DIR=${POPC_CACHE:-} "$POPULUS_BUILD_DIR/tests/support/cycles_agree" archive.a >agree.txt 2>agree.err ||
    fail "$* ($level): $(grep 'the machine\|cycles_agree:' agree.err)"
  [ "$(sed -n 's/^compute_sets //p' agree.txt)" -gt 0 ] || fail "$* ($level): nothing was compared"
  vertices=$((vertices + $(sed -n 's/^vertices //p' agree.txt)))
}
