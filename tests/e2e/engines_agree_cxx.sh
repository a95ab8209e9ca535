# The examples in C++, too, do the same on each engine and any number of threads (agree).
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"
. "$POPULUS_SOURCE_DIR/tests/support/engines.sh"

for source in "$POPULUS_SOURCE_DIR"/examples/cpp/*.cpp; do
  name=$(basename "$source" .cpp)
  [ "$name" != saved_executable ] || continue # two runs and a file
  example "$name" "$name"
  case $name in
    matvec_split) agree "./$name" 64 100 ;;
    *) agree "./$name" ;;
  esac
done
[ $profiles -ge 4 ] || fail "only $profiles examples have an execution profile"
