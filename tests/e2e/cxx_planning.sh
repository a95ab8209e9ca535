# What libraries plan with (gccs, popsolver, limits, layouts, debug information), compiled by both compilers as C++17.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

pids=
for compiler in $compilers; do
  link "$compiler" c++17 "$POPULUS_SOURCE_DIR/tests/cxx/planning.cpp" "planning-$compiler" -lpoplar &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || fail "planning is not compiled"; done
for compiler in $compilers; do
  "./planning-$compiler" >out 2>&1 || fail "planning ($compiler): $(cat out)"
done
