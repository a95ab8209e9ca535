/* What clang is told, for the tile and for the host.
 *
 * The tile's flags are explained in libcodelet/device/README.md. The host's object sees the same
 * headers as the tile's and a processor without an operating system around it: so a codelet
 * compiles to the same on every machine, whatever is installed there. Our choices come first, the
 * user's options behind them win.
 */
#include "popc_internal.h"

#include <populus/data_dir.h>

#include <stdlib.h>

#if defined(__x86_64__)
#define HOST_TRIPLE "--target=x86_64-unknown-elf"
#elif defined(__aarch64__)
#define HOST_TRIPLE "--target=aarch64-unknown-elf"
#else
#error "name the host's processor here"
#endif

static const char *const common[] = {
    "-O2",
    "-D__POPC__=1",
    /* Host and tile agree to the bit; the guide's CHAR is signed, which RISC-V's is not. */
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
    /* target("supervisor") and target("worker") say what a vertex's kind says, too. */
    "-Wno-ignored-attributes",
    /* Later versions hold a checksum of the source, and ours has text appended. */
    "-fdebug-default-version=4",
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
    /* Nothing runs constructors of objects with static storage before a vertex. */
    "-Werror=global-constructors",
    NULL,
};

/* Behind the user's macros, so that these have the same numbers in messages for tile and host. */
static const char *const tile_macros[] = {"-D__IPU__=1", "-D__IPU_ARCH_VERSION__=2", NULL};

static const char *const host[] = {HOST_TRIPLE, "-fPIC", NULL};

static const char *const *const of_target[] = {[POPC_TILE] = tile, [POPC_HOST] = host};

void popc_add_argument(popc_arguments *arguments, const char *text)
{
  pop_push(arguments->items, arguments->count, arguments->capacity, text);
}

static void add_all(popc_arguments *arguments, const char *const *texts)
{
  for (; *texts; ++texts) popc_add_argument(arguments, *texts);
}

void popc_make_arguments(const popc_settings *settings, popc_language language, popc_target target,
                         pop_arena *arena, popc_arguments *arguments)
{
  const char *device = pop_arena_printf(arena, "%s/device/include", pop_data_dir());
  add_all(arguments, of_target[target]);
  add_all(arguments, common);
  popc_add_argument(arguments, language == POPC_C ? "-std=gnu17" : "-std=c++17");
  for (size_t i = 0; i < settings->num_clang; ++i) popc_add_argument(arguments, settings->clang[i]);
  if (target == POPC_TILE) add_all(arguments, tile_macros);
  if (language == POPC_CXX) {
    popc_add_argument(arguments, "-isystem");
    popc_add_argument(arguments, pop_arena_printf(arena, "%s/c++/v1", device));
  }
  popc_add_argument(arguments, "-isystem");
  popc_add_argument(arguments, device);
  popc_add_argument(arguments, "-x");
  popc_add_argument(arguments, language == POPC_C ? "c" : "c++");
}
