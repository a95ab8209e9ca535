/* Relocatable objects from a string of bytes: sections of every kind with any alignment and size;
 * symbols inside, behind and outside of them; relocations of every type; and finally changes of
 * single fields of headers and tables. Each byte decides one thing. Bytes after the end of the
 * string count as 0, which makes a sound object. */
#ifndef POPULUS_FUZZ_OBJECT_MAKE_H
#define POPULUS_FUZZ_OBJECT_MAKE_H

#include <populus/arena.h>

typedef struct object_choices {
  const uint8_t *bytes;
  size_t size, at;
} object_choices;

/* The next choice, below `count`. */
unsigned object_choose(object_choices *choices, unsigned count);

/* Appends the object. `table` is the content of its vertex table section. The entries of the table
 * are among the symbols that the object may define. */
void object_make(object_choices *choices, const pop_bytes *table, pop_bytes *elf);

#endif
