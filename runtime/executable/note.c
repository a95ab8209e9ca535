/* The metadata member: an ELF file that has the metadata in notes, and nothing else.
 *
 *   ELF header | program header (PT_NOTE) | .note.populus.metadata | .symtab | .strtab | .shstrtab |
 *   section headers
 *
 *   note "Populus", type "XXH3": 8 bytes, little endian: XXH3 of the other one
 *   note "Populus", type "CBOR": the metadata (encode.c)
 *
 * Why it looks like this:
 * - It is an ELF file, so that tools for archives of objects accept it.
 * - It is an executable for the tile's machine: `strip archive.a` leaves members alone that it has
 *   no reader for, with a message.
 * - It has one symbol, of the notes, because nm complains about members without any.
 * - It has a segment for llvm-strip, which drops sections that are in no memory and in no segment.
 * - The section is not SHF_ALLOC: it is not in tile memory, and `size` should not count it.
 */
#include "executable/executable.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <xxhash.h>

static const char owner[8] = "Populus";
enum { TYPE_CBOR = 0x43424f52, TYPE_XXH3 = 0x58584833 };

static const char section_names[] = "\0.note.populus.metadata\0.symtab\0.strtab\0.shstrtab";
static const char symbol_names[] = "\0metadata\0\0"; /* a multiple of 4 bytes */
enum { NOTES = 1, SYMBOLS, SYMBOL_NAMES, NAMES, NUM_SECTIONS };
enum { NOTES_NAME = 1, SYMBOLS_NAME = 24, SYMBOL_NAMES_NAME = 32, NAMES_NAME = 40 }; /* offsets */
enum { NUM_SYMBOLS = 2, SYMBOL_BYTES = NUM_SYMBOLS * sizeof(Elf32_Sym), DIGEST_BYTES = 8 };

/* ---- writing ---- */

static void put_word(pop_bytes *out, uint32_t word)
{
  for (int i = 0; i < 4; ++i) pop_bytes_append(out, &(uint8_t){(uint8_t)(word >> 8 * i)}, 1);
}

static void pad(pop_bytes *out)
{
  static const uint8_t zeros[3];
  pop_bytes_append(out, zeros, -out->size % 4);
}

static void put_note(pop_bytes *out, uint32_t type, const void *bytes, size_t size)
{
  put_word(out, sizeof owner);
  put_word(out, (uint32_t)size);
  put_word(out, type);
  pop_bytes_append(out, owner, sizeof owner);
  pop_bytes_append(out, bytes, size);
  pad(out);
}

static void put_notes(const pop_bytes *cbor, pop_bytes *out)
{
  uint8_t digest[DIGEST_BYTES];
  uint64_t hash = XXH3_64bits(cbor->data, cbor->size);
  for (int i = 0; i < DIGEST_BYTES; ++i) digest[i] = (uint8_t)(hash >> 8 * i);
  put_note(out, TYPE_XXH3, digest, sizeof digest);
  put_note(out, TYPE_CBOR, cbor->data, cbor->size);
}

/* Appends structs in the host's byte order, converted to that of the file. */
static void put_structs(pop_bytes *out, Elf_Type type, void *structs, size_t bytes)
{
  Elf_Data data = {.d_buf = structs, .d_type = type, .d_size = bytes, .d_version = EV_CURRENT};
  elf32_xlatetom(&data, &data, ELFDATA2LSB);
  pop_bytes_append(out, structs, bytes);
}

static void put_headers(uint32_t notes_bytes, uint32_t section_headers, pop_bytes *out)
{
  uint32_t start = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
  Elf32_Ehdr header = {
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_EXEC,
      .e_machine = EM_RISCV,
      .e_version = EV_CURRENT,
      .e_phoff = sizeof header,
      .e_shoff = section_headers,
      .e_flags = EF_RISCV_FLOAT_ABI_SINGLE,
      .e_ehsize = sizeof header,
      .e_phentsize = sizeof(Elf32_Phdr),
      .e_phnum = 1,
      .e_shentsize = sizeof(Elf32_Shdr),
      .e_shnum = NUM_SECTIONS,
      .e_shstrndx = NAMES,
  };
  Elf32_Phdr segment = {
      .p_type = PT_NOTE, .p_offset = start, .p_filesz = notes_bytes, .p_flags = PF_R, .p_align = 4};
  put_structs(out, ELF_T_EHDR, &header, sizeof header);
  put_structs(out, ELF_T_PHDR, &segment, sizeof segment);
}

