# What graph_profile.sh says of memory holds for the examples in C++, too.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/profile_agrees.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"
command -v g++ >/dev/null || { echo "g++ is not installed"; exit 77; }

for source in "$POPULUS_SOURCE_DIR"/examples/cpp/*.cpp; do
  example=$(basename "$source" .cpp)
  case $example in
    matvec_split) arguments="300 40 ipu2 $POPULUS_BUILD_DIR/share/populus/examples/matvec_split_codelets.gp" ;;
    saved_executable) arguments="--save saved.bin" ;;
    *) arguments= ;;
  esac
  link g++ c++17 "$source" ./host_program -lpoplar
  rm -f archive.a
  # shellcheck disable=SC2086
  POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"archive.a"}' ./host_program $arguments >out.txt 2>&1 ||
    fail "$example exits $?: $(cat out.txt)"
  agree "$example"
done
