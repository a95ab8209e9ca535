/* Objects and links, for every fuzz target that has some. */
#ifndef POPULUS_FUZZ_USE_OBJECTS_H
#define POPULUS_FUZZ_USE_OBJECTS_H

#include <populus/link.h>

/* Reads all that an object tells. */
void use_object(const pop_object *object);
/* From each of the symbols: live sections, relocated into memory of just its size; stack. */
void use_entries(const pop_link_set *set, const char *const *symbols, size_t count);
/* A link set with what the compiler defines. */
pop_link_set *new_link_set(void);

#endif
