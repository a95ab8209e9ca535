/* Bytes wrapped in a relocatable RV32 object: one section that is not loaded, one symbol.
 *
 *   ELF header | content, padded to 4 | symbol table | names of symbols and sections | headers
 *
 * Everything in a `.gp` is an object for one machine. So every tool for that machine, disassemblers
 * included, reads the whole archive without complaint.
 */
#include "gp_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION_NULL, SECTION_CONTENT, SECTION_SYMBOLS, SECTION_NAMES, SECTION_COUNT };

typedef struct wrap_tail {
  Elf32_Sym symbols[2];
  Elf32_Shdr sections[SECTION_COUNT];
  char names[64]; /* ".symtab", ".strtab", name of the section, name of the symbol */
} wrap_tail;

static uint32_t add_name(wrap_tail *tail, size_t *used, const char *name)
{
  uint32_t offset = (uint32_t)*used;
  strcpy(tail->names + offset, name);
  *used += strlen(name) + 1;
  return offset;
}

static Elf32_Ehdr make_header(size_t tail_offset)
{
  return (Elf32_Ehdr){
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_REL,
      .e_machine = EM_RISCV,
      .e_version = EV_CURRENT,
      .e_flags = EF_RISCV_FLOAT_ABI_SINGLE,
      .e_ehsize = sizeof(Elf32_Ehdr),
      .e_shoff = (uint32_t)(tail_offset + offsetof(wrap_tail, sections)),
      .e_shentsize = sizeof(Elf32_Shdr),
      .e_shnum = SECTION_COUNT,
      .e_shstrndx = SECTION_NAMES,
  };
}

static wrap_tail make_tail(const gp_wrapping *wrapping, size_t size, size_t tail_offset)
{
  wrap_tail tail = {0};
  size_t used = 1;
  tail.symbols[1] = (Elf32_Sym){
      .st_name = add_name(&tail, &used, wrapping->symbol),
      .st_size = (uint32_t)size,
      .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT),
      .st_shndx = SECTION_CONTENT,
  };
  tail.sections[SECTION_CONTENT] = (Elf32_Shdr){
      .sh_name = add_name(&tail, &used, wrapping->section),
      .sh_type = wrapping->section_type,
      .sh_offset = sizeof(Elf32_Ehdr),
      .sh_size = (uint32_t)size,
      .sh_addralign = 4,
  };
  tail.sections[SECTION_SYMBOLS] = (Elf32_Shdr){
      .sh_name = add_name(&tail, &used, ".symtab"),
      .sh_type = SHT_SYMTAB,
      .sh_offset = (uint32_t)(tail_offset + offsetof(wrap_tail, symbols)),
      .sh_size = sizeof tail.symbols,
      .sh_link = SECTION_NAMES,
      .sh_info = 1, /* first symbol that is not local */
      .sh_addralign = 4,
      .sh_entsize = sizeof(Elf32_Sym),
  };
  tail.sections[SECTION_NAMES] = (Elf32_Shdr){
      .sh_name = add_name(&tail, &used, ".strtab"),
      .sh_type = SHT_STRTAB,
      .sh_offset = (uint32_t)(tail_offset + offsetof(wrap_tail, names)),
      .sh_size = sizeof tail.names,
      .sh_addralign = 1,
  };
  return tail;
}

static size_t tail_offset_for(size_t size)
{
  return sizeof(Elf32_Ehdr) + (size + 3) / 4 * 4;
}

void gp_wrap(const gp_wrapping *wrapping, const void *bytes, size_t size, pop_bytes *out)
{
  static const uint8_t padding[3];
  size_t tail_offset = tail_offset_for(size);
  Elf32_Ehdr header = make_header(tail_offset);
  wrap_tail tail = make_tail(wrapping, size, tail_offset);
  pop_bytes_append(out, &header, sizeof header);
  if (size) pop_bytes_append(out, bytes, size);
  pop_bytes_append(out, padding, tail_offset - sizeof header - size);
  pop_bytes_append(out, &tail, sizeof tail);
}

bool gp_unwrap(const gp_wrapping *wrapping, const uint8_t *bytes, size_t size,
               const uint8_t **content, size_t *content_size)
{
  Elf32_Ehdr header;
  wrap_tail tail;
  if (size < sizeof header + sizeof tail) return false;
  size_t tail_offset = size - sizeof tail;
  memcpy(&header, bytes, sizeof header);
  memcpy(&tail, bytes + tail_offset, sizeof tail);
  /* Everything but the content follows from its size: build it again and compare. */
  *content = bytes + sizeof header;
  *content_size = tail.sections[SECTION_CONTENT].sh_size;
  if (tail_offset_for(*content_size) != tail_offset) return false;
  Elf32_Ehdr expected_header = make_header(tail_offset);
  wrap_tail expected_tail = make_tail(wrapping, *content_size, tail_offset);
  return !memcmp(&header, &expected_header, sizeof header) &&
         !memcmp(&tail, &expected_tail, sizeof tail);
}
