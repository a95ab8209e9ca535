# The execution profile has the cycles that the machine counted, for every compute set, tile and
# vertex of every example in C (tests/support/cycles_agree.c). profiles_cxx.sh does the same for the
# examples in C++.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cycles_agree.sh"

for folder in "$POPULUS_SOURCE_DIR"/examples/*/; do
  example=$(basename "$folder")
  case $example in
    linked_executable) ;; # it compiles nothing
    cpp) ;;               # other programs, for profiles_cxx.sh
    models) ;;            # modules for pophlo
    matvec*) cycles_agree vertex "$POPULUS_BIN/$example" 300 40 ;;
    mnist) cycles_agree vertex "$POPULUS_BIN/$example" --epochs 1 ;; # more epochs run the same programs
    *) cycles_agree vertex "$POPULUS_BIN/$example" ;;
  esac
done
[ "$vertices" -gt 5000 ] || fail "only $vertices vertices were compared"

# If one tile measures for all, the profile has the cycles of the slowest tile. This also holds if
# the measuring tile is the slowest.
for level in tile device; do
  cycles_agree $level "$POPULUS_BIN/matvec_split" 300 40
  cycles_agree "$level" "$POPULUS_BIN/control_flow"
done

# Supervisor vertices and vertices of all workers, alone and together.
for level in tile vertex device ipu; do
  cycles_agree $level "$POPULUS_BUILD_DIR/tests/support/kinds_graph"
done
