# The C++ headers: a codelet compiles with them on its path. All of them together compile in every
# standard, with both compilers and without a warning, and once in reverse order. (Missing functions
# throw: tests/cxx/mistakes.cpp.)
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"

# A codelet may be compiled with the host's headers on its path.
printf '%s\n' '#include <poplar/TypeTraits.hpp>' '#include <poplar/Vertex.hpp>' 'struct V : poplar::Vertex {' \
  'poplar::Output<int> out;' 'bool compute() { *out = 1; return true; } };' >codelet.cpp
"$POPULUS_BIN/popc" -I "$POPULUS_SOURCE_DIR/runtime/cxx/include" -I "$POPULUS_SOURCE_DIR/runtime/include" codelet.cpp -o codelet.gp

# The rest uses nothing of this build: it compiles the headers of the source tree with the system's
# compilers, without sanitizers.
[ -z "$POPULUS_SANITIZE" ] || exit 0
. "$POPULUS_SOURCE_DIR/tests/support/cxx.sh"

cd "$POPULUS_SOURCE_DIR/runtime/cxx/include"
headers=$(find pop* pva pvti -name '*.hpp' | sort)
cd "$OLDPWD"
for header in $headers; do
  printf '#include <%s>\n' "$header" >>all.cpp
done
sort -r all.cpp >reverse.cpp # a header that needs another one fails in one of the orders
cxx g++ -std=c++14 -c reverse.cpp -o reverse.o 2>err || fail "in reverse: $(cat err)"
for standard in c++11 c++17 c++20; do
  pids=
  for compiler in $compilers; do # at the same time
    cxx "$compiler" -std=$standard -Wshadow -Wconversion -c all.cpp -o "all-$compiler.o" 2>"err-$compiler" &
    pids="$pids $!"
  done
  for pid in $pids; do wait "$pid" || fail "$standard: $(cat err-*)"; done
done
