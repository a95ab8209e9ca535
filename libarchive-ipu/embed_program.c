/* Builds a program with an archive in it from a program and an archive.
 *
 *   before   program: … | section headers
 *   after    program: … | old section headers | archive | section names | section headers
 *
 * The segments, which are the program at run time, stay in place. Three things are changed in
 * place: the ELF header points to the new section headers; the record says that there is an
 * archive; and a search path of shared libraries that begins with $ORIGIN becomes absolute, as the
 * copy will be elsewhere.
 */
#include "embed_internal.h"

#include "file_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, COPY_BYTES = 1 << 20 };

typedef struct program {
  const char *path;
  uint8_t *bytes;
  size_t size;
  Elf64_Ehdr header;
  Elf64_Shdr *sections; /* room for one more */
  char *names;          /* of sections, and behind them that of the archive's */
  size_t names_bytes;
} program;

static pop_error *unfit(const program *p, const char *problem)
{
  return pop_error_new(POP_ERROR_SYSTEM, "cannot put an archive into '%s': %s", p->path, problem);
}

static bool is_inside(const program *p, uint64_t offset, uint64_t size)
{
  return offset <= p->size && size <= p->size - offset;
}

/* ---- section headers ---- */

static pop_error *read_sections(program *p)
{
  const Elf64_Ehdr *h = &p->header;
  uint64_t bytes = (uint64_t)h->e_shnum * sizeof *p->sections;
  if (!h->e_shnum || h->e_shstrndx >= h->e_shnum || h->e_shnum >= EMBED_MAX_SECTIONS ||
      !is_inside(p, h->e_shoff, bytes))
    return unfit(p, "it has no section headers");
  p->sections = pop_xcalloc(h->e_shnum + 1u, sizeof *p->sections);
  memcpy(p->sections, p->bytes + h->e_shoff, bytes);
  for (size_t i = 0; i < h->e_shnum; i++)
    if (p->sections[i].sh_type != SHT_NOBITS &&
        !is_inside(p, p->sections[i].sh_offset, p->sections[i].sh_size))
      return unfit(p, "a section goes past its end");
  const Elf64_Shdr *names = &p->sections[h->e_shstrndx];
  if (!names->sh_size || names->sh_type != SHT_STRTAB ||
      p->bytes[names->sh_offset + names->sh_size - 1])
    return unfit(p, "its sections have no names");
  return NULL;
}

static const Elf64_Shdr *find_section(const program *p, const char *name)
{
  const Elf64_Shdr *names = &p->sections[p->header.e_shstrndx];
  for (size_t i = 1; i < p->header.e_shnum; i++) {
    const Elf64_Shdr *section = &p->sections[i];
    if (section->sh_name < names->sh_size &&
        strcmp((const char *)p->bytes + names->sh_offset + section->sh_name, name) == 0)
      return section;
  }
  return NULL;
}

/* One more section, and its name. */
static void add_section(program *p)
{
  static const char name[] = POP_EMBED_ARCHIVE_SECTION;
  Elf64_Shdr *names = &p->sections[p->header.e_shstrndx];
  p->names_bytes = names->sh_size + sizeof name;
  p->names = pop_xmalloc(p->names_bytes);
  memcpy(p->names, p->bytes + names->sh_offset, names->sh_size);
  memcpy(p->names + names->sh_size, name, sizeof name);
  p->sections[p->header.e_shnum++] = (Elf64_Shdr){
      .sh_name = (Elf64_Word)names->sh_size, .sh_type = SHT_PROGBITS, .sh_addralign = PAGE_BYTES};
  names->sh_size = p->names_bytes;
}

/* ---- changes in place ---- */

static pop_error *set_record(program *p, const char *data_dir)
{
  pop_embed_record record;
  const Elf64_Shdr *section = find_section(p, POP_EMBED_RECORD_SECTION);
  if (!section || section->sh_type != SHT_PROGBITS || section->sh_size != sizeof record)
    return unfit(p, "it is not popexec of this version");
  memcpy(&record, p->bytes + section->sh_offset, sizeof record);
  if (memcmp(record.magic, POP_EMBED_MAGIC, sizeof record.magic) != 0)
    return unfit(p, "it is not popexec of this version");
  if (record.has_archive) return unfit(p, "there is one in it already");
  record.has_archive = 1;
  if (strlen(data_dir) < sizeof record.data_dir) strcpy(record.data_dir, data_dir);
  memcpy(p->bytes + section->sh_offset, &record, sizeof record);
  return NULL;
}

/* The colon-separated `list` with the program's folder in place of $ORIGIN; "" if one of the
 * folders does not exist. The caller frees. */
static char *absolute_list(const char *list, const char *folder)
{
  static const char origin[] = "$ORIGIN";
  char *result = pop_xstrdup("");
  for (size_t length; *list; list += length + (list[length] == ':')) {
    length = strcspn(list, ":");
    bool relative = strncmp(list, origin, sizeof origin - 1) == 0;
    size_t skip = relative ? sizeof origin - 1 : 0;
    char *part = pop_xasprintf("%s%.*s", relative ? folder : "", (int)(length - skip), list + skip);
    char *real = length ? realpath(part, NULL) : NULL;
    char *longer = real ? pop_xasprintf("%s%s%s", result, *result ? ":" : "", real) : NULL;
    free(part);
    free(real);
    if (!longer) continue;
    free(result);
    result = longer;
  }
  return result;
}

