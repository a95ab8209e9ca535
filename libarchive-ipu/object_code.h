/* The code of a finished object, in which popc changes words without moving them (object_steps.c,
 * object_joins.c). */
#ifndef POPULUS_OBJECT_CODE_H
#define POPULUS_OBJECT_CODE_H

#include "object.h"

#include <isa/encoding.h>

/* Marks of a section, by word: */
enum {
  CODE_JOIN = 1,      /* a join point: control may come here from elsewhere */
  CODE_RELOCATED = 2, /* linking changes it */
  CODE_HAS_STEP = 4,  /* an access that already has a step (object_steps.c) */
};

typedef struct object_code {
  pop_object *object;
  uint8_t *words; /* of a section */
  uint32_t num_words;
  uint8_t *marks;
  bool changes_rounding; /* does the object change the rounding mode in frm? */
} object_code;

/* How an instruction uses registers. */
typedef struct code_use {
  const isa_row *row;     /* NULL: no instruction, and nothing else is known */
  uint32_t reads, writes; /* integer registers, one bit each; without the base of an access */
  uint32_t float_reads, float_writes; /* the others */
  uint32_t base;                      /* of an access, else 0 */
  int32_t imm;
} code_use;

static inline uint32_t code_word(const object_code *c, uint32_t i)
{
  return relocation_get32(c->words + 4 * i);
}

code_use code_use_at(const object_code *c, uint32_t i);

/* Does the straight line end here? The next word is not reached, or not from here alone. */
bool code_ends_line(const code_use *u);

/* Calls `change` for each section with code in `bytes`, an object. Fails as pop_object_parse. */
POP_MUST_CHECK pop_error *code_change(void *bytes, size_t size, const char *name,
                                      void (*change)(object_code *c));

#endif
