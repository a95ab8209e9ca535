/* Shared by the files that put archives into ELF files of the host. */
#ifndef POPULUS_EMBED_INTERNAL_H
#define POPULUS_EMBED_INTERNAL_H

#include <populus/arena.h>
#include <populus/embed.h>
#include <populus/file.h>

#include <elf.h>
#include <errno.h>

/* More sections than any program has. A larger number would not fit into the header's field. */
enum { EMBED_MAX_SECTIONS = SHN_LORESERVE - 1, EMBED_ARCHIVE_ALIGN = 16 };

/* embed_program.c: appends all of the archive's file. Errors: FILE_LOAD, SYSTEM. */
POP_MUST_CHECK pop_error *embed_archive(const char *archive, pop_output *output, uint64_t *size);
/* Writes zeros until the position is a multiple of `align`. */
POP_MUST_CHECK pop_error *embed_align(pop_output *output, uint64_t align);

/* embed_find.c: the header of an ELF file of the kind that this host runs; false if it is none. */
bool embed_is_host_elf(const void *bytes, uint64_t size, Elf64_Ehdr *header);

#endif
