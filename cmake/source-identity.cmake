# cmake -DROOT=<source folder> -DNAME=<macro> -DFILES=<list> -DOUTPUT=<header> -P source-identity.cmake
#
# A hash of sources, as a macro in a header, so that what one build made can be told from what another made, even if both
# call themselves by the same version. The list has a name below ROOT on each line; equal sources have equal hashes wherever
# they lie.
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
