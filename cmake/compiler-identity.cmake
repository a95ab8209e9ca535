# cmake -DROOT=<source folder> -DOUTPUT=<header> -P compiler-identity.cmake
#
# A hash of the sources that shape what the graph compiler makes, as a header: executables in a cache that another compiler
# has made are not taken, even if both call themselves by the same version.
set(files)
foreach(folder libarchive-ipu libcodelet runtime/graph runtime/compiler runtime/executable)
  file(GLOB found RELATIVE ${ROOT} ${ROOT}/${folder}/*.c ${ROOT}/${folder}/*.h ${ROOT}/${folder}/include/*/*.h)
  list(APPEND files ${found})
endforeach()
list(SORT files)
set(hashes "")
foreach(file IN LISTS files)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 identity "${hashes}")
file(WRITE ${OUTPUT} "#define POPULUS_COMPILER_IDENTITY \"${identity}\"\n")
