# The checks of memory in graph_profile.sh and of cycles in cycles_agree.sh, for the examples in
# C++.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/profile_agrees.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cycles_agree.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

count=0
for source in "$POPULUS_SOURCE_DIR"/examples/cpp/*.cpp; do
  example=$(basename "$source" .cpp)
  case $example in
    matvec_split) arguments="300 40 ipu2 $POPULUS_BUILD_DIR/share/populus/examples/matvec_split_codelets.gp" ;;
    saved_executable) arguments="--save saved.bin" ;;
    *) arguments= ;;
  esac
  example "$example" ./host_program
  # shellcheck disable=SC2086
  cycles_agree vertex ./host_program $arguments
  agree "$example"
  count=$((count + 1))
done
[ $count -ge 9 ] || fail "only $count examples were run"
