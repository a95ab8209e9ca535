# What libraries use for planning (gccs, popsolver, limits, layouts, debug information), compiled by
# both compilers as C++17.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

by_each c++17 planning
