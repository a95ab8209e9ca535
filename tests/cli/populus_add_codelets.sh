# populus_add_codelets(): a user's project compiles codelets with an installed Populus. It compiles
# them again when a header changes, and only then. The completions and the man page are installed
# too.
set -eu

[ -x "$POPULUS_BIN/popc" ] || { echo "no popc in this build"; exit 77; }
prefix=$PWD/prefix
cmake --install "$POPULUS_BUILD_DIR" --prefix "$prefix" >install.txt
unset POPULUS_DATA_DIR

mkdir -p project/codelets
cd project
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(populus REQUIRED)
populus_add_codelets(kernels OUTPUT out/kernels.gp SOURCES codelets/a.cpp codelets/b.c FLAGS -O3 -DSTEP=2 --target ipu2,cpu)
get_target_property(file kernels POPULUS_CODELETS)
file(WRITE ${CMAKE_BINARY_DIR}/place.txt ${file})
EOF
cat >codelets/a.cpp <<'EOF'
#include "value.h"
#include <poplar/Vertex.hpp>
struct A : poplar::Vertex { poplar::Output<int> out; bool compute() { *out = VALUE * STEP; return true; } };
EOF
cat >codelets/b.c <<'EOF'
#include <populus/vertex.h>
typedef struct { OUTPUT(int) out; } B;
COMPUTE(B) { *vertex->out = STEP; return true; }
EOF
echo '#define VALUE 1' >codelets/value.h

for generator in Ninja 'Unix Makefiles'; do
  rm -rf build
  cmake -G "$generator" -S . -B build -DCMAKE_PREFIX_PATH="$prefix" >cmake.txt 2>&1 || { cat cmake.txt; exit 1; }
  cmake --build build >build.txt 2>&1 || { cat build.txt; exit 1; }
  gp=$(cat build/place.txt)
  [ "$gp" = "$PWD/build/out/kernels.gp" ]
  "$prefix/bin/popc" --list-vertices "$gp" >vertices.txt
  grep -q '^A: worker' vertices.txt
  grep -q '^B: worker' vertices.txt
  cp "$gp" before.gp
  cmake --build build >build.txt 2>&1
  ! grep -q 'popc ' build.txt || { echo "compiled again for nothing ($generator)"; exit 1; }
  sleep 1 # make compares times in seconds
  echo '#define VALUE 5' >codelets/value.h
  cmake --build build >build.txt 2>&1
  ! cmp -s "$gp" before.gp || { echo "not compiled again ($generator)"; cat build.txt; exit 1; }
  echo '#define VALUE 1' >codelets/value.h
done

[ -s "$prefix/share/bash-completion/completions/popc" ]
[ -s "$prefix/share/zsh/site-functions/_popc" ]
[ -s "$prefix/share/man/man1/popc.1" ]
