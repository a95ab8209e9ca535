/* The options of popc in one table: parsing, --help, completion and the guess at a misspelling come
 * from it. */
#include "option_table.h"

#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

/* What to do instead of giving an option that is refused. */
#define NO_LINKER "what a codelet needs is linked when a graph is compiled"
#define NO_LIBRARIES                                                                               \
  "give sources, or .gp files that were compiled before; the C and C++ libraries are there"
#define NO_CODE "it would load code into the compiler"
#define OWN_HEADERS "a tile has C and C++ headers of its own"
#define CHOSEN_BY_TARGET "the processor is chosen by --target"

static const popc_option options[] = {
    {"-o", JOINED_OR_SEPARATE, OUTPUT, "<file>", "Write here; - is standard output", 0},
    {"--target=", JOINED, TARGET, "<list>", "Compile for these, e.g. ipu1,ipu2,cpu (default: all)",
     0},
    {"--target", SEPARATE, TARGET, "<list>", NULL, 0},
    {"-target=", JOINED, TARGET, "<list>", NULL, 0},
    {"-target", SEPARATE, TARGET, "<list>", NULL, 0},
    {"-x", JOINED_OR_SEPARATE, LANGUAGE, "<language>",
     "Language of the inputs behind it: c, c++, assembler, assembler-with-cpp, ir, gp, none", 0},
    {"-D", JOINED_OR_SEPARATE, PASS, "<macro>[=<value>]", "Define a macro", 0},
    {"-U", JOINED_OR_SEPARATE, PASS, "<macro>", "Undefine a macro", 0},
    {"-I", JOINED_OR_SEPARATE, PASS, "<folder>", "Search it for included files", 0},
    {"-isystem", SEPARATE, PASS, "<folder>", "The same, and do not warn about what is in there", 0},
    {"-iquote", SEPARATE, PASS, "<folder>", "Search it for files included in quotes", 0},
    {"-idirafter", SEPARATE, PASS, "<folder>", "Search it behind all others", 0},
    {"-include", SEPARATE, PASS, "<file>", "Include a file before the source", 0},
    {"-imacros", SEPARATE, PASS, "<file>", "Take the macros of a file before the source", 0},
    {"-O", JOINED, PASS_LEVEL, "<level>", "Optimise: 0, 1, 2, 3, s, z (default: 2)", 0},
    {"-g", JOINED, PASS, "<level>", "Make debug information (-g0: none)", 0},
    {"-std=", JOINED, PASS, "<standard>", "Language standard (default: gnu17, c++17)", 0},
    {"-W", JOINED, PASS, "<warning>", "Warn about something, as clang does", 0},
    {"-w", ALONE, PASS, NULL, "No warnings", 0},
    {"-pedantic", ALONE, PASS, NULL, "Warn about extensions of the language", 0},
    {"-pedantic-errors", ALONE, PASS, NULL, "Refuse extensions of the language", 0},
    {"-f", JOINED, PASS, "<feature>", "Switch something in clang on (-fno-: off)", 0},
    {"-m", JOINED, PASS_TILE, "<feature>", "The same, of the tile's processor", 0},
    {"-Qunused-arguments", ALONE, PASS, NULL, "No warnings about options without effect", 0},
    {"-X", SEPARATE, FORWARD, "<argument>", "Hand one argument to clang", 0},
    {"-c", ALONE, COMPILE_ONLY, NULL, "Make no program: taken as a compiler takes it", 0},
    {"-E", ALONE, PRODUCT, NULL, "Only preprocess", POPC_PREPROCESSED},
    {"-C", ALONE, PASS, NULL, "With -E: keep comments", 0},
    {"-P", ALONE, PASS, NULL, "With -E: no line markers", 0},
    {"-S", ALONE, PRODUCT, NULL, "Make assembly, for one target", POPC_ASSEMBLY},
    {"-emit-llvm", ALONE, PRODUCT, NULL, "Make LLVM IR, for one target (with -c: bitcode)",
     POPC_IR},
    {"--emit-llvm", ALONE, PRODUCT, NULL, NULL, POPC_IR},
    {"-MD", ALONE, DEPENDENCIES, NULL, "Also write what the output depends on, for make",
     POPC_DEPENDENCIES},
    {"-MMD", ALONE, DEPENDENCIES, NULL, "The same without system headers",
     POPC_DEPENDENCIES | POPC_USER_DEPENDENCIES},
    {"-MF", JOINED_OR_SEPARATE, DEPENDENCY_FILE, "<file>",
     "Write that here (default: the output's name with .d)", 0},
    {"-MT", JOINED_OR_SEPARATE, DEPENDENCY_TARGET, "<name>", "What depends, as written", 0},
    {"-MQ", JOINED_OR_SEPARATE, DEPENDENCY_TARGET, "<name>", "What depends, quoted for make", 1},
    {"-MP", ALONE, DEPENDENCIES, NULL, "An empty rule for every header", POPC_PHONY_DEPENDENCIES},
    {"-M", ALONE, PRODUCT, NULL, "Only print that, and compile nothing", POPC_RULE},
    {"-MM", ALONE, PRODUCT, NULL, "The same without system headers", POPC_USER_RULE},
    {"-MG", ALONE, DEPENDENCIES, NULL, "With -M, -MM: headers that are not there will be made",
     POPC_MISSING_DEPENDENCIES},
    {"-MJ", JOINED_OR_SEPARATE, DATABASE, "<file>",
     "Also write an entry of compile_commands.json for each source", 0},
    {"-fsyntax-only", ALONE, PRODUCT, NULL, "Only check: diagnostics, no output", POPC_NOTHING},
    {"--link", ALONE, PRODUCT, NULL,
     "Make a program of an archive of tile images (with -c: an object and a header)", POPC_PROGRAM},
    {"--list-vertices", ALONE, PRODUCT, NULL, "Print the vertices of the inputs and their fields",
     POPC_VERTEX_LIST},
    {"--json", ALONE, JSON, NULL, "With --list-vertices: as JSON, on one line", false},
    {"--pretty", ALONE, JSON, NULL, "With --list-vertices: as JSON for people", true},
    {"--portable", ALONE, REMEDY, NULL, "Compile for tiles without __IPU__, as for the host",
     POPC_PORTABLE},
    {"--portable=", JOINED, REMEDY, "<when>",
     "always, never, or auto: if inline assembly is not the tile's (default)", POPC_PORTABLE},
    {"--mutable-inputs", ALONE, REMEDY, NULL, "The elements of inputs are not const, as of old",
     POPC_MUTABLE_INPUTS},
    {"--mutable-inputs=", JOINED, REMEDY, "<when>",
     "always, never, or auto: if a source takes pointers that way (default)", POPC_MUTABLE_INPUTS},
    {"--vectors=", JOINED, VECTORS, "<when>",
     "Two floats or four halves at once, loops that the chip repeats, products for 64-bit "
     "quotients: "
     "always, never, or auto: if a source has what they are made of (default)",
     0},
    {"-fcolor-diagnostics", ALONE, COLOUR, NULL, "Colours, terminal or not", POPC_COLOUR_ALWAYS},
    {"-fno-color-diagnostics", ALONE, COLOUR, NULL, "No colours", POPC_COLOUR_NEVER},
    {"-fdiagnostics-color", ALONE, COLOUR, NULL, NULL, POPC_COLOUR_ALWAYS},
    {"-fno-diagnostics-color", ALONE, COLOUR, NULL, NULL, POPC_COLOUR_NEVER},
    {"-fdiagnostics-color=", JOINED, COLOUR_NAMED, "<when>", "auto, always, never", 0},
    {"-v", ALONE, VERBOSE, NULL, "Show the commands that are run", 0},
    {"-q", ALONE, QUIET, NULL, "No line on the terminal about what takes longer than a second", 0},
    {"--quiet", ALONE, QUIET, NULL, "The same", 0},
    {"-###", ALONE, DRY_RUN, NULL, "Show them and run nothing", 0},
    {"--no-cache", ALONE, NO_CACHE, NULL,
     "Compile, even if the folder that POPC_CACHE names has it already", 0},
    {"--save-temps", ALONE, SAVE_TEMPS, NULL, "Keep what is between source and object", 0},
    {"--save-temps=obj", ALONE, SAVE_TEMPS, NULL, "Keep it beside the output", 1},
    {"--save-temps=cwd", ALONE, SAVE_TEMPS, NULL, NULL, 0},
    {"-save-temps", ALONE, SAVE_TEMPS, NULL, NULL, 0},
    {"-save-temps=obj", ALONE, SAVE_TEMPS, NULL, NULL, 1},
    {"-save-temps=cwd", ALONE, SAVE_TEMPS, NULL, NULL, 0},
    {"--list-targets", ALONE, ANSWER, NULL, "Print the targets", POPC_ANSWER_TARGETS},
    {"--print-clang-flags", ALONE, ANSWER, NULL,
     "Print what clang is told, a line each: compile_flags.txt for clangd",
     POPC_ANSWER_CLANG_FLAGS},
    {"--print-completion=", JOINED, ANSWER, "<shell>", "Print completion for bash or zsh",
     POPC_ANSWER_COMPLETION},
    {"--help", ALONE, ANSWER, NULL, "Show this text", POPC_ANSWER_HELP},
    {"-h", ALONE, ANSWER, NULL, NULL, POPC_ANSWER_HELP},
    {"--version", ALONE, ANSWER, NULL, "Show the version", POPC_ANSWER_VERSION},
    /* What build scripts give every compiler. */
    {"-pipe", ALONE, PASS, NULL, "No temporary files for clang", 0},
    {"-fopenmp-simd", ALONE, PASS, NULL, NULL, 0},
    {"-ansi", ALONE, PASS, NULL, "As -std=c89 or -std=c++98", 0},
    {"--std=", JOINED, PASS, "<standard>", NULL, 0},
    {"-dM", ALONE, PASS, NULL, "With -E: print the macros instead", 0},
    {"-dD", ALONE, PASS, NULL, "With -E: print the macros, too", 0},
    {"-H", ALONE, PASS, NULL, "Show the headers that are included", 0},
    {"-undef", ALONE, PASS, NULL, "No macros of the system", 0},
    {"-nostdinc++", ALONE, PASS, NULL, "No C++ headers but those of -I", 0},
    /* Longer spellings win over -W, -f and -m. */
    {"-Wa,", JOINED, REFUSE, "write assembly as an input of its own", NULL, 0},
    {"-Wl,", JOINED, REFUSE, NO_LINKER, NULL, 0},
    {"-Wp,", JOINED, REFUSE, "give the preprocessor's options themselves: -D, -include, -MD", NULL,
     0},
    {"-fplugin", JOINED, REFUSE, NO_CODE, NULL, 0},
    {"-fpass-plugin", JOINED, REFUSE, NO_CODE, NULL, 0},
    {"-fuse-ld", JOINED, REFUSE, NO_LINKER, NULL, 0},
    {"-gz", JOINED, REFUSE, "who reads a .gp's debug information does not uncompress it", NULL, 0},
    {"-gsplit-dwarf", JOINED, REFUSE,
     "debug information is in the .gp: a second file would be lost", NULL, 0},
    {"-flto", JOINED, REFUSE,
     "a .gp holds machine code: put sources that should be optimised together into one", NULL, 0},
    {"-fstack-usage", ALONE, REFUSE, "--list-vertices shows the stacks of vertices", NULL, 0},
    {"-fsave-optimization-record", JOINED, REFUSE, "-Rpass, handed on by -X, tells the same", NULL,
     0},
    {"-ftime-trace", ALONE, REFUSE, "-ftime-trace=<file> names the file", NULL, 0},
    {"-fno-integrated-as", ALONE, REFUSE, "the tile's assembler is clang's", NULL, 0},
    {"-Xclang", SEPARATE, REFUSE, "-X hands on what clang itself takes", NULL, 0},
    {"-Xclang=", JOINED, REFUSE, "-X hands on what clang itself takes", NULL, 0},
    {"-Xassembler", SEPARATE, REFUSE, "write assembly as an input of its own", NULL, 0},
    {"-Xlinker", SEPARATE, REFUSE, NO_LINKER, NULL, 0},
    {"-Xpreprocessor", SEPARATE, REFUSE,
     "give the preprocessor's options themselves: -D, -include, -MD", NULL, 0},
    {"-Xarch_", JOINED, REFUSE, "flags of one target are in --target's JSON form", NULL, 0},
    {"-load", SEPARATE, REFUSE, NO_CODE, NULL, 0},
    {"-plugin", JOINED, REFUSE, NO_CODE, NULL, 0},
    {"-cc1", JOINED, REFUSE, "popc starts the compiler", NULL, 0},
    {"-ccc-", JOINED, REFUSE, "popc starts the compiler", NULL, 0},
    {"-specs", JOINED, REFUSE, NO_LINKER, NULL, 0},
    {"--config", JOINED, REFUSE, "arguments in a file are @<file>", NULL, 0},
    {"-resource-dir", JOINED, REFUSE, "POPC_CLANG names another clang", NULL, 0},
    {"--sysroot", JOINED, REFUSE, OWN_HEADERS, NULL, 0},
    {"-isysroot", JOINED_OR_SEPARATE, REFUSE, OWN_HEADERS, NULL, 0},
    {"-nostdinc", ALONE, REFUSE, OWN_HEADERS, NULL, 0},
    {"-nostdlib", JOINED, REFUSE, NO_LINKER, NULL, 0},
    {"-nodefaultlibs", ALONE, REFUSE, NO_LINKER, NULL, 0},
    {"-nostartfiles", ALONE, REFUSE, NO_LINKER, NULL, 0},
    {"-stdlib=", JOINED, REFUSE, OWN_HEADERS, NULL, 0},
    {"-mllvm", SEPARATE, REFUSE, "optimisation is chosen by -O and -f", NULL, 0},
    {"-mllvm=", JOINED, REFUSE, "optimisation is chosen by -O and -f", NULL, 0},
    {"-march", JOINED, REFUSE, CHOSEN_BY_TARGET, NULL, 0},
    {"-mcpu", JOINED, REFUSE, CHOSEN_BY_TARGET, NULL, 0},
    {"-mtune", JOINED, REFUSE, CHOSEN_BY_TARGET, NULL, 0},
    {"-mabi", JOINED, REFUSE, CHOSEN_BY_TARGET, NULL, 0},
    {"-mcmodel", JOINED, REFUSE, CHOSEN_BY_TARGET, NULL, 0},
    {"-m32", ALONE, REFUSE, CHOSEN_BY_TARGET, NULL, 0},
    {"-m64", ALONE, REFUSE, CHOSEN_BY_TARGET, NULL, 0},
    {"-arch", SEPARATE, REFUSE, CHOSEN_BY_TARGET, NULL, 0},
    {"-fopenmp", JOINED, REFUSE, "a tile's workers are started by a MultiVertex", NULL, 0},
    {"-pthread", ALONE, REFUSE, "a tile's workers are started by a MultiVertex", NULL, 0},
    {"-fprofile", JOINED, REFUSE, "profiles are the engine's: see the option debug.instrument",
     NULL, 0},
    {"-fcoverage-mapping", ALONE, REFUSE,
     "profiles are the engine's: see the option debug.instrument", NULL, 0},
    {"-pg", ALONE, REFUSE, "profiles are the engine's: see the option debug.instrument", NULL, 0},
    {"--coverage", ALONE, REFUSE, "profiles are the engine's: see the option debug.instrument",
     NULL, 0},
    {"-shared", ALONE, REFUSE, NO_LINKER, NULL, 0},
    {"-static", ALONE, REFUSE, NO_LINKER, NULL, 0},
    {"-rdynamic", ALONE, REFUSE, NO_LINKER, NULL, 0},
    {"-s", ALONE, REFUSE, "without -g there is nothing to strip", NULL, 0},
    {"-r", ALONE, REFUSE, "popc merges .gp files: popc a.gp b.gp -o all.gp", NULL, 0},
    {"-l", JOINED_OR_SEPARATE, REFUSE, NO_LIBRARIES, NULL, 0},
    {"-L", JOINED_OR_SEPARATE, REFUSE, NO_LIBRARIES, NULL, 0},
    {"--analyze", ALONE, REFUSE, "clang-tidy reads what -MJ writes", NULL, 0},
    {"-emit-ast", ALONE, REFUSE, "there are -S, -emit-llvm and -E", NULL, 0},
    {"-B", JOINED_OR_SEPARATE, REFUSE, "POPC_CLANG names another clang", NULL, 0},
    {"--prefix", JOINED, REFUSE, "POPC_CLANG names another clang", NULL, 0},
};
#define NUM_OPTIONS (sizeof options / sizeof *options)

