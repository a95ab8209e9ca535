# The C++ interface, subject by subject, each compiled by both compilers as users compile it.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

for subject in interface callbacks values mistakes constants; do by_each c++11 $subject; done
