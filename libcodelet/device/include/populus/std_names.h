// What codelets use of the C library without asking for it: size_t, memcpy and its like, in the
// global namespace and in std. <cstddef> and <cstring> hold them too, among much else, and take a
// quarter of the time that <poplar/Vertex.hpp> takes.
#ifndef POPULUS_STD_NAMES_H
#define POPULUS_STD_NAMES_H

#include <__config>
#include <stddef.h>

extern "C" {
int memcmp(const void *a, const void *b, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
size_t strlen(const char *text);
}

_LIBCPP_BEGIN_NAMESPACE_STD
using ::memcmp;
using ::memcpy;
using ::memmove;
using ::memset;
using ::ptrdiff_t;
using ::size_t;
using ::strlen;
using nullptr_t = decltype(nullptr);
_LIBCPP_END_NAMESPACE_STD

#endif
