/* Shared by the writer and the reader of tile images. */
#ifndef POPULUS_IMAGE_INTERNAL_H
#define POPULUS_IMAGE_INTERNAL_H

#include <populus/image.h>

#include <elf.h>

/* Which parts of `.text` are code and which may be written: one record for each segment, of three
 * words: address, bytes, PF_R | PF_W | PF_X. */
#define IMAGE_SEGMENTS_SECTION ".populus.segments"
#define IMAGE_SEGMENT_BYTES 12
#define IMAGE_SEGMENT_STATES 0x00100000 /* beside PF_R …, among the bits of PF_MASKOS */

#define IMAGE_DETAILS_SECTION ".populus.symbols"

/* The name of a file, NUL included, padded to whole words; then its CRC. GDB manual, "Debugging
 * Information in Separate Files". */
#define IMAGE_DEBUG_LINK_SECTION ".gnu_debuglink"

/* Checks the rules for every image, when it is written (`code` INTERNAL: our bug) and read
 * (FILE_LOAD): memory that does not wrap; segments, symbols and mappings inside it and in order; an
 * entry in code. */
POP_MUST_CHECK pop_error *image_verify(const pop_image *image, pop_error_code code);

/* image_details.c: the section's size; its bytes, into zeroed memory; and reading, which fills in
 * category and type of the symbols that were read from .symtab. */
bool image_measure_details(const pop_image *image, uint32_t *bytes); /* false: past its limits */
void image_put_details(const pop_image *image, uint8_t *section);
POP_MUST_CHECK pop_error *image_read_details(const uint8_t *section, uint32_t bytes,
                                             pop_image_symbol *symbols, pop_image *image);

/* image_sections.c: sections of memory, numbered from 0. In the file they are the first ones, from
 * 1 on. Their names, one NUL-terminated string each, follow those of the other sections in
 * .shstrtab, from `first_name` on. */
bool image_section_kind(const char *name, uint8_t *kind); /* false: no section of ours */
uint32_t image_num_memory_sections(const pop_image *image);
uint32_t image_section_names_bytes(const pop_image *image);
void image_put_section_names(const pop_image *image, char *names);
void image_put_memory_headers(const pop_image *image, uint32_t file_offset, uint32_t first_name,
                              Elf32_Shdr *headers);
/* The st_shndx of a symbol in the file. */
uint16_t image_section_of(const pop_image *image, uint32_t address, uint32_t size);

#endif
