/* The second line of defence. Native code whose checks are wrong does no harm to other tiles, and
 * the error says what happened. */
#include "support/rig.h"

#include <machine/state.h>
#include <signal.h>
#include <sys/mman.h>

enum { STRAYING = 1, NUM_TILES = 3 };

/* A worker of each tile writes 7 to its data. On one tile it then loads from `address`, or stores
 * there. */
static void put_tile(assembler *a, uint32_t address, bool store)
{
  enum { SUPERVISOR_WORDS = 12 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, S0, RIG_DATA);
  asm_li(a, A0, 7);
  asm_store(a, ASM_SW, A0, S0, 0);
  asm_li(a, T1, address);
  asm_load(a, ASM_LW, T1, S0, 4); /* not a constant for the translator */
  if (store)
    asm_store(a, ASM_SW, A0, T1, 0);
  else
    asm_load(a, ASM_LW, A0, T1, 0);
  asm_store(a, ASM_SW, A0, S0, 8);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* Makes all addresses of the tile accessible, like a translator with a wrong idea of the tile. */
static void believe_in_everything(tile *t)
{
  t->readable = (window){.start = 0, .size = 0xfffffffc, .host = t->readable.host};
  t->writable = t->readable;
}

static void stray(uint32_t address, bool store)
{
  rig r = rig_create_with(NUM_TILES, (machine_options){.engine = MACHINE_TRANSLATOR});
  for (uint32_t i = 0; i < NUM_TILES; i++) put_tile(&r.code[i], address, store);
  rig_load(&r);
  for (uint32_t i = 0; i < NUM_TILES; i++) {
    uint32_t place = i == STRAYING ? address : RIG_DATA;
    expect_ok(machine_write(r.m, i, RIG_DATA + 4, &place, sizeof place));
  }
  believe_in_everything(&r.m->tiles[STRAYING]);
  uint32_t event;
  expect_error(machine_run(r.m, 0, &event), POP_ERROR_INTERNAL, "INTERNAL_FAULT", "stray");
  const machine_fault *fault = machine_get_fault(r.m);
  cr_assert_eq(fault->kind, MACHINE_FAULT_INTERNAL);
  cr_assert_eq(fault->tile, STRAYING);
  cr_assert_eq(fault->context, 0);
  cr_assert_eq(fault->num_faults, 1);
  for (uint32_t i = 0; i < NUM_TILES; i++) {
    if (i == STRAYING) continue;
    cr_assert_eq(rig_word(&r, i, RIG_DATA), 7, "tile %u did not run to its end", i);
    for (uint32_t at = RIG_DATA + 12; at < RIG_END; at += 4)
      cr_assert_eq(rig_word(&r, i, at), 0, "tile %u was written to at 0x%x", i, at);
  }
  rig_free(&r);
}

/* Accesses that are whole tiles away, before all tiles, and after all tiles. */
Test(machine_guard, an_access_that_strays_is_a_fault_of_its_own_tile)
{
  static const uint32_t places[] = {0,          4,          RIG_BASE - 4, RIG_BASE + 0x9c000,
                                    0x00100000, 0x7ffffffc, 0x80000000,   0xfffffff8};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    stray(places[i], false);
    stray(places[i], true);
  }
}

static volatile sig_atomic_t seen;

static void note(int signal)
{
  (void)signal;
  seen++;
  _exit(7);
}

/* Other signals go to the handler that the program installed. */
Test(machine_guard, other_signals_go_to_the_programs_own_handler, .exit_code = 7)
{
  signal(SIGSEGV, note);
  stray(0, false);
  cr_assert_eq(seen, 0);
  raise(SIGSEGV);
}

Test(machine_guard, without_a_handler_other_signals_end_the_process, .signal = SIGSEGV)
{
  signal(SIGSEGV, SIG_DFL);
  stray(0, false);
  void *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *(volatile int *)closed = 1;
}

/* There are too many tiles to place them apart, but only tiles are in reach. */
Test(machine_guard, many_tiles_lie_side_by_side)
{
  machine_options options = {.engine = MACHINE_INTERPRETER};
  pop_target target;
  machine *m;
  expect_ok(pop_target_create("ipu2", 64, &target));
  expect_ok(machine_create(&target, &options, &m));
  const uint8_t *first = m->tiles[0].memory, *last = m->tiles[m->num_tiles - 1].memory;
  cr_assert_eq((size_t)(last - first), (m->num_tiles - 1) * (size_t)target.memory_bytes);
  cr_assert(memory_is_reserved(m, first - 1) &&
            memory_is_reserved(m, last + target.memory_bytes + UINT32_MAX));
  machine_free(m);
}
