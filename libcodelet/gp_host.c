/* The vertex table inside a host object, an ELF64 object for the host's processor. Only this file
 * looks into host objects. libelf is sound on any bytes. */
#include "gp_internal.h"

#include <populus/vertex_table.h>

#include <errno.h>
#include <gelf.h>
#include <string.h>

static Elf_Data *find_table(Elf *elf)
{
  size_t names;
  if (elf_getshdrstrndx(elf, &names) != 0) return NULL;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) return NULL;
    const char *name = elf_strptr(elf, names, header.sh_name);
    if (name && !strcmp(name, POP_VERTEX_TABLE_SECTION)) return elf_rawdata(section, NULL);
  }
  return NULL;
}

bool pop_gp_host_vertex_table(const pop_gp *gp, size_t index, pop_bytes *table)
{
  size_t size;
  const void *object = pop_gp_host_object(gp, index, &size);
  errno = 0; /* libelf has its own number for ENOMEM, which it does not tell */
  if (elf_version(EV_CURRENT) == EV_NONE) return false;
  Elf *elf = elf_memory((char *)object, size);
  const Elf_Data *data = elf ? find_table(elf) : NULL;
  bool found = data && data->d_buf;
  if (found) pop_bytes_append(table, data->d_buf, data->d_size);
  elf_end(elf);
  return found;
}
