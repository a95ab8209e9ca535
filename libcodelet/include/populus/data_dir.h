/* Where libraries and tools find the files that come with Populus. */
#ifndef POPULUS_DATA_DIR_H
#define POPULUS_DATA_DIR_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The folder that holds
 *
 *     device/include/            headers that codelets include: our own, the C library's
 *     device/include/c++/v1/     the C++ library's headers
 *     device/lib/libc.a          C library and libm for the tile
 *     device/lib/libgcc.a        the compiler's helper functions for the tile
 *     device/lib/libdevice.a     what these two lack or do in a way unfit for a tile
 *     poplibs.gp, popops.gp, …   the codelets of the graph compiler and of the libraries
 *     host-library.gp            std::sort and its like, for codelets on the CPU device
 *     populus-….so               modules that are loaded: the translator, the CPU device's linker, MPI
 *     popc-…                     programs and a library that popc starts
 *     llvm/                      the libLLVM of one of them
 *     viewer.js, viewer.css      the viewer, for pages of reports
 *
 * It is the first of these that exists:
 *
 *  1. the environment variable POPULUS_DATA_DIR (taken as it is, even if there is no such folder,
 *     so that a wrong value shows in the message about the file that is missing there; an empty one
 *     does not count);
 *  2. ../lib/populus beside the folder of the running program: the tools of a build tree and of an
 *     installation;
 *  3. populus or ../populus beside the shared library that holds this function;
 *  4. the build tree, then the installation prefix, that this library was built with.
 *
 * Returns an absolute path (except in case 1) without a slash at its end, never NULL; if none
 * exists, the last of the list, where Populus should have been installed. It is found once; the
 * string lives as long as the process. Safe to call from any thread.
 */
const char *pop_data_dir(void);

#ifdef __cplusplus
}
#endif

#endif
