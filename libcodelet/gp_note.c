/* The member `populus.o`: format version and digest of a `.gp`, as an ELF note.
 *
 *   ELF header | note | symbol table | names of symbols | names of sections | section headers
 *
 *   note: "Populus", type 1, then 4 bytes format version, then 16 bytes XXH3-128 over the name,
 *         size and content of every other member
 *
 * It is an ordinary relocatable RV32 object with one symbol, so that nm, size and objdump read the
 * whole archive without a word. Everything but the two values is constant: the reader makes the
 * member once more and compares, so that no byte of it can change unnoticed.
 */
#include "gp_internal.h"

#include <elf.h>
#include <string.h>
#include <xxhash.h>

#define NOTE_OWNER "Populus"
#define NOTE_TYPE 1

typedef struct note {
  Elf32_Nhdr header;
  char owner[sizeof NOTE_OWNER];
  uint8_t version[4]; /* little-endian */
  pop_gp_digest digest;
} note;

static const char symbol_names[] = "\0populus_gp";
static const char section_names[] = "\0.note.populus\0.symtab\0.strtab\0.shstrtab";

enum { SECTION_NULL, SECTION_NOTE, SECTION_SYMBOLS, SECTION_STRINGS, SECTION_NAMES, SECTION_COUNT };

typedef struct note_object {
  Elf32_Ehdr header;
  note note;
  Elf32_Sym symbols[2];
  char strings[sizeof symbol_names];
  char names[sizeof section_names];
  char padding[3 - (sizeof symbol_names + sizeof section_names + 3) % 4];
  Elf32_Shdr sections[SECTION_COUNT];
} note_object;
_Static_assert(offsetof(note_object, sections) % 4 == 0, "section headers are aligned");

#define SECTION(name_offset, kind, member)                                                         \
  {.sh_name = (name_offset),                                                                       \
   .sh_type = (kind),                                                                              \
   .sh_offset = offsetof(note_object, member),                                                     \
   .sh_size = sizeof((note_object *)0)->member,                                                    \
   .sh_addralign = 1}

static const note_object empty_note_object = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_REL,
               .e_machine = EM_RISCV,
               .e_version = EV_CURRENT,
               .e_flags = EF_RISCV_FLOAT_ABI_SINGLE,
               .e_ehsize = sizeof(Elf32_Ehdr),
               .e_shoff = offsetof(note_object, sections),
               .e_shentsize = sizeof(Elf32_Shdr),
               .e_shnum = SECTION_COUNT,
               .e_shstrndx = SECTION_NAMES},
    .note = {.header = {sizeof NOTE_OWNER, 4 + sizeof(pop_gp_digest), NOTE_TYPE},
             .owner = NOTE_OWNER,
             .version = {POP_GP_VERSION}},
    .symbols = {{0},
                {.st_name = 1,
                 .st_size = sizeof(note),
                 .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT),
                 .st_shndx = SECTION_NOTE}},
    .sections = {[SECTION_NOTE] = SECTION(1, SHT_NOTE, note),
                 [SECTION_SYMBOLS] = SECTION(15, SHT_SYMTAB, symbols),
                 [SECTION_STRINGS] = SECTION(23, SHT_STRTAB, strings),
                 [SECTION_NAMES] = SECTION(31, SHT_STRTAB, names)},
};

void gp_note_write(pop_gp_digest digest, pop_bytes *out)
{
  note_object object = empty_note_object;
  object.note.digest = digest;
  memcpy(object.strings, symbol_names, sizeof symbol_names);
  memcpy(object.names, section_names, sizeof section_names);
  object.sections[SECTION_NOTE].sh_addralign = 4;
  object.sections[SECTION_SYMBOLS].sh_addralign = 4;
  object.sections[SECTION_SYMBOLS].sh_entsize = sizeof(Elf32_Sym);
  object.sections[SECTION_SYMBOLS].sh_link = SECTION_STRINGS;
  object.sections[SECTION_SYMBOLS].sh_info = 1; /* first symbol that is not local */
  pop_bytes_append(out, &object, sizeof object);
}

pop_error *gp_note_check(const uint8_t *bytes, size_t size, pop_gp_digest digest,
                         const char *gp_name)
{
  pop_bytes expected = {0};
  gp_note_write(digest, &expected);
  bool equal = size == expected.size && !memcmp(bytes, expected.data, size);
  pop_bytes_free(&expected);
  if (equal) return NULL;

  note found;
  if (size == sizeof(note_object)) {
    memcpy(&found, bytes + offsetof(note_object, note), sizeof found);
    uint32_t version = found.version[0] | (uint32_t)found.version[1] << 8 |
                       (uint32_t)found.version[2] << 16 | (uint32_t)found.version[3] << 24;
    if (!memcmp(found.owner, NOTE_OWNER, sizeof NOTE_OWNER) && version != POP_GP_VERSION)
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "'%s' has format version %u, this Populus reads version %d: compile the "
                           "codelets again",
                           gp_name, version, POP_GP_VERSION);
  }
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s' is damaged: its digest does not fit its content; compile the codelets "
                       "again",
                       gp_name);
}

pop_gp_digest gp_digest(const gp_member *members, size_t count)
{
  pop_gp_digest digest = {{0}};
  XXH3_state_t *state = XXH3_createState();
  if (!state) return digest; /* fits no content */
  XXH3_128bits_reset(state);
  for (size_t i = 0; i < count; ++i) {
    uint8_t size[8];
    for (int byte = 0; byte < 8; ++byte)
      size[byte] = (uint8_t)((uint64_t)members[i].size >> (8 * byte));
    XXH3_128bits_update(state, members[i].name, sizeof members[i].name);
    XXH3_128bits_update(state, size, sizeof size);
    XXH3_128bits_update(state, members[i].bytes, members[i].size);
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
  memcpy(digest.bytes, canonical.digest, sizeof digest.bytes);
  XXH3_freeState(state);
  return digest;
}
