/* Stores of native code to the state of the running vertex. They are checked until it is known that
 * vertices of the tile do that. Stores to other states are never allowed. */
#include "support/rig.h"

#include <machine/state.h>

enum {
  FIRST_STATE = RIG_BEHIND,
  SECOND_STATE = RIG_BEHIND + 0x20,
  COUNTED = 0,
  BEFORE = 4,
  BEHIND = 8
};
enum { STUB = RIG_CODE + 4 * 16, VERTEX = RIG_CODE + 4 * 32, ROUNDS = 1000 };

static void go_to(assembler *a, uint32_t address)
{
  asm_nops(a, (address - RIG_CODE) / 4 - (uint32_t)a->count);
}

static void put_call(assembler *a, uint32_t state)
{
  asm_li(a, T0, VERTEX);
  asm_li(a, T1, state);
  asm_tile(a, TILE_CALL, 0, T0, T1);
}

static void put_poke(assembler *a, uint32_t store, int32_t pointer)
{
  asm_load(a, ASM_LW, T2, A0, pointer);
  asm_branch(a, ASM_BEQ, T2, ZERO, asm_here(a) + 8);
  asm_store(a, store, A1, T2, 0);
}

/* Worker 0 calls a vertex for one state and then for the other. The vertex counts in its state.
 * Before and after that it writes to the address in its state, if there is one. */
static void put_program(assembler *a, uint32_t store)
{
  uint32_t next_run = asm_here(a);
  asm_li(a, T0, STUB);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_branch(a, ASM_BEQ, ZERO, ZERO, next_run);
  go_to(a, STUB);
  put_call(a, FIRST_STATE);
  put_call(a, SECOND_STATE);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  go_to(a, VERTEX);
  put_poke(a, store, BEFORE);
  asm_li(a, T0, ROUNDS);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, A1, A0, COUNTED);
  asm_addi(a, A1, A1, 1);
  asm_store(a, ASM_SW, A1, A0, COUNTED);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, again);
  put_poke(a, store, BEHIND);
  asm_jalr(a, ZERO, RA, 0);
}

/* Each vertex state has two pointers: one used before the vertex writes its state, one after. */
static rig make_rig(machine_engine engine, uint32_t store, uint32_t pointers[2][2])
{
  static const uint32_t states[] = {FIRST_STATE, SECOND_STATE};
  rig r = rig_create_with(1, (machine_options){.engine = engine, .num_threads = 1});
  put_program(&r.code[0], store);
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  pop_image image = rig_image(&r, 0, bytes);
  const pop_image_segment segments[] = {
      {.start = RIG_CODE, .size = RIG_CODE_BYTES, .executable = true},
      {.start = RIG_DATA, .size = RIG_BEHIND - RIG_DATA, .writable = true},
      {.start = RIG_BEHIND, .size = RIG_END - RIG_BEHIND, .writable = true, .states = true}};
  image.segments = segments;
  image.num_segments = sizeof segments / sizeof *segments;
  expect_ok(rig_load_image(&r, &image));
  expect_ok(machine_set_states(r.m, 0, states, 2));
  free(bytes);
  for (int i = 0; i < 2; i++)
    expect_ok(machine_write(r.m, 0, states[i] + BEFORE, pointers[i], sizeof pointers[i]));
  return r;
}

Test(translate_states, vertices_that_write_their_states_soon_ask_no_more)
{
  uint32_t own[2][2] = {{0, FIRST_STATE + 12}, {SECOND_STATE + 12, SECOND_STATE + 16}};
  rig r = make_rig(MACHINE_TRANSLATOR, ASM_SW, own);
  for (uint32_t run = 1; run <= 3; run++) {
    cr_assert_eq(rig_run(&r), 5);
    cr_assert_eq(rig_word(&r, 0, FIRST_STATE + COUNTED), run * ROUNDS);
    cr_assert_eq(rig_word(&r, 0, SECOND_STATE + COUNTED), run * ROUNDS);
    cr_assert_eq(rig_word(&r, 0, FIRST_STATE + 12), run * ROUNDS);
    uint64_t questions = r.m->tiles[0].native_questions;
    cr_assert_eq(questions, 1, "%d questions in %u runs", (int)questions, run);
  }
  rig_free(&r);
}

/* A store to another vertex's state, before or after the vertex writes its own. With 64 bits, the
 * second word is there. */
static void expect_refusal(machine_engine engine, uint32_t store, uint32_t vertex, uint32_t when,
                           uint32_t address)
{
  uint32_t none[2][2] = {{0}}, state = vertex ? SECOND_STATE : FIRST_STATE;
  uint32_t pointer = store == ASM_FSD ? address - 4 : address, half = 0x5a5a5a5a;
  rig r = make_rig(engine, store, none);
  cr_assert_eq(rig_run(&r), 5);
  expect_ok(machine_write(r.m, 0, state + (when ? BEHIND : BEFORE), &pointer, sizeof pointer));
  if (store == ASM_FSD) expect_ok(machine_write(r.m, 0, pointer, &half, sizeof half));
  const machine_fault *fault = rig_run_into(&r, MACHINE_FAULT_INVALID_ADDRESS);
  cr_assert_eq(fault->address, address, "0x%x instead of 0x%x", fault->address, address);
  cr_assert_eq(fault->vertex_state, state);
  cr_assert_eq(rig_word(&r, 0, state + COUNTED), when ? 2 * ROUNDS : ROUNDS);
  if (store == ASM_FSD) cr_assert_eq(rig_word(&r, 0, pointer), half, "half of a store");
  rig_free(&r);
}

Test(translate_states, it_writes_no_other)
{
  static const machine_engine engines[] = {MACHINE_INTERPRETER, MACHINE_TRANSLATOR};
  for (int i = 0; i < 2; i++) {
    for (uint32_t when = 0; when < 2; when++) {
      expect_refusal(engines[i], ASM_SW, 0, when, SECOND_STATE);
      expect_refusal(engines[i], ASM_FSD, 0, when, SECOND_STATE);
      expect_refusal(engines[i], ASM_SW, 1, when, FIRST_STATE);
      expect_refusal(engines[i], ASM_SW, 1, when, SECOND_STATE - 4);
    }
  }
}
