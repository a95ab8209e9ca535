# An installation works from any folder. popc finds its data beside itself. A user's program builds
# against the installation through pkg-config and through CMake. In the build with sanitizers the
# libraries are shared (CMakePresets.json).
set -eu

[ -x "$POPULUS_BIN/popc" ] || { echo "no popc in this build"; exit 77; }
prefix=$PWD/prefix
cmake --install "$POPULUS_BUILD_DIR" --prefix "$prefix" >install.txt
unset POPULUS_DATA_DIR

cat >user.c <<'EOF'
#include <populus/data_dir.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
  puts(pop_data_dir());
  return strlen(pop_data_dir()) == 0;
}
EOF

cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(populus REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE populus::populus)
if(NOT TARGET populus::popc)
  message(FATAL_ERROR "no populus::popc")
endif()
EOF
# A library that is missing is an error only for projects that need Populus.
mkdir optional
cat >optional/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(populus QUIET)
message(STATUS "found: ${populus_FOUND}: ${populus_NOT_FOUND_MESSAGE}")
find_package(populus REQUIRED)
EOF
if PKG_CONFIG_LIBDIR=$PWD cmake -G Ninja -S optional -B optional-build -DCMAKE_PREFIX_PATH="$prefix" >cmake.txt 2>&1; then
  cat cmake.txt
  exit 1
fi
grep -q '^-- found: 0: pkg-config does not find libelf' cmake.txt || { cat cmake.txt; exit 1; }
# popc-reflect's small libLLVM is installed too, and popc-reflect loads that one.
if [ -d "$POPULUS_BUILD_DIR/lib/populus/llvm" ]; then
  ldd prefix/lib/populus/popc-reflect | grep -q "$prefix.*/llvm/libLLVM" || { ldd prefix/lib/populus/popc-reflect; exit 1; }
fi
# Users' programs do not link libLLVM: only modules that are loaded at run time need it. GNU ld
# would take more than a second to read it.
if grep -rIl --include='lib*.so' --include='*.pc' --include='*.cmake' LLVM prefix; then exit 1; fi
# The public headers include only headers that are installed with them.
(cd prefix/include && ls populus/*.h) | sed 's/.*/#include <&>/' >headers.c
cc -std=c17 -Iprefix/include -fsyntax-only headers.c
if grep -E 'populus/(arena|cache_folder)\.h' headers.c; then exit 1; fi
# populus.h is all of Populus for a host program.
echo '#include <populus/populus.h>' >all.c
cc -std=c17 -Iprefix/include -MM all.c | tr ' ' '\n' >included
for header in "$POPULUS_SOURCE_DIR"/runtime/include/populus/*.h; do
  grep -q "/populus/${header##*/}\$" included || { echo "populus.h lacks ${header##*/}"; exit 1; }
done
sanitizers=${POPULUS_SANITIZE:+-fsanitize=$POPULUS_SANITIZE}
cmake -G Ninja -S . -B cmake-build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$sanitizers" >cmake.txt 2>&1 ||
  { cat cmake.txt; exit 1; }
cmake --build cmake-build >build.txt 2>&1 || { cat build.txt; exit 1; }
cmake-build/user

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name populus.pc)")
export PKG_CONFIG_PATH
# pkg-config does not quote paths for the shell, so the rest of the test needs a prefix without
# blanks.
case $prefix in *' '*) exit 0 ;; esac
# CMake sets the run path of shared libraries; other builds must pass it.
rpath=
libraries=$(dirname "$(find "$prefix" -name libpoplar.so)")
[ ! -e "$libraries/libpopulus.so" ] || rpath=-Wl,-rpath,$libraries
# shellcheck disable=SC2046,SC2086 # words
cc $sanitizers $rpath user.c -o user $(pkg-config --cflags --libs populus)
./user

"$prefix/bin/popc" --version
printf '%s\n' '#include <populus/vertex.h>' 'typedef struct { OUTPUT(float) out; } One;' \
  'COMPUTE(One) { *vertex->out = 1; return true; }' >one.c
"$prefix/bin/popc" one.c -o one.gp
[ -s one.gp ]

# Completion: bash finds the completion by the program's name, and it completes the program's
# options.
for tool in popexec gc-info popsize popview pophlo poprun; do
  [ -s "prefix/share/zsh/site-functions/_populus" ] && grep -q " $tool" prefix/share/zsh/site-functions/_populus
  words=$(PATH="$prefix/bin:$PATH" bash -c ". \"\$1\"; complete -p $tool >&2; _populus_tool $tool --versi; echo \${COMPREPLY[*]}" bash \
    "prefix/share/bash-completion/completions/$tool" 2>complete.txt)
  [ "$words" = --version ] || { echo "$tool completes '$words'"; exit 1; }
  grep -q "_populus_tool $tool" complete.txt
  # Options of other programs, which its help mentions, are not its own.
  words=$(PATH="$prefix/bin:$PATH" bash -c ". \"\$1\"; _populus_tool $tool --; echo \${COMPREPLY[*]}" bash \
    "prefix/share/bash-completion/completions/$tool")
  case " $words " in *' --tag-output '* | *' --xla '*) echo "$tool completes '$words'"; exit 1 ;; esac
done

