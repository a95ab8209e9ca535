# Every tool reads a .gp without a complaint, and finds the vertices in it.
set -eu
cp "$POPULUS_SOURCE_DIR"/tests/codelets/basic.c "$POPULUS_SOURCE_DIR"/tests/codelets/basic.cpp .
cat >sort.cpp <<'END'
#include <poplar/Vertex.hpp>
#include <algorithm>
struct Sort : poplar::Vertex {
  poplar::InOut<poplar::Vector<float>> x;
  bool compute() { std::sort(x.begin(), x.end()); return true; }
};
END
for source in basic.c basic.cpp sort.cpp; do
  for flags in -O2 -g -O0; do
    "$POPULUS_BIN/popc" $flags $source -o codelets.gp
    for tool in 'nm -S' size 'size -A' 'objdump -x' 'ar t' 'readelf -a' 'readelf -W -a' 'llvm-objdump-19 -d' \
      'llvm-objdump-19 -x' llvm-nm-19 'llvm-readelf-19 -a' 'riscv64-unknown-elf-objdump -d' \
      'riscv64-unknown-elf-nm'; do
      command -v "${tool%% *}" >/dev/null || { echo "no ${tool%% *} here: left out"; continue; }
      $tool codelets.gp >out.txt 2>err.txt || { echo "$tool: status $?"; cat err.txt; exit 1; }
      [ ! -s err.txt ] || { echo "$tool complains:"; cat err.txt; exit 1; }
      ! grep -qi 'warning' out.txt || { echo "$tool warns:"; grep -i 'warning' out.txt; exit 1; }
    done
  done
done
"$POPULUS_BIN/popc" basic.cpp -o codelets.gp
nm codelets.gp | grep -q ' [TW] __runCodelet_SumVertex$'
llvm-objdump-19 -d codelets.gp | grep -q '<__runCodelet_DotProductVertex>:'
ar p codelets.gp tile-0.o >tile.o
readelf -p .populus.vertices tile.o | grep -q '"name":"Scale"'
# The wrapped object of the host is an object for this machine.
ar p codelets.gp host-0.o >host.o
llvm-objcopy-19 --dump-section .populus.host=inner.o host.o
readelf -h inner.o | grep -q 'REL (Relocatable file)'
nm inner.o | grep -q ' [TW] __runCodelet_SumVertex$'
