/* Programs of bare code, as benches make them with clang and lld, as images of a tile. */
#ifndef POPULUS_BENCH_BARE_IMAGE_H
#define POPULUS_BENCH_BARE_IMAGE_H

#include <elf.h>
#include <populus/image.h>
#include <string.h>

enum { MAX_SEGMENTS = 8, MAX_FILE_BYTES = 1 << 24 };

/* The loadable segments of an executable that our own linker has just made, unchecked. */
static inline pop_image make_image(const pop_target *target, const uint8_t *file, uint8_t *memory,
                                   pop_image_segment *segments)
{
  Elf32_Ehdr header;
  memcpy(&header, file, sizeof header);
  pop_image image = {.base = target->memory_base,
                     .size = target->memory_bytes,
                     .bytes = memory,
                     .entry = header.e_entry,
                     .segments = segments};
  for (unsigned i = 0; i < header.e_phnum && image.num_segments < MAX_SEGMENTS; i++) {
    Elf32_Phdr p;
    memcpy(&p, file + header.e_phoff + i * sizeof p, sizeof p);
    if (p.p_type != PT_LOAD) continue;
    memcpy(memory + (p.p_vaddr - target->memory_base), file + p.p_offset, p.p_filesz);
    segments[image.num_segments++] = (pop_image_segment){.start = p.p_vaddr,
                                                         .size = p.p_memsz,
                                                         .writable = p.p_flags & PF_W,
                                                         .executable = p.p_flags & PF_X};
  }
  return image;
}

#endif
