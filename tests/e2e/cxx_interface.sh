# The C++ interface, subject by subject. Both compilers compile each program as users do.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

# Frames are larger with sanitizers, so programs at the limit of nesting need more stack.
[ -z "$POPULUS_SANITIZE" ] || ulimit -s 65536

for subject in interface callbacks values mistakes constants; do by_each c++11 $subject; done

link "$compiler" c++11 "$POPULUS_SOURCE_DIR/tests/cxx/attributes.cpp" ./attributes -lpoplar -Wl,--wrap=pop_device_get_attributes || fail "not compiled"
POPULUS_RUN_DIR=$PWD/run ./attributes >out 2>&1 || fail "attributes: $(cat out)"
