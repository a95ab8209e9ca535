/* The options of popc: what they look like (option_table.c) and what they do (options.c). */
#ifndef POPC_OPTION_TABLE_H
#define POPC_OPTION_TABLE_H

#include "popc_internal.h"

typedef enum form {
  ALONE,              /* -v */
  JOINED,             /* -O2: the value follows at once, and may be empty for some */
  SEPARATE,           /* -isystem dir */
  JOINED_OR_SEPARATE, /* -Idir, -I dir */
} form;

typedef enum action {
  PASS,         /* to clang, for every target */
  PASS_TILE,    /* to clang, for tiles only: it is about the processor */
  PASS_LEVEL,   /* -O */
  FORWARD,      /* -X: the value goes to clang */
  OUTPUT,       /* name of the output file */
  TARGET,       /* what to compile for */
  LANGUAGE,     /* of the inputs that follow */
  PRODUCT,      /* what to make; `number` is a popc_product */
  COMPILE_ONLY, /* -c: a .gp is an object already; with -emit-llvm it means bitcode */
  ANSWER,       /* print something and do nothing; `number` is a popc_answer */
  JSON,
  DEPENDENCIES, /* -MD, -MMD, -MP; `number` is a popc_dependencies flag */
  DEPENDENCY_FILE,
  DEPENDENCY_TARGET, /* `number` is 1 if the name is quoted for make */
  COLOUR,            /* `number` is a popc_colour */
  COLOUR_NAMED,      /* -fdiagnostics-color=always */
  REMEDY,            /* --portable, --portable=never; `number` is a popc_remedy */
  VERBOSE,           /* show commands */
  DRY_RUN,           /* show commands, run nothing */
  QUIET,             /* no line about progress */
  SAVE_TEMPS,        /* `number` is 1 for beside the output */
  DATABASE,          /* -MJ */
  NO_CACHE,
  VECTORS, /* --vectors=never */
  REFUSE   /* it would load code into the compiler, or make something other than an object; `value`
          * is what to do instead */
} action;

typedef struct popc_option {
  const char *spelling;
  form form;
  action action;
  const char *value; /* name of the value in --help; NULL if there is none */
  const char *help;  /* NULL: not shown */
  int number;
} popc_option;

/* The option with the longest spelling that `argument` can be; NULL: there is none. */
const popc_option *popc_find_option(const char *argument);
/* USAGE, with the nearest option. */
POP_MUST_CHECK pop_error *popc_unknown_option(const char *argument);

#endif
