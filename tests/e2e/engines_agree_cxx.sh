# The examples in C++ also give the same results on each engine (agree). Below the C++ headers they
# run the same code as the examples in C, which engines_agree.sh runs in more ways.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"
. "$POPULUS_SOURCE_DIR/tests/support/engines.sh"
plainly=translator:2:kept
with_profile=auto:7:kept

for source in "$POPULUS_SOURCE_DIR"/examples/cpp/*.cpp; do
  name=$(basename "$source" .cpp)
  [ "$name" != saved_executable ] || continue # it needs two runs and a file
  example "$name" "$name"
  case $name in
    matvec_split) agree "./$name" 64 100 ;;
    *) agree "./$name" ;;
  esac
done
[ $profiles -ge 4 ] || fail "only $profiles examples have an execution profile"
