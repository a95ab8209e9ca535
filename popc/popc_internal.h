/* popc: codelet sources in, a `.gp` file out.
 *
 *   command line --options.c--> settings
 *   each source  --compile.c--> processes side by side (jobs.c):
 *                  popc-reflect   libclang finds the vertex types (reflect.c); their entries and
 *                                 table are appended to the source
 *                  clang          for each target, compiles that; its diagnostics are the user's
 *   objects      --runtime_library.c--> the members of the device library that they need
 *   all          --libcodelet--> a `.gp` file
 *
 * A source is compiled once for all tile targets, unless these differ for it (build.c). popc.c runs
 * the steps; cli.c is the program.
 */
#ifndef POPC_INTERNAL_H
#define POPC_INTERNAL_H

#include <populus/arena.h>
#include <populus/error.h>
#include <populus/gp.h>
#include <populus/link.h>
#include <populus/popc.h>
#include <populus/progress.h>
#include <stdatomic.h>

/* What to make. */
typedef enum popc_product {
  POPC_GP,
  POPC_PREPROCESSED,
  POPC_ASSEMBLY,
  POPC_IR,
  POPC_BITCODE,
  POPC_VERTEX_LIST,
  POPC_RULE,      /* -M: what the output would depend on */
  POPC_USER_RULE, /* -MM: without system headers */
  POPC_NOTHING,   /* -fsyntax-only: diagnostics */
  POPC_PAIRS,     /* of bitcode: bitcode with packed instructions (packed.c) */
  POPC_PROGRAM    /* --link: with -c, an object */
} popc_product;

/* Questions about popc itself. */
typedef enum popc_answer {
  POPC_NO_ANSWER,
  POPC_ANSWER_HELP,
  POPC_ANSWER_VERSION,
  POPC_ANSWER_TARGETS,
  POPC_ANSWER_CLANG_FLAGS,
  POPC_ANSWER_COMPLETION
} popc_answer;

/* remedies.c: what may make a source compile, and whether it is tried. */
typedef enum popc_remedy { POPC_PORTABLE, POPC_MUTABLE_INPUTS, POPC_NUM_REMEDIES } popc_remedy;
typedef enum popc_when {
  POPC_AUTO,
  POPC_ALWAYS,
  POPC_NEVER,
  POPC_DIVISIONS_ONLY /* not asked for: of popc-pairs only its 64-bit quotients (pairs/divide.c) */
} popc_when;

typedef enum popc_colour { POPC_COLOUR_AUTO, POPC_COLOUR_ALWAYS, POPC_COLOUR_NEVER } popc_colour;

/* Flags. */
enum {
  POPC_DEPENDENCIES = 1,
  POPC_USER_DEPENDENCIES = 2,
  POPC_PHONY_DEPENDENCIES = 4,
  POPC_MISSING_DEPENDENCIES = 8 /* -MG: files that are not there are dependencies, too */
};

typedef enum popc_target { POPC_TILE, POPC_HOST } popc_target;

/* One of the targets that are compiled for: a known one, or one that the command line describes
 * with its own flags. */
typedef struct popc_variant {
  const char *name;         /* "ipu2", "cpu", "ipu2:cpp" */
  const char *architecture; /* one of the known names */
  popc_target target;
  const char **flags; /* for clang */
  size_t num_flags;
} popc_variant;

typedef struct popc_input {
  const char *path;      /* "-": standard input */
  const char *language;  /* as -x says; NULL: by the name */
  const popc_text *text; /* what it holds, if it is no file; else NULL */
} popc_input;

