/* Relocatable objects from a string of bytes: sections of every kind, with any alignment and size, symbols in them, behind
 * them and in no section, relocations of every type, and at the end single fields of headers and tables that become something
 * else. Each byte decides one thing; behind the end of the string all are 0, which makes an object that is sound. */
#ifndef POPULUS_FUZZ_OBJECT_MAKE_H
#define POPULUS_FUZZ_OBJECT_MAKE_H

#include <populus/arena.h>

typedef struct object_choices {
  const uint8_t *bytes;
  size_t size, at;
} object_choices;

/* The next choice, below `count`. */
unsigned object_choose(object_choices *choices, unsigned count);

/* Appends the object. `table` is the content of its section of vertices, whose entries are among the symbols that it may
 * define. */
void object_make(object_choices *choices, const pop_bytes *table, pop_bytes *elf);

#endif