static void put_symbols(uint32_t notes_bytes, pop_bytes *out)
{
  Elf32_Sym symbols[NUM_SYMBOLS] = {{0},
                                    {.st_name = 1,
                                     .st_size = notes_bytes,
                                     .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                     .st_shndx = NOTES}};
  put_structs(out, ELF_T_SYM, symbols, sizeof symbols);
  pop_bytes_append(out, symbol_names, sizeof symbol_names);
}

static void put_section_headers(uint32_t notes_offset, uint32_t notes_bytes, pop_bytes *out)
{
  uint32_t symbols_offset = notes_offset + notes_bytes;
  uint32_t symbol_names_offset = symbols_offset + SYMBOL_BYTES;
  Elf32_Shdr headers[NUM_SECTIONS] = {
      [NOTES] = {.sh_name = NOTES_NAME,
                 .sh_type = SHT_NOTE,
                 .sh_offset = notes_offset,
                 .sh_size = notes_bytes,
                 .sh_addralign = 4},
      [SYMBOLS] = {.sh_name = SYMBOLS_NAME,
                   .sh_type = SHT_SYMTAB,
                   .sh_offset = symbols_offset,
                   .sh_size = SYMBOL_BYTES,
                   .sh_link = SYMBOL_NAMES,
                   .sh_info = 1,
                   .sh_addralign = 4,
                   .sh_entsize = sizeof(Elf32_Sym)},
      [SYMBOL_NAMES] = {.sh_name = SYMBOL_NAMES_NAME,
                        .sh_type = SHT_STRTAB,
                        .sh_offset = symbol_names_offset,
                        .sh_size = sizeof symbol_names,
                        .sh_addralign = 1},
      [NAMES] = {.sh_name = NAMES_NAME,
                 .sh_type = SHT_STRTAB,
                 .sh_offset = symbol_names_offset + sizeof symbol_names,
                 .sh_size = sizeof section_names,
                 .sh_addralign = 1},
  };
  put_structs(out, ELF_T_SHDR, headers, sizeof headers);
}

/* `what`: the contents of the notes, for messages. */
static pop_error *wrap(const pop_bytes *cbor, const char *what, pop_bytes *elf)
{
  pop_bytes notes = {0};
  elf_version(EV_CURRENT);
  bool fits = cbor->size < UINT32_MAX - 4096;
  if (fits) {
    uint32_t start = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
    put_notes(cbor, &notes);
    uint32_t end =
        start + (uint32_t)(notes.size + SYMBOL_BYTES + sizeof symbol_names + sizeof section_names);
    size_t first = elf->size;
    put_headers((uint32_t)notes.size, (end + 3) & ~3u, elf);
    pop_bytes_append(elf, notes.data, notes.size);
    put_symbols((uint32_t)notes.size, elf);
    pop_bytes_append(elf, section_names, sizeof section_names);
    pop_bytes_append(elf, (uint8_t[4]){0}, -(elf->size - first) % 4);
    put_section_headers(start, (uint32_t)notes.size, elf);
  }
  pop_bytes_free(&notes);
  return fits ? NULL
              : pop_error_new(POP_ERROR_GRAPH_MEMORY,
                              "the %s of the executable would be larger than 4 GiB", what);
}

pop_error *executable_save_metadata(const pop_executable *executable, const uint64_t *digests,
                                    pop_archive_writer *writer)
{
  pop_bytes cbor = {0}, elf = {0};
  executable_encode(executable, digests, &cbor);
  pop_error *error = wrap(&cbor, "metadata", &elf);
  if (!error)
    error = pop_archive_writer_add(writer, EXECUTABLE_METADATA_MEMBER, elf.data, elf.size);
  pop_bytes_free(&cbor);
  pop_bytes_free(&elf);
  return error;
}

