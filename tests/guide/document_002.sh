# Document 002, as far as it needs no TensorFlow: the executable cache, its hash, and the lines of the log by which recompilation
# is seen. runtime/GUIDE.md says section by section what differs, and why.
set -eu
. "$POPULUS_SOURCE_DIR/tests/guide/document.sh"
PATH=$POPULUS_BIN:$PATH
here=$POPULUS_SOURCE_DIR/examples

section "2. Consideration 0: Avoiding recompilation"
line "popc -O2 $here/suffix_sum/sum_codelets.c -o sum_codelets.gp"
line "popc -O2 $here/control_flow/newton_codelets.c -o newton_codelets.gp"
# run <log> <program> <arguments>...: with the cache, in another process each time
run()
{
  file=$1
  shift
  rm -f "$file"
  line "TF_POPLAR_FLAGS=\"--executable_cache_path=$PWD/ipu_cache/\" POPLAR_EXECUTABLE_CACHE_DIR=ipu_cache POPLAR_LOG_LEVEL=DEBUG \
POPLAR_LOG_DEST=$file $*"
}
run cold.txt suffix_sum sum_codelets.gp
has cold.txt 'Starting phase: graphConstruction$' 'Begin compilation: .* \(Hash 0x[0-9a-f]{16}\)$' \
  "Couldn't find ipu_cache/[0-9a-f]{16}\.a$" \
  'Ending phase: Loading executable \(duration [0-9]+ ms; diff RSS: -?[0-9.e-]+ MB\)$'
# "Each generated file is identified by a 64-bit hash value."
hash=$(sed -n 's/.*(Hash 0x\([0-9a-f]*\)).*/\1/p' cold.txt)
[ -e "ipu_cache/$hash.a" ] || fail "no file ipu_cache/$hash.a: $(ls ipu_cache)"

# "If the hash codes are the same for different runs, … the executable will be loaded if it has been saved previously."
run warm.txt suffix_sum sum_codelets.gp
has warm.txt "Begin compilation: .* \(Hash 0x$hash\)$" "Loaded .* from ipu_cache/$hash\.a$" \
  'Ending phase: Loading executable \(duration '
# "Then look for Starting phase: graphConstruction": the recipe has no false alarm.
! grep -q 'graphConstruction' warm.txt || fail "an alarm: $(grep graphConstruction warm.txt)"

section "4. Consideration 2: Batch size" # another shape is another graph
run four.txt control_flow 1 2 3 4
run five.txt control_flow 1 2 3 4 5
has four.txt 'Starting phase: graphConstruction$'
has five.txt 'Starting phase: graphConstruction$' "Couldn't find"

section "7. Consideration 5: Constants" # what changes as data is no other graph
run data.txt control_flow 7 8 9 10
has data.txt 'Loaded .* from ipu_cache/'
! grep -q 'graphConstruction' data.txt || fail "other data are another graph"
