/* What LLVM leaves in memory when it has worked, given back.
 *
 * The code and constants of its library are the file's own pages, some 50 MiB of them once a unit has been
 * compiled. Dropped from this process they stay in the system's cache, and come back one by one as they are
 * used. That is only right for segments that nobody can write: what the loader has relocated would be lost. */
#include "lift.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

static void drop_segment(const struct dl_phdr_info *library, const ElfW(Phdr) * segment)
{
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = library->dlpi_addr + segment->p_vaddr, end = start + segment->p_filesz;
  start = (start + page - 1) & ~(page - 1); /* whole pages: neighbours may share the others */
  end &= ~(page - 1);
  if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
}

static bool has_text_relocations(const struct dl_phdr_info *library)
{
  for (ElfW(Half) i = 0; i < library->dlpi_phnum; i++) {
    if (library->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *d = (const void *)(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
    for (; d->d_tag != DT_NULL; d++)
      if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
        return true;
  }
  return false;
}

static int drop_library(struct dl_phdr_info *library, size_t size, void *llvm)
{
  (void)size;
  if ((const void *)library->dlpi_addr != llvm || has_text_relocations(library)) return 0;
  for (ElfW(Half) i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W)) drop_segment(library, segment);
  }
  return 1;
}

void shrink_llvm(void)
{
  union {
    LLVMContextRef (*function)(void);
    void *address;
  } symbol = {.function = LLVMContextCreate};
  Dl_info llvm;
  if (dladdr(symbol.address, &llvm)) dl_iterate_phdr(drop_library, llvm.dli_fbase);
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