pop_error *executable_write_profile(const executable_profile *profile, pop_bytes *elf)
{
  pop_bytes cbor = {0};
  executable_profile_encode(profile, &cbor);
  pop_error *error = wrap(&cbor, "profile", elf);
  pop_bytes_free(&cbor);
  return error;
}

/* ---- reading ---- */

typedef struct found_notes {
  const uint8_t *cbor, *digest;
  size_t cbor_size;
} found_notes;

static pop_error *take_note(const GElf_Nhdr *note, const char *name, const uint8_t *bytes,
                            found_notes *found)
{
  if (note->n_namesz != sizeof owner || memcmp(name, owner, sizeof owner) != 0) return NULL;
  const uint8_t **place = note->n_type == TYPE_CBOR ? &found->cbor
                          : note->n_type == TYPE_XXH3 && note->n_descsz == DIGEST_BYTES
                              ? &found->digest
                              : NULL;
  if (!place) return NULL;
  if (*place) return pop_error_new(POP_ERROR_FILE_LOAD, "there are metadata twice");
  *place = bytes;
  if (note->n_type == TYPE_CBOR) found->cbor_size = note->n_descsz;
  return NULL;
}

static pop_error *take_notes(Elf_Data *data, found_notes *found)
{
  GElf_Nhdr note;
  size_t name, bytes, at = 0;
  while (data && (at = gelf_getnote(data, at, &note, &name, &bytes)) > 0)
    POP_TRY(take_note(&note, (const char *)data->d_buf + name, (const uint8_t *)data->d_buf + bytes,
                      found));
  return NULL;
}

static pop_error *find_notes(Elf *elf, found_notes *found)
{
  GElf_Shdr header;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
    if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
      POP_TRY(take_notes(elf_getdata(section, NULL), found));
  if (found->cbor && found->digest) return NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "it holds no note of Populus's with metadata, or only a part of it");
}

static pop_error *check_digest(Elf *elf, found_notes *found)
{
  uint64_t digest = 0;
  POP_TRY(find_notes(elf, found));
  for (int i = 0; i < DIGEST_BYTES; ++i) digest |= (uint64_t)found->digest[i] << 8 * i;
  if (XXH3_64bits(found->cbor, found->cbor_size) == digest) return NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD, "the metadata are damaged: their digest is not %016llx",
                       (unsigned long long)digest);
}

/* Finds the notes. They are valid until the caller ends *handle (which may be NULL). */
static pop_error *unwrap(const uint8_t *elf, size_t size, Elf **handle, found_notes *found)
{
  elf_version(EV_CURRENT);
  errno = 0; /* libelf does not say so, but malloc does */
  *handle = elf_memory((char *)elf, size);
  if (!*handle && errno == ENOMEM)
    return pop_error_new(POP_ERROR_MEMORY, "no memory to look at its ELF file of %zu bytes", size);
  if (!*handle || elf_kind(*handle) != ELF_K_ELF)
    return pop_error_new(POP_ERROR_FILE_LOAD, "it is no ELF file");
  return check_digest(*handle, found);
}

pop_error *executable_read_metadata(const uint8_t *elf, size_t size, pop_executable *executable)
{
  Elf *handle;
  found_notes found = {0};
  pop_error *error = unwrap(elf, size, &handle, &found);
  if (!error) error = executable_decode(found.cbor, found.cbor_size, executable);
  elf_end(handle);
  return error;
}

pop_error *executable_read_profile(const uint8_t *elf, size_t size,
                                   const pop_executable *executable, executable_profile *profile)
{
  Elf *handle;
  found_notes found = {0};
  pop_error *error = unwrap(elf, size, &handle, &found);
  if (!error) error = executable_profile_decode(found.cbor, found.cbor_size, executable, profile);
  elf_end(handle);
  return error;
}