const popc_option *popc_find_option(const char *argument)
{
  const popc_option *found = NULL;
  for (size_t i = 0; i < NUM_OPTIONS; ++i) {
    size_t length = strlen(options[i].spelling);
    bool whole = options[i].form == ALONE || options[i].form == SEPARATE;
    bool fits = whole ? !strcmp(argument, options[i].spelling)
                      : !strncmp(argument, options[i].spelling, length);
    if (fits && (!found || length > strlen(found->spelling))) found = &options[i];
  }
  return found;
}

pop_error *popc_unknown_option(const char *argument)
{
  const char *spellings[NUM_OPTIONS];
  size_t count = 0;
  for (size_t i = 0; i < NUM_OPTIONS; ++i)
    if (options[i].help) spellings[count++] = options[i].spelling;
  bool letter = strlen(argument) <= 2; /* any other letter would be near */
  const char *nearest = letter ? NULL : pop_nearest_name(argument, spellings, count);
  if (nearest)
    return pop_error_new(POP_ERROR_USAGE, "unknown option '%s'; did you mean '%s'?", argument,
                         nearest);
  return pop_error_new(POP_ERROR_USAGE, "unknown option '%s'; popc --help lists all options",
                       argument);
}

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

static const char *form_of(const popc_option *option)
{
  return option->form == SEPARATE ? " " : "";
}

