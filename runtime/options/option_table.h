/* The table of engine options, from which parsing, defaults, documentation and near matches are
 * made. To add an option, add a field to engine_options (options.h) and a line to the table
 * (option_table.c). */
#ifndef OPTIONS_OPTION_TABLE_H
#define OPTIONS_OPTION_TABLE_H

#include "options/options.h"

typedef enum option_kind {
  OPTION_BOOL,    /* bool */
  OPTION_TEXT,    /* char *, owned */
  OPTION_NUMBER,  /* uint32_t or uint64_t */
  OPTION_SECONDS, /* double */
  OPTION_CHOICE   /* int or an enumeration: the choice's number */
} option_kind;

typedef struct option_entry {
  pop_option_info info;
  unsigned stages; /* bits of option_stage */
  option_kind kind;
  uint16_t field_offset; /* in engine_options */
  uint16_t field_bytes;  /* 0: the value is checked, but not kept */
  /* NUMBER: */
  uint64_t least, greatest;
  bool or_zero;      /* 0 is allowed below `least` */
  uint32_t multiple; /* the value must be a multiple of this; 0: any */
  /* CHOICE: the words, ended by NULL. NUMBER: choices[0] is a word that stands for a number. */
  const char *const *choices;
  uint32_t word_value;  /* the number for that word; 0: none */
  bool simulator;       /* about the software IPU: allowed in POPLAR_SIMULATOR_OPTIONS */
  const char *variable; /* environment variable for this option alone, or NULL */
  bool variable_wins;   /* over the call; otherwise it only replaces the default */
} option_entry;

const option_entry *option_table(size_t *count);

/* Checks a value and stores it in `options`, unless that is NULL. `*spelt` (may be NULL) is the
 * value in its canonical spelling; the caller frees it. */
POP_MUST_CHECK pop_error *option_set(const option_entry *entry, const char *value,
                                     engine_options *options, char **spelt);

#endif