# Completions are in the package of the programs (cmake/populus-packages.cmake). The package of the
# libraries may be installed beside that of another version.
for component in tools library; do
  cmake --install "$POPULUS_BUILD_DIR" --component $component --prefix "$PWD/$component" >install.txt
done
for tool in popc popexec gc-info popsize popview pophlo poprun; do
  [ -s "tools/share/bash-completion/completions/$tool" ] || { echo "no completion of $tool among the tools"; exit 1; }
done
[ ! -e library/share/bash-completion ] && [ ! -e library/share/zsh ] || { find library/share; exit 1; }

# The installed popc makes programs of archives. Such a program finds its libraries from any folder.
"$POPULUS_BUILD_DIR/tests/support/small_archive" small.a
"$prefix/bin/popc" --link small.a -o app
mkdir far
mv app far
far/app --run scale --read out=out.bin
[ "$(wc -c <out.bin)" = 12 ]
"$prefix/bin/popc" --link -c small.a -o linked.o
cat >linked.c <<'EOF'
#include <populus/populus.h>
#include <stdint.h>
#include <string.h>
#include "linked.h"

int main(void)
{
  const uint16_t ones_to_sixes[6] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
  const uint16_t doubled[6] = {0x4000, 0x4400, 0x4600, 0x4800, 0x4900, 0x4a00};
  uint16_t out[6];
  pop_engine *engine;
  pop_error *error = pop_engine_create_from_memory(pop_archive_linked, pop_archive_linked_size, "linked", NULL, 0, &engine);
  if (!error) error = pop_engine_load(engine);
  if (!error) error = pop_engine_write_tensor(engine, "in", ones_to_sixes, sizeof ones_to_sixes);
  if (!error) error = pop_engine_run(engine, 0);
  if (!error) error = pop_engine_read_tensor(engine, "out", out, sizeof out);
  if (error) puts(pop_error_message(error));
  if (error) return 1;
  pop_engine_free(engine);
  return memcmp(out, doubled, sizeof out) != 0;
}
EOF
rm small.a
# shellcheck disable=SC2046,SC2086 # words
cc $sanitizers $rpath linked.c linked.o -o linked $(pkg-config --cflags --libs populus)
./linked

# Existing C++ programs link the library names that they know, and their build files find the
# package names that they know.
command -v g++ >/dev/null || exit 0
cat >program.cpp <<'EOF'
#include <iostream>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

int main()
{
  poplar::IPUModel model;
  poplar::Device device = model.createDevice();
  poplar::Graph graph(device);
  poplar::Tensor tensor = graph.addVariable(poplar::INT, {2}, "tensor");
  graph.setTileMapping(tensor, 0);
  graph.setInitialValue(tensor, 7);
  poplar::Engine engine(graph, poplar::program::PrintTensor("tensor", tensor));
  engine.setPrintStream(std::cout);
  engine.load(device);
  engine.run();
}
EOF
# shellcheck disable=SC2086 # words
g++ $sanitizers $rpath -std=c++11 program.cpp -I"$prefix/include" -L"$libraries" -lpoplar -o program
[ "$(./program)" = 'tensor: {7,7}' ]
# shellcheck disable=SC2046,SC2086 # words
g++ $sanitizers $rpath program.cpp -o program $(pkg-config --cflags --libs poplar)
[ "$(./program)" = 'tensor: {7,7}' ]
mkdir cxx
cat >cxx/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(poplar REQUIRED)
find_package(poplibs REQUIRED)
add_executable(program ../program.cpp)
target_link_libraries(program PRIVATE poplar popops poplin poputil)
get_target_property(popc popc_bin LOCATION)
execute_process(COMMAND ${popc} --version COMMAND_ERROR_IS_FATAL ANY)
# Tests as the original libraries have them.
find_package(GCCS REQUIRED)
list(APPEND CMAKE_MODULE_PATH ${GCCS_CMAKE_DIR})
include(AddSystemTest)
enable_testing()
add_multitarget_test(NAME holds COMMAND sh -c "test $0$1 = --device-typeIpuModel2" VARIANTS IpuModel2)
add_multitarget_test(NAME is_skipped COMMAND sh -c "exit 77" VARIANTS IpuModel2 ALLOW_SKIP)
EOF
# A project that is told where its packages are finds what lies beside them.
packages=$(find "$prefix" -type d -path '*/cmake/poplar')
packages=${packages%/poplar}
cmake -G Ninja -S cxx -B told-build -Dpoplibs_DIR="$packages/poplibs" -Dpoplar_DIR="$packages/poplar" \
  -DGCCS_DIR="$packages/GCCS" >cmake.txt 2>&1 || { cat cmake.txt; exit 1; }
cmake -G Ninja -S cxx -B cxx-build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$sanitizers" >cmake.txt 2>&1 ||
  { cat cmake.txt; exit 1; }
cmake --build cxx-build >build.txt 2>&1 || { cat build.txt; exit 1; }
[ "$(cxx-build/program)" = 'tensor: {7,7}' ]
(cd cxx-build && ctest) >ctest.txt 2>&1 || { cat ctest.txt; exit 1; }
grep -q 'IpuModel2_default_holds .* Passed' ctest.txt && grep -q 'IpuModel2_default_is_skipped .*Skipped' ctest.txt ||
  { cat ctest.txt; exit 1; }
