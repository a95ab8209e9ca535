# The C++ interface, subject by subject, each compiled by both compilers as users compile it.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

# The sanitizers' frames are larger, and so is what programs nested as deep as may be take of the stack.
[ -z "$POPULUS_SANITIZE" ] || ulimit -s 65536

for subject in interface callbacks values mistakes constants; do by_each c++11 $subject; done
