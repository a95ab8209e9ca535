# cmake -DROOT=<source folder> -DNAME=<macro> -DOUTPUT=<header> -P source-identity.cmake
#
# A hash of sources, as a macro in a header, so that what one build made can be told from what another made, even if both
# call themselves by the same version:
#   POPULUS_COMPILER_IDENTITY    what shapes the graph compiler's output: executables in a cache
#   POPULUS_TRANSLATOR_CONTRACT  what the machine and the translator's module say to each other
set(POPULUS_COMPILER_IDENTITY)
foreach(folder libarchive-ipu libcodelet runtime/base runtime/isa runtime/graph runtime/compiler runtime/compiler/* runtime/executable)
  list(APPEND POPULUS_COMPILER_IDENTITY ${folder}/*.c ${folder}/*.h ${folder}/include/*/*.h)
endforeach()
set(POPULUS_TRANSLATOR_CONTRACT runtime/isa/*.h runtime/machine/*.h runtime/executable/tile_memory.h libarchive-ipu/include/populus/target.h)

set(files)
foreach(pattern IN LISTS ${NAME})
  file(GLOB found RELATIVE ${ROOT} ${ROOT}/${pattern})
  list(APPEND files ${found})
endforeach()
list(SORT files)
set(hashes "")
foreach(file IN LISTS files)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 identity "${hashes}")
file(WRITE ${OUTPUT} "#define ${NAME} \"${identity}\"\n")
