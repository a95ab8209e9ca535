/* Finds the archive in a program's own file. */
#include "embed_internal.h"

#include "file_internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool embed_is_host_elf(const void *bytes, uint64_t size, Elf64_Ehdr *header)
{
  if (size < sizeof *header) return false;
  memcpy(header, bytes, sizeof *header);
  int order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
  return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_ident[EI_DATA] == order && header->e_shentsize == sizeof(Elf64_Shdr);
}

typedef struct program_file {
  const char *path;
  int fd;
  uint64_t size;
} program_file;

static pop_error *read_range(const program_file *file, uint64_t offset, void *bytes, uint64_t size)
{
  size_t got = 0;
  if (offset <= file->size && size <= file->size - offset)
    POP_TRY(file_pread(file->fd, file->path, bytes, (size_t)size, offset, &got));
  if (got == size) return NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD, "'%s': its section headers point past its end",
                       file->path);
}

static pop_error *find_section(const program_file *file, const Elf64_Ehdr *header,
                               const Elf64_Shdr *sections, bool *found, Elf64_Shdr *archive)
{
  static const char name[] = POP_EMBED_ARCHIVE_SECTION;
  const Elf64_Shdr *names = &sections[header->e_shstrndx];
  for (size_t i = 1; i < header->e_shnum && !*found; i++) {
    char text[sizeof name];
    uint64_t at = sections[i].sh_name;
    if (at >= names->sh_size || names->sh_size - at < sizeof name) continue;
    POP_TRY(read_range(file, names->sh_offset + at, text, sizeof text));
    *found = memcmp(text, name, sizeof name) == 0;
    *archive = sections[i];
  }
  return NULL;
}

static pop_error *find_in(const program_file *file, bool *found, Elf64_Shdr *archive)
{
  Elf64_Ehdr header;
  *found = false;
  POP_TRY(read_range(file, 0, &header, sizeof header));
  if (!embed_is_host_elf(&header, sizeof header, &header))
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is no program of this host", file->path);
  if (!header.e_shnum || header.e_shstrndx >= header.e_shnum) return NULL;
  Elf64_Shdr *sections = pop_xcalloc(header.e_shnum, sizeof *sections);
  pop_error *error = read_range(file, header.e_shoff, sections, header.e_shnum * sizeof *sections);
  if (!error) error = find_section(file, &header, sections, found, archive);
  free(sections);
  if (error || !*found) return error;
  if (archive->sh_offset <= file->size && archive->sh_size <= file->size - archive->sh_offset)
    return NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s' is truncated: the archive in it goes past its end", file->path);
}

pop_error *pop_embed_find(const char *program, bool *found, uint64_t *offset, uint64_t *size)
{
  program_file file = {.path = program};
  Elf64_Shdr archive = {0};
  POP_TRY(file_open_regular(program, &file.fd, &file.size));
  pop_error *error = find_in(&file, found, &archive);
  close(file.fd);
  *offset = archive.sh_offset;
  *size = archive.sh_size;
  return error;
}