/* What a command line asks for. Strings live in `arena` or are the caller's. */
typedef struct popc_settings {
  pop_arena *arena;
  popc_input *inputs;
  size_t num_inputs, inputs_capacity;
  const char *output; /* "-": standard output */
  popc_product product;
  bool compile_only, json, pretty;    /* `pretty` is JSON, too */
  bool save_temps, save_temps_beside; /* in the current folder, or beside the output */
  popc_variant *variants;             /* never empty behind popc_default_targets */
  size_t num_variants, variants_capacity;
  bool targets_chosen; /* by the command line */
  const char **clang;  /* arguments for clang, in the order given */
  size_t num_clang, clang_capacity;
  const char **clang_tile; /* for tiles only */
  size_t num_clang_tile, clang_tile_capacity;
  unsigned dependencies; /* POPC_DEPENDENCIES, … */
  const char *dependency_file;
  const char *database_file;       /* -MJ: an entry of compile_commands.json for each source */
  const char **dependency_targets; /* as make reads them */
  size_t num_dependency_targets, dependency_targets_capacity;
  bool handed_on; /* -X */
  bool no_cache;
  popc_when vectors; /* of 64 bits, as the tile's packed instructions (packed.c) */
  bool verbose, dry_run, quiet;
  pop_progress *line;      /* hidden before diagnostics are written; NULL: there is none */
  atomic_size_t num_begun; /* of the inputs */
  struct {
    popc_when when;
    bool on; /* for the current source */
  } remedies[POPC_NUM_REMEDIES];
  size_t num_empty; /* inputs of assembly that leave nothing, as the chip's do (build.c) */
  popc_answer answer;
  const char *answer_value;
  popc_colour colour_choice;
  const char *language;  /* while arguments are read: of -x */
  bool value_may_follow; /* while arguments are read: behind -X -include */
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
/* option_table.c */
char *popc_help_text(void); /* caller frees */
/* Visits all options; `help` is NULL for spellings that exist for old scripts. */
void popc_visit_options(void (*visit)(void *context, const char *spelling, const char *value,
                                      bool joined, const char *help),
                        void *context);

/* response_file.c: replaces each "@file" by the arguments in the file. Errors: USAGE. */
POP_MUST_CHECK pop_error *popc_expand_arguments(pop_arena *arena, size_t count,
                                                const char *const *arguments,
                                                const char ***expanded, size_t *num_expanded);

/* completion.c: caller frees. NULL for a shell that it does not know. */
char *popc_completion_text(const char *shell);

/* targets.c */
extern const char popc_target_list[]; /* "cpu,ipu1,ipu2,ipu21" */
/* Takes the value of --target, names or JSON. It replaces that of an earlier --target. */
POP_MUST_CHECK pop_error *popc_take_targets(popc_settings *settings, const char *value);
/* Sets the targets if the command line does not: all, or a single one for products that are made
 * for one target. Errors: USAGE if several are given where one is needed. */
POP_MUST_CHECK pop_error *popc_default_targets(popc_settings *settings);
/* The value of __IPU_ARCH_VERSION__; 0 for the host. */
unsigned popc_architecture_version(const popc_variant *variant);
bool popc_same_flags(const popc_variant *a, const popc_variant *b);

/* dependencies.c */
const char *popc_quote_for_make(pop_arena *arena, const char *name);
/* Collects what a compiler wrote ("x: a.c b.h"): each file once. */
typedef struct popc_file_list {
  char **files; /* as make reads them */
  size_t count, capacity;
} popc_file_list;
void popc_add_dependencies(popc_file_list *list, const char *rule, size_t size);
void popc_add_dependency(popc_file_list *list, const char *file);
void popc_file_list_free(popc_file_list *list);
/* The file that gets the rule beside the output; NULL: there is none. */
const char *popc_dependency_path(const popc_settings *settings);
/* Errors: SYSTEM. */
POP_MUST_CHECK pop_error *popc_write_dependencies(const popc_settings *settings,
                                                  const popc_file_list *list);

/* -M: the same rule for what settings->output would be, to settings->dependency_file or
 * `output`. */
POP_MUST_CHECK pop_error *popc_write_rule(const popc_settings *settings, const char *output,
                                          const popc_file_list *list);
bool popc_makes_rule(popc_product product);

/* compile.c */

typedef enum popc_language {
  POPC_C,
  POPC_CXX,
  POPC_ASSEMBLER_CPP, /* assembly with #include and #if */
  POPC_ASSEMBLER,
  POPC_LLVM_IR, /* text or bitcode */
  POPC_GP_FILE
} popc_language;

/* By the name's extension; false if no input has it. */
bool popc_language_of(const char *path, popc_language *language);
/* By the name that -x takes. */
bool popc_language_named(const char *name, popc_language *language);
/* The name for clang's -x. */
const char *popc_language_name(popc_language language);
/* C and C++: libclang reads it, it may hold vertices. */
bool popc_is_codelet_language(popc_language language);

typedef struct popc_source {
  const char *path;
  popc_language language;
  const uint8_t *text; /* as it was read: all that follows is about these bytes */
  size_t size;
  bool is_stream; /* from standard input, or made by us: there is no file of that name */
  char *
      folder; /* of a file that clang gets as a stream: where it finds what it includes in quotes; NULL: it knows */
} popc_source;

/* dependencies.c: what compiling the source has read. clang does not name a file that it gets as a
 * stream, as assembly without a preprocessor and IR. */
void popc_add_dependencies_of(const popc_settings *settings, const popc_source *source,
                              const pop_bytes *rule, popc_file_list *list);

/* arguments.c: what clang is told, without input and output. In `arena`. */
typedef struct popc_arguments {
  const char **items;
  size_t count, capacity;
} popc_arguments;
void popc_add_argument(popc_arguments *arguments, const char *text);
void popc_make_arguments(const popc_settings *settings, popc_language language,
                         const popc_variant *variant, pop_arena *arena, popc_arguments *arguments);

/* What one compilation gives. */
typedef struct popc_result {
  uint8_t *bytes;
  size_t size;
  pop_bytes dependencies; /* a rule for make, if the settings ask for one */
} popc_result;

#define POPC_MAX_JOBS 8

/* Compiles one source for `count` variants (at most POPC_MAX_JOBS) side by side;
 * `results` are parallel to them. Errors: CODELET_COMPILE (the reasons are in
 * `diagnostics`), SYSTEM, INTERNAL. */
POP_MUST_CHECK pop_error *popc_compile_source(popc_settings *settings, const popc_source *source,
                                              popc_product product,
                                              const popc_variant *const *variants, size_t count,
                                              popc_result *results, pop_bytes *diagnostics);
void popc_results_free(popc_result *results, size_t count);

/* diagnostic.c: messages in clang's form. */
typedef enum popc_severity { POPC_ERROR, POPC_WARNING, POPC_NOTE } popc_severity;
typedef struct popc_place {
  const char *path;
  unsigned line, column; /* from 1; 0: not known */
  const char *text;      /* from the start of the line on; NULL: not shown */
  size_t text_size;
} popc_place;
/* Appends text that anybody may have made, with what could control a terminal as "\x1b"; colours
 * stay if they are wanted. */
void popc_append_printable(pop_bytes *out, const void *bytes, size_t size, bool with_colours);
void popc_print_diagnostic(pop_bytes *out, bool colour, popc_severity severity,
                           const popc_place *place, const char *message);
/* "walk.cpp:7", as the vertex table has it; its path is in the arena. */
popc_place popc_vertex_place(const pop_vertex_type *type, pop_arena *arena);

/* remedies.c: popc_compile_source, and a second try with a remedy if that fails. A remedy that
 * helped stays on until the next source begins. */
void popc_begin_remedies(popc_settings *settings);
/* The first: are the assembler's errors about the chip's registers, and is the portable path
 * allowed? The second adds the note if that path helped. */
bool popc_is_chip_assembly(const popc_settings *settings, const pop_bytes *diagnostics,
                           size_t from);
void popc_note_left_out_assembly(const popc_settings *settings, const popc_source *source,
                                 pop_bytes *diagnostics);
POP_MUST_CHECK pop_error *popc_compile_with_remedies(popc_settings *settings,
                                                     const popc_source *source,
                                                     popc_product product,
                                                     const popc_variant *const *variants,
                                                     size_t count, popc_result *results,
                                                     pop_bytes *diagnostics);

/* ipu_macros.c: does the text mention what differs between IPUs? */
bool popc_mentions_architecture(const void *text, size_t size);

/* vectors.c: may the text have vectors of 64 bits? */
bool popc_mentions_vectors(const void *text, size_t size);
/* The mark in objects of sources that include such texts. */
#define POPC_VECTORS_SECTION ".populus.vectors"

/* warning_filter.c: warnings of clang that mean something else here. The first function runs before
 * clang: it adds flags and returns whether promotions to double are errors. The second removes from
 * clang's diagnostics what does not count, and returns whether an error remains. */
typedef struct popc_compile_outcome {
  popc_target target;
  bool promotions_are_errors;
  const uint8_t *product; /* what clang made; NULL if it failed */
  size_t size;
} popc_compile_outcome;
bool popc_add_warning_flags(popc_arguments *arguments, popc_target target);
bool popc_filter_warnings(const popc_source *source, const popc_compile_outcome *outcome,
                          pop_bytes *diagnostics);
/* Is one of them an error? Warnings do not explain an error that was found behind them. */
bool popc_hold_error(const pop_bytes *diagnostics);

/* reproducer.c: adds to the error of a crashed compiler how to reproduce the crash. */
pop_error *popc_add_reproducer(popc_settings *settings, const popc_source *source,
                               const popc_variant *variant, pop_error *crash);

/* build.c: for every target, into `builder`. */
#define POPC_ARCHITECTURE_SECTION ".populus.arch"
#if defined(__x86_64__)
#define POPC_HOST_ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define POPC_HOST_ARCHITECTURE "aarch64"
#else
#error "name the host's processor here"
#endif
POP_MUST_CHECK pop_error *popc_build_source(popc_settings *settings, const popc_source *source,
                                            pop_gp_builder *builder, popc_file_list *dependencies,
                                            pop_bytes *diagnostics);

/* output.c: "-" is standard output. Errors: SYSTEM. */
bool popc_is_standard_output(const char *path);
/* "folder/codelets.cpp" -> "codelets.gp" in the current folder; "codelets" without an extension. */
const char *popc_default_output(const popc_settings *settings, const char *extension);
POP_MUST_CHECK pop_error *popc_write_file(const char *path, const void *bytes, size_t size);

/* temporaries.c */
POP_MUST_CHECK pop_error *popc_save_temporaries(popc_settings *settings, const popc_source *source,
                                                const popc_variant *variant,
                                                const popc_result *object);

/* compile_database.c: appends the source's entry, and a comma. Errors: SYSTEM. */
POP_MUST_CHECK pop_error *popc_put_database_entry(popc_settings *settings,
                                                  const popc_source *source, pop_bytes *out);

/* list_vertices.c: as text or JSON; caller frees. Errors: LINK. */
POP_MUST_CHECK pop_error *popc_list_vertices(pop_gp *gp, bool json, bool pretty, char **text);

/* reflect.c: runs in popc-reflect (reflector.c). */

typedef enum popc_reflection {
  POPC_REFLECTED,      /* `out` is the text to append */
  POPC_NOT_PARSED,     /* clang will say why; `out` is what libclang says */
  POPC_VERTEX_AT_FAULT /* `out` is diagnostics of ours */
} popc_reflection;
popc_reflection popc_reflect(const popc_source *source, popc_target target,
                             const char *const *arguments, size_t count, pop_bytes *out);

/* entries.c: the text that is appended to a source. */
typedef struct popc_vertex {
  pop_vertex_type type;
  const char *cxx_name; /* how generated C++ names the class; NULL in C */
  const char *alias;    /* generated C++: defines cxx_name; or NULL */
  const char *checks;   /* generated C++: that inherited fields are where the type says; or NULL */
  bool returns_void;
  bool jumps; /* the entry calls compute() instead of holding a copy of it */
} popc_vertex;
void popc_write_entries(const popc_vertex *vertices, size_t count, pop_bytes *out);
/* "popops::Foo<float, true>" -> "popops::Foo<float,true>"; half and float2 have these names. */
char *popc_vertex_name(const char *spelling);

/* find_clang.c: full path in `arena`. Errors: SYSTEM. */
POP_MUST_CHECK pop_error *popc_find_clang(pop_arena *arena, const char **path);
/* The library that lets one clang do several jobs (fork/fork.c); NULL if this clang must not
 * load it. */
const char *popc_fork_library(pop_arena *arena, const char *clang);
/* The folder of that clang's own headers; NULL if there is none. */
const char *popc_resource_folder(pop_arena *arena, const char *clang);

/* Where the objects of a target come from, for messages. */
typedef struct popc_origin {
  popc_settings *settings;
  const popc_source *sources; /* those of this run */
  size_t num_sources;
  const char *target;
} popc_origin;

/* runtime_library.c: adds to `builder` what the objects in `gp` need, and checks that every vertex
 * can be linked. Errors: LINK naming symbol and vertex. A symbol that another codelet file may
 * define gives a warning instead. */
POP_MUST_CHECK pop_error *popc_add_runtime_library(const pop_gp *gp, const popc_origin *origin,
                                                   pop_gp_builder *builder, pop_bytes *warnings);

/* vertex_sizes.c: `all` is what all vertices of `gp` need together. CODELET_COMPILE for a vertex
 * that needs more than a tile has. */
POP_MUST_CHECK pop_error *popc_check_vertex_sizes(const pop_link_set *set, const pop_gp *gp,
                                                  const pop_live_sections *all,
                                                  const popc_origin *origin);

/* stack_warnings.c: warnings about vertices whose stack is unknown or stated wrongly, for the first
 * target that has any: the others have the same. */
POP_MUST_CHECK pop_error *popc_warn_of_stacks(const pop_link_set *set, const pop_gp *gp,
                                              const popc_origin *origin, pop_bytes *warnings);

/* source_places.c: which line of a source made an instruction. */
typedef struct popc_source_places popc_source_places;
popc_source_places *popc_source_places_new(const popc_origin *origin);
void popc_source_places_free(popc_source_places *places);
/* The object's debug information; without any, that of its source compiled again. NULL if no source
 * gives the same code. `section` becomes the section's number there. */
const pop_debug_info *popc_find_debug_info(popc_source_places *places, const pop_object *object,
                                           uint32_t *section);
/* The line's text, if it can be found, goes into `place`. */
void popc_find_text(popc_source_places *places, popc_place *place);

/* input.c: reads a source; its language comes from -x or from `path`. Free it. */
POP_MUST_CHECK pop_error *popc_read_source(const popc_input *input, popc_source *source);
void popc_source_free(popc_source *source);
/* Is /proc mounted, by which a program reopens its own descriptors? */
bool popc_descriptors_have_names(void);

/* link.c: the one input, an archive, becomes settings->output. Errors: USAGE; FILE_LOAD in
 * popexec's words; SYSTEM. */
POP_MUST_CHECK pop_error *popc_link(const popc_settings *settings);

/* popc.c: does the command line say -w? */
bool popc_no_warnings(const popc_settings *settings);
/* popc.c: with settings->output NULL, bytes and size receive the `.gp`; otherwise writes. */
POP_MUST_CHECK pop_error *popc_run(popc_settings *settings, uint8_t **bytes, size_t *size);

#endif
