/* Shared by the writer and the reader of tile images. */
#ifndef POPULUS_IMAGE_INTERNAL_H
#define POPULUS_IMAGE_INTERNAL_H

#include <populus/image.h>

/* Which parts of `.text` are code and which may be written: one record for each segment, of three
 * words: address, bytes, PF_R | PF_W | PF_X. */
#define IMAGE_SEGMENTS_SECTION ".populus.segments"
#define IMAGE_SEGMENT_BYTES 12

#define IMAGE_DETAILS_SECTION ".populus.symbols"
/* What holds for every image, on its way out (`code` INTERNAL: our bug) and in (FILE_LOAD): memory
 * that does not wrap, segments, symbols and mappings inside it and in order, an entry in code. */
POP_MUST_CHECK pop_error *pop_image_check(const pop_image *image, pop_error_code code);

/* image_details.c: the section's size, its bytes (into zeroed memory), and the way back: fills in
 * category and type of the symbols that were read from .symtab. */
bool image_measure_details(const pop_image *image, uint32_t *bytes); /* false: past its limits */
void image_put_details(const pop_image *image, uint8_t *section);
POP_MUST_CHECK pop_error *image_read_details(const uint8_t *section, uint32_t bytes,
                                             pop_image_symbol *symbols, pop_image *image);

#endif