char *popc_help_text(void)
{
  pop_bytes out = {0};
  put(&out, "usage: popc [options] <input>... -o <output>\n\n"
            "Compiles codelets (.c, .cpp, .cc, .cxx, .S, .s, .ll, .bc) for tiles and for the host, "
            "and merges\n.gp files; with --link, makes programs of archives. An input - is "
            "standard input (with -x), @<file> stands for the "
            "arguments in a file.\n\noptions:\n");
  for (size_t i = 0; i < NUM_OPTIONS; ++i) {
    if (!options[i].help) continue;
    char *spelling = pop_xasprintf("%s%s%s", options[i].spelling, form_of(&options[i]),
                                   options[i].value ? options[i].value : "");
    char *line = pop_xasprintf("  %-26s %s\n", spelling, options[i].help);
    put(&out, line);
    free(line);
    free(spelling);
  }
  put(&out,
      "\nexit status: 0 done; 1 an input is at fault; 2 wrong command line; 4 the environment "
      "is\n(no clang, no space, a limit was reached); 70 popc is.\n");
  pop_bytes_append(&out, "", 1);
  return (char *)out.data;
}

void popc_visit_options(void (*visit)(void *context, const char *spelling, const char *value,
                                      bool joined, const char *help),
                        void *context)
{
  for (size_t i = 0; i < NUM_OPTIONS; ++i)
    if (options[i].action != REFUSE)
      visit(context, options[i].spelling, options[i].value, options[i].form == JOINED,
            options[i].help);
}
