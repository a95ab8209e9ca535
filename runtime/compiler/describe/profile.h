/* The state of compilation_describe_profile, and how its files call each other. */
#ifndef COMPILER_DESCRIBE_PROFILE_H
#define COMPILER_DESCRIBE_PROFILE_H

#include "compiler/compilation.h"
#include <populus/names.h>

typedef struct profile_maker {
  const compilation *c;
  executable_profile *p;
  pop_name_table names;
} profile_maker;

/* The number of a text in the profile's names; NULL: NONE. */
uint32_t profile_name(profile_maker *m, const char *text);

/* lives.c: what profiles call a block, in the words of the guide's summary. */
uint32_t profile_block_name(profile_maker *m, const block *b);

/* moved.c: what exchanges move, by name. */
void describe_moved(profile_maker *m);

/* lives.c: what is live when. */
void describe_lives(profile_maker *m);

#endif
