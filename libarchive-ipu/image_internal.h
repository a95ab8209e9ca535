/* Shared by the writer and the reader of tile images. */
#ifndef POPULUS_IMAGE_INTERNAL_H
#define POPULUS_IMAGE_INTERNAL_H

#include <populus/image.h>

/* What holds for every image, on its way out (`code` INTERNAL: our bug) and in (FILE_LOAD): memory
 * that does not wrap, segments, symbols and mappings inside it and in order, an entry in code. */
POP_MUST_CHECK pop_error *pop_image_check(const pop_image *image, pop_error_code code);

#endif