static pop_error *set_search_path(program *p, char *list)
{
  char folder[PATH_MAX];
  if (!strstr(list, "$ORIGIN")) return NULL;
  if (!realpath(p->path, folder)) return unfit(p, "it is not there any more");
  *strrchr(folder, '/') = '\0';
  char *absolute = absolute_list(list, folder);
  size_t room = strlen(list);
  bool fits = strlen(absolute) <= room;
  if (fits) {
    memset(list, 0, room);
    strcpy(list, absolute);
  }
  free(absolute);
  return fits ? NULL
              : unfit(p, "the path of its shared libraries is too long: install Populus in a "
                         "folder with a shorter name");
}

static pop_error *set_search_paths(program *p)
{
  const Elf64_Shdr *dynamic = find_section(p, ".dynamic");
  if (!dynamic || dynamic->sh_type != SHT_DYNAMIC || dynamic->sh_link >= p->header.e_shnum)
    return NULL;
  const Elf64_Shdr *strings = &p->sections[dynamic->sh_link];
  if (strings->sh_type != SHT_STRTAB || !strings->sh_size ||
      p->bytes[strings->sh_offset + strings->sh_size - 1])
    return unfit(p, "its dynamic section is malformed");
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->sh_size; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    memcpy(&entry, p->bytes + dynamic->sh_offset + at, sizeof entry);
    if ((entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) &&
        entry.d_un.d_val < strings->sh_size)
      POP_TRY(set_search_path(p, (char *)p->bytes + strings->sh_offset + entry.d_un.d_val));
  }
  return NULL;
}

static pop_error *read_program(program *p, const char *data_dir)
{
  POP_TRY(pop_file_read(p->path, SIZE_MAX, &p->bytes, &p->size));
  if (!embed_is_host_elf(p->bytes, p->size, &p->header)) return unfit(p, "it is no program");
  POP_TRY(read_sections(p));
  POP_TRY(set_record(p, data_dir));
  POP_TRY(set_search_paths(p));
  add_section(p);
  return NULL;
}

/* ---- writing ---- */

pop_error *embed_align(pop_output *output, uint64_t align)
{
  return pop_output_skip(output, -pop_output_position(output) % align);
}

static pop_error *copy_file(int fd, const char *path, uint64_t size, pop_output *output)
{
  uint8_t *buffer = pop_xmalloc(COPY_BYTES);
  pop_error *error = NULL;
  for (uint64_t at = 0; at < size && !error;) {
    size_t got = 0, wanted = size - at < COPY_BYTES ? (size_t)(size - at) : COPY_BYTES;
    error = file_pread(fd, path, buffer, wanted, at, &got);
    if (!error && got < wanted)
      error = pop_error_new(POP_ERROR_FILE_LOAD, "'%s' was cut while it was read", path);
    if (!error) error = pop_output_write_sparse(output, buffer, got);
    at += got;
  }
  free(buffer);
  return error;
}

pop_error *embed_archive(const char *archive, pop_output *output, uint64_t *size)
{
  int fd = -1;
  POP_TRY(file_open_regular(archive, &fd, size));
  pop_error *error = copy_file(fd, archive, *size, output);
  close(fd);
  return error;
}

/* The ELF header is written first and depends on the archive's size. So the size is taken before
 * the archive is read. */
static pop_error *write_program(program *p, const char *archive, pop_output *output)
{
  struct stat status;
  uint64_t page = PAGE_BYTES, start = (p->size + page - 1) / page * page, size = 0;
  if (stat(archive, &status) != 0) return pop_error_errno(errno, "cannot read '%s'", archive);
  Elf64_Shdr *added = &p->sections[p->header.e_shnum - 1];
  Elf64_Shdr *names = &p->sections[p->header.e_shstrndx];
  added->sh_offset = start;
  added->sh_size = (uint64_t)status.st_size;
  names->sh_offset = start + added->sh_size;
  p->header.e_shoff = (names->sh_offset + p->names_bytes + 7) / 8 * 8;
  memcpy(p->bytes, &p->header, sizeof p->header);
  POP_TRY(pop_output_write(output, p->bytes, p->size));
  POP_TRY(embed_align(output, PAGE_BYTES));
  POP_TRY(embed_archive(archive, output, &size));
  if (size != added->sh_size)
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' has changed while it was read", archive);
  POP_TRY(pop_output_write(output, p->names, p->names_bytes));
  POP_TRY(embed_align(output, 8));
  return pop_output_write(output, p->sections, p->header.e_shnum * sizeof *p->sections);
}

static pop_error *write_output(program *p, const char *archive, const char *path)
{
  pop_output *output;
  POP_TRY(pop_output_open(path, &output));
  pop_error *error = write_program(p, archive, output);
  if (!error) error = file_make_executable(output);
  if (!error) return pop_output_commit(output);
  pop_output_abort(output);
  return error;
}

pop_error *pop_embed_in_program(const char *path, const char *archive, const char *data_dir,
                                const char *output)
{
  program p = {.path = path};
  pop_error *error = read_program(&p, data_dir);
  if (!error) error = write_output(&p, archive, output);
  free(p.bytes);
  free(p.sections);
  free(p.names);
  return error;
}
