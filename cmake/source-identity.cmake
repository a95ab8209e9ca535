# cmake -DROOT=<source folder> -DNAME=<macro> -DFILES=<list> -DOUTPUT=<header> -P source-identity.cmake
#
# Writes a hash of sources as a macro into a header. It distinguishes the outputs of different
# builds, even if both have the same version number. The list has a name below ROOT on each line.
# Equal sources have equal hashes, wherever they are.
file(STRINGS ${FILES} files)
if(NOT files)
  message(FATAL_ERROR "${NAME} would be the hash of no file")
endif()
list(SORT files)
set(hashes "")
foreach(file IN LISTS files)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 identity "${hashes}")
file(WRITE ${OUTPUT} "#define ${NAME} \"${identity}\"\n")
