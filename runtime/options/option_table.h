/* The table of engine options: for parsing, defaults, the documentation and near matches. To add one, add
 * a field to engine_options (options.h) and a line to the table (option_table.c). */
#ifndef OPTIONS_OPTION_TABLE_H
#define OPTIONS_OPTION_TABLE_H

#include "options/options.h"

typedef enum option_kind {
  OPTION_BOOL,    /* bool */
  OPTION_TEXT,    /* char *, owned */
  OPTION_NUMBER,  /* uint32_t or uint64_t */
  OPTION_SECONDS, /* double */
  OPTION_CHOICE   /* int or an enumeration: the number of the choice */
} option_kind;

typedef struct option_entry {
  pop_option_info info;
  unsigned stages; /* bits of option_stage */
  option_kind kind;
  uint16_t field_offset; /* in engine_options */
  uint16_t field_bytes;  /* 0: the value is checked and not kept */
  /* NUMBER: */
  uint64_t least, greatest;
  bool or_zero;      /* 0 may be below the least number */
  uint32_t multiple; /* of which it has to be one; 0: of none */
  /* CHOICE: the words, ended by NULL. NUMBER: one word that may stand for a number, in choices[0]: */
  const char *const *choices;
  uint32_t word_value;  /* of the word, if it is not 0 */
  bool simulator;       /* about the software IPU: POPLAR_SIMULATOR_OPTIONS may have it */
  const char *variable; /* of the environment, that has a value for this one alone; or NULL */
  bool variable_wins;   /* over the call; otherwise it takes the place of the default */
} option_entry;

const option_entry *option_table(size_t *count);

/* Checks a value and puts it into `options` (NULL: only checks). `*spelt` (may be NULL) is then the value
 * as it is always spelt; the caller's to free. */
POP_MUST_CHECK pop_error *option_set(const option_entry *entry, const char *value,
                                     engine_options *options, char **spelt);

#endif
