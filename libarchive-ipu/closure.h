/* A closure, as the linker's own files see it (public view: populus/link.h).
 *
 *   set, roots ──closure.c──> reached sections, laid out in their groups
 *              ──relocate.c──> bytes in tile memory        (relocation.c: types and fields)
 *              ──closure_symbols.c──> names and addresses
 */
#ifndef POPULUS_CLOSURE_H
#define POPULUS_CLOSURE_H

#include "link_set.h"

typedef struct closure_section {
  uint32_t section; /* of the set */
  uint32_t root;    /* index of the root that led here first, for messages */
  uint32_t offset;  /* in its group */
  pop_link_group group;
} closure_section;

struct pop_closure {
  const pop_link_set *set;
  closure_section *sections; /* by group; within one, content before zeros, then as in the set */
  size_t num_sections, sections_capacity;
  uint32_t *slots; /* section of the set -> index in `sections`: open addressing */
  size_t slots_capacity;
  uint32_t first[POP_LINK_GROUP_COUNT + 1]; /* sections[first[g]] to [first[g + 1] - 1] */
  uint32_t bytes[POP_LINK_GROUP_COUNT];
  uint32_t align[POP_LINK_GROUP_COUNT];
};

/* NULL if the closure does not hold the section. */
const closure_section *closure_find(const pop_closure *closure, uint32_t section);

/* "undefined symbol …, needed by …, for …" and, where there is one, the way out. `function` and
 * `object` refer to the symbol; NULL if the root does so itself. */
POP_MUST_CHECK pop_error *undefined_symbol(const char *symbol, const char *function,
                                           const char *object, const char *root);

#endif
