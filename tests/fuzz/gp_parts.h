/* A `.gp` taken apart and put together again, for fuzzing.
 *
 * The digest stops nearly every changed byte. But the code after that check must withstand anybody
 * who can compute a digest. So the fuzzer computes one.
 */
#ifndef POPULUS_FUZZ_GP_PARTS_H
#define POPULUS_FUZZ_GP_PARTS_H

#include "gp_internal.h"

/* The members of a `.gp`, the note not among them, not parsed. */
typedef struct gp_parts {
  pop_arena *arena; /* targets */
  gp_member *members;
  size_t count, capacity;
} gp_parts;

/* False if the bytes are no archive. Targets are the note's as far as it can be read. */
bool gp_parts_take(const uint8_t *bytes, size_t size, gp_parts *parts);
void gp_parts_free(gp_parts *parts);
/* An archive of the parts with a note that fits them; the caller frees the bytes. */
void gp_parts_join(const gp_parts *parts, uint8_t **bytes, size_t *size);

#endif
