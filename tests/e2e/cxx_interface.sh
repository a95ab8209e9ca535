# The C++ interface, subject by subject, each compiled by both compilers as users compile it.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

# Both at once: it is compiling that takes the time.
for subject in interface callbacks values mistakes; do
  pids=
  for compiler in $compilers; do
    link "$compiler" c++11 "$POPULUS_SOURCE_DIR/tests/cxx/$subject.cpp" "$subject-$compiler" -lpoplar &
    pids="$pids $!"
  done
  for pid in $pids; do wait "$pid" || fail "$subject is not compiled"; done
  for compiler in $compilers; do
    "./$subject-$compiler" >out 2>&1 || fail "$subject ($compiler): $(cat out)"
  done
done
