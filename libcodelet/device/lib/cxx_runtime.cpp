// The compiled parts of the C++ run-time library that codelets use. A tile has no heap. So plain
// operator new is missing on purpose: a std::vector is a link error that names it. The nothrow form
// returns null (std::stable_sort then works in place).
#include <__verbose_abort>
#include <new>

const std::nothrow_t std::nothrow{};

void *operator new(std::size_t, const std::nothrow_t &) noexcept
{
  return nullptr;
}
void *operator new[](std::size_t, const std::nothrow_t &) noexcept
{
  return nullptr;
}

void *operator new(std::size_t, std::align_val_t, const std::nothrow_t &) noexcept
{
  return nullptr;
}
void *operator new[](std::size_t, std::align_val_t, const std::nothrow_t &) noexcept
{
  return nullptr;
}

// Called only for null and, through virtual destructors, for objects that were never allocated.
void operator delete(void *) noexcept {}
void operator delete[](void *) noexcept {}
void operator delete(void *, std::size_t) noexcept {}
void operator delete[](void *, std::size_t) noexcept {}
void operator delete(void *, const std::nothrow_t &) noexcept {}
void operator delete[](void *, const std::nothrow_t &) noexcept {}
void operator delete(void *, std::align_val_t) noexcept {}
void operator delete(void *, std::size_t, std::align_val_t) noexcept {}

// libc++ calls it instead of throwing an exception.
_LIBCPP_BEGIN_NAMESPACE_STD
void __libcpp_verbose_abort(const char *, ...)
{
  __builtin_trap();
}
_LIBCPP_END_NAMESPACE_STD

extern "C" void __cxa_pure_virtual()
{
  __builtin_trap();
}

// In tables of classes with a deleted virtual function. It cannot be called.
extern "C" void __cxa_deleted_virtual()
{
  __builtin_trap();
}

// Destructors of objects with static storage never run: a tile's program has no end.
extern "C" int __cxa_atexit(void (*)(void *), void *, void *)
{
  return 0;
}
extern "C" {
void *__dso_handle = nullptr;
}
