/* The command-line arguments of clang, for the tile and for the host.
 *
 * libcodelet/device/README.md explains the tile's flags. The host's object is compiled with the
 * same headers as the tile's, and freestanding: a codelet compiles to the same code on every
 * machine, whatever is installed there. The user's options follow ours, and so win.
 */
#include "popc_internal.h"

#include <populus/data_dir.h>

#include <stdlib.h>

static const char host_triple[] = "--target=" POPC_HOST_ARCHITECTURE "-unknown-elf";

static const char *const common[] = {
    "-O2",
    "-D__POPC__=1",
    /* The tile has none of the chip's assembly. The original libraries take this macro as the sign
     * to use the C++ code of their vertex classes. */
    "-DPOPLIBS_DISABLE_ASM_CODELETS=1",
    /* Host and tile agree to the bit. The guide's CHAR is signed, and plain char of RISC-V
     * is not. */
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fsigned-char",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-asynchronous-unwind-tables",
    "-fno-common",
    /* target("supervisor") and target("worker") repeat what the vertex's kind says. */
    "-Wno-ignored-attributes",
    /* Codelets were written for compilers without this warning. */
    "-Wno-vla-cxx-extension",
    /* DWARF 5 holds a checksum of the source, and popc appends text to the source. */
    "-fdebug-default-version=4",
    /* The object's bytes do not depend on the folder in which popc runs. */
    "-ffile-compilation-dir=.",
    "-nostdinc++",
    "-nostdlibinc",
    NULL,
};

static const char *const tile[] = {
    "--target=riscv32-unknown-elf",
    "-march=rv32imf_zfh_zba_zbb",
    "-mabi=ilp32f",
    "-mno-relax",
    "-mcmodel=medlow",
    "-fno-pic",
    /* LLVM 19 loses the low word of a hoisted 64-bit constant: 64-bit xxHash came out wrong. */
    "-mllvm",
    "-disable-constant-hoisting",
    /* Nothing runs constructors of objects with static storage before a vertex
     * (warning_filter.c). */
    "-Wglobal-constructors",
    NULL,
};

static const char *const host[] = {
    host_triple,
    "-fPIC",
    /* Rounds after each half operation, as the tile does. Without it clang keeps a
     * float in between. */
    "-Xclang",
    "-ffloat16-excess-precision=none",
    /* The linker of the CPU device has no place for what is a thread's. */
    "-femulated-tls",
    NULL,
};

static const char *const *const of_target[] = {[POPC_TILE] = tile, [POPC_HOST] = host};

void popc_add_argument(popc_arguments *arguments, const char *text)
{
  pop_push(arguments->items, arguments->count, arguments->capacity, text);
}

static void add_all(popc_arguments *arguments, const char *const *texts)
{
  for (; *texts; ++texts) popc_add_argument(arguments, *texts);
}

/* Debug information names our headers the same wherever they are installed. */
static void add_prefix_map(popc_arguments *arguments, pop_arena *arena, const char *folder,
                           const char *name)
{
  popc_add_argument(arguments, pop_arena_printf(arena, "-ffile-prefix-map=%s=%s", folder, name));
}

/* They follow the user's macros, so that messages number the user's the same for tile and host. */
static void add_tile_macros(popc_arguments *arguments, pop_arena *arena, unsigned version)
{
  popc_add_argument(arguments, "-D__IPU__=1");
  popc_add_argument(arguments, pop_arena_printf(arena, "-D__IPU_ARCH_VERSION__=%u", version));
  popc_add_argument(arguments, version < 2 ? "-D__IPU_REPEAT_COUNT_SIZE__=12"
                                           : "-D__IPU_REPEAT_COUNT_SIZE__=16");
}

/* picolibc's errno is not that of the host's functions. */
static void add_host_macros(popc_arguments *arguments)
{
  popc_add_argument(arguments, "-D__PICOLIBC_ERRNO_FUNCTION=__errno_location");
}

/* Includes populus/builtins.h (__builtin_ipu_…) before the user's includes. */
static void add_builtins(popc_arguments *arguments)
{
  popc_add_argument(arguments, "-include");
  popc_add_argument(arguments, "populus/builtins.h");
}

static void add_users(popc_arguments *arguments, const char *const *items, size_t count)
{
  for (size_t i = 0; i < count; ++i) popc_add_argument(arguments, items[i]);
}

static void add_language(popc_arguments *arguments, popc_language language)
{
  if (language == POPC_C) popc_add_argument(arguments, "-std=gnu17");
  if (language == POPC_CXX) popc_add_argument(arguments, "-std=c++17");
  /* No program ends. And the host has no list of what to do then. */
  if (language == POPC_CXX) popc_add_argument(arguments, "-fno-c++-static-destructors");
  /* Most of what we say is for C. */
  if (!popc_is_codelet_language(language)) popc_add_argument(arguments, "-Qunused-arguments");
}

static bool tells_of_ipu(const popc_settings *settings, const popc_variant *variant)
{
  return variant->target == POPC_TILE && !settings->remedies[POPC_PORTABLE].on;
}

void popc_make_arguments(const popc_settings *settings, popc_language language,
                         const popc_variant *variant, pop_arena *arena, popc_arguments *arguments)
{
  const char *device = pop_arena_printf(arena, "%s/device/include", pop_data_dir());
  add_all(arguments, of_target[variant->target]);
  add_all(arguments, common);
  add_prefix_map(arguments, arena, device, "populus");
  add_language(arguments, language);
  if (popc_is_codelet_language(language) && tells_of_ipu(settings, variant))
    add_builtins(arguments);
  if (settings->remedies[POPC_MUTABLE_INPUTS].on && popc_is_codelet_language(language))
    popc_add_argument(arguments, "-DPOPULUS_MUTABLE_INPUTS");
  add_users(arguments, settings->clang, settings->num_clang);
  if (variant->target == POPC_TILE)
    add_users(arguments, settings->clang_tile, settings->num_clang_tile);
  add_users(arguments, variant->flags, variant->num_flags);
  if (tells_of_ipu(settings, variant))
    add_tile_macros(arguments, arena, popc_architecture_version(variant));
  if (variant->target == POPC_HOST) add_host_macros(arguments);
  if (language == POPC_CXX) {
    popc_add_argument(arguments, "-isystem");
    popc_add_argument(arguments, pop_arena_printf(arena, "%s/c++/v1", device));
  }
  popc_add_argument(arguments, "-isystem");
  popc_add_argument(arguments, device);
  popc_add_argument(arguments, "-x");
  popc_add_argument(arguments, popc_language_name(language));
}
