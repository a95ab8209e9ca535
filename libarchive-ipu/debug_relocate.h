/* Relocations of debug sections, for the two that copy these: debug_object.c and live_debug.c. */
#ifndef POPULUS_DEBUG_RELOCATE_H
#define POPULUS_DEBUG_RELOCATE_H

#include "object.h"

/* Not loaded, has content and is named `.debug_…`. */
bool debug_is_section(const object_section *section);

/* What a copy of an object's debug sections is to hold. */
typedef struct debug_copier {
  /* The copy of a debug section's content; NULL: there is none. */
  uint8_t *(*bytes)(void *context, uint32_t section);
  /* S + A of a relocation of the section that `bytes` was asked for last. */
  uint32_t (*value)(const void *context, const object_relocation *entry);
  void *context;
} debug_copier;

/* Applies all relocations of the object's debug sections. Errors: FILE_LOAD for those that are damaged
 * or have no place in debug information. */
POP_MUST_CHECK pop_error *debug_relocate(const pop_object *object, const debug_copier *copier);

#endif
