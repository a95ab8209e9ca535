/* The state of compilation_describe_profile, and the functions of its files. */
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

/* lives.c: the name of a block in profiles, in the words of the guide's summary. */
uint32_t profile_block_name(profile_maker *m, const block *b);

/* moved.c: the names of what each exchange moves. */
void describe_moved(profile_maker *m);

/* lives.c: the live range of each block. */
void describe_lives(profile_maker *m);

#endif
