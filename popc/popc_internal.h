/* popc: codelet sources in, a `.gp` file out.
 *
 *   command line --options.c--> settings
 *   each source  --compile.c--> two processes (child.c), tile and host, side by side; in each:
 *                  reflect.c    libclang finds the vertex types, their entries and table are
 *                               appended to the source
 *                  clang        compiles that; its diagnostics are the user's diagnostics
 *   objects      --runtime_library.c--> the members of the device library that they need
 *   all          --libcodelet--> a `.gp` file
 *
 * popc.c strings these together; cli.c is the program.
 */
#ifndef POPC_INTERNAL_H
#define POPC_INTERNAL_H

#include <populus/arena.h>
#include <populus/error.h>
#include <populus/gp.h>
#include <populus/popc.h>

/* What a command line asks for. Strings live in `arena` or are the caller's. */
typedef struct popc_settings {
  pop_arena *arena;
  const char **inputs;
  size_t num_inputs, inputs_capacity;
  const char *output;
  const char **clang; /* arguments for clang, in the order given */
  size_t num_clang, clang_capacity;
  bool verbose, help, version;
  int diagnostics_fd;    /* -1: collect them in the error's message */
  bool colour;           /* clang's diagnostics in colour */
  bool diagnostics_said; /* set when the error is explained by what went to diagnostics_fd */
} popc_settings;

/* options.c */
popc_settings *popc_settings_new(void);
void popc_settings_free(popc_settings *settings);
/* Errors: USAGE, with the nearest option. `inputs_allowed` is false for popc_options.flags. */
POP_MUST_CHECK pop_error *popc_parse_options(popc_settings *settings, size_t count,
                                             const char *const *arguments, bool inputs_allowed);
char *popc_help_text(void); /* caller frees */

/* compile.c */

typedef enum popc_target { POPC_TILE, POPC_HOST, POPC_TARGET_COUNT } popc_target;
typedef enum popc_language { POPC_C, POPC_CXX } popc_language;

/* By the name's extension; false if it is none of a codelet source. */
bool popc_language_of(const char *path, popc_language *language);

typedef struct popc_source {
  const char *path;
  popc_language language;
  const uint8_t *text; /* as it was read: all that follows is about these bytes */
  size_t size;
} popc_source;

/* arguments.c: what clang is told, without input and output. In `arena`. */
typedef struct popc_arguments {
  const char **items;
  size_t count, capacity;
} popc_arguments;
void popc_add_argument(popc_arguments *arguments, const char *text);
void popc_make_arguments(const popc_settings *settings, popc_language language, popc_target target,
                         pop_arena *arena, popc_arguments *arguments);

/* Two objects, and what clang had to say. Free with popc_objects_free. */
typedef struct popc_objects {
  uint8_t *bytes[POPC_TARGET_COUNT];
  size_t size[POPC_TARGET_COUNT];
  pop_bytes diagnostics;
} popc_objects;

/* Errors: CODELET_COMPILE (the reasons are in objects->diagnostics), SYSTEM, INTERNAL. */
POP_MUST_CHECK pop_error *popc_compile_source(popc_settings *settings, const popc_source *source,
                                              popc_objects *objects);
void popc_objects_free(popc_objects *objects);

/* reflect.c: runs in the child. */

typedef enum popc_reflection {
  POPC_REFLECTED,      /* `out` is the text to append */
  POPC_NOT_PARSED,     /* clang will say why */
  POPC_VERTEX_AT_FAULT /* `out` is diagnostics of ours */
} popc_reflection;
popc_reflection popc_reflect(const popc_source *source, popc_target target,
                             const char *const *arguments, size_t count, pop_bytes *out);

/* entries.c: the text that is appended to a source. */
typedef struct popc_vertex {
  pop_vertex_type type;
  const char *cxx_name; /* how generated C++ names the class; NULL in C */
  bool returns_void;
} popc_vertex;
void popc_write_entries(const popc_vertex *vertices, size_t count, pop_bytes *out);
/* "popops::Foo<float, true>" -> name "popops::Foo<float,true>" and symbol
 * "__runCodelet_popops__Foo___float_true" */
char *popc_vertex_name(const char *spelling);
char *popc_vertex_symbol(const char *name);

/* find_clang.c: full path in `arena`. Errors: SYSTEM. */
POP_MUST_CHECK pop_error *popc_find_clang(pop_arena *arena, const char **path);
/* The folder of that clang's own headers; NULL if there is none. */
const char *popc_resource_folder(pop_arena *arena, const char *clang);

/* runtime_library.c: adds to `builder` what the objects in `gp` need, and checks that every vertex
 * can be linked. Errors: LINK naming symbol and vertex. */
POP_MUST_CHECK pop_error *popc_add_runtime_library(const pop_gp *gp, pop_gp_builder *builder);

/* popc.c */
POP_MUST_CHECK pop_error *popc_run(popc_settings *settings, uint8_t **bytes, size_t *size);

#endif
