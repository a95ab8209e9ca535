/* Gives back the memory that LLVM keeps after it has worked.
 *
 * Code and constants of LLVM's library are pages of its file, some 50 MiB of them once a unit has
 * been compiled. If this process drops them, they stay in the system's page cache and come back one
 * by one when they are used. That is only right for segments that are not writable: relocated data
 * would be lost. */
#include "module.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

/* `library`: its load address, at the start of a page. */
static void drop_segment(char *library, const ElfW(Phdr) * segment)
{
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = segment->p_vaddr, end = start + segment->p_filesz;
  start = (start + page - 1) & ~(page - 1); /* whole pages: neighbours may share the others */
  end &= ~(page - 1);
  if (start < end) madvise(library + start, end - start, MADV_DONTNEED);
}

static bool has_text_relocations(const char *library, const struct dl_phdr_info *info)
{
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *d = (const void *)(library + info->dlpi_phdr[i].p_vaddr);
    for (; d->d_tag != DT_NULL; d++)
      if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
        return true;
  }
  return false;
}

static int drop_library(struct dl_phdr_info *info, size_t size, void *llvm)
{
  char *library = llvm;
  (void)size;
  if (info->dlpi_addr != (uintptr_t)library) return 0;
  if (has_text_relocations(library, info)) return 1;
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
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
