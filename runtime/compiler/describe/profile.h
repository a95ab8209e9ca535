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

/* live_ranges.c: the name of a block in profiles, in the words of the guide's summary. */
uint32_t profile_block_name(profile_maker *m, const block *b);

/* exchanged.c: the names of what each exchange moves. */
void describe_exchanged(profile_maker *m);

/* live_ranges.c: the live range of each block. */
void describe_live_ranges(profile_maker *m);

#endif
