/* runtime/machine/control.c: the control code of many tiles that do the same runs once for all of
 * them. Each tile must have exactly what it would have if it ran alone: memory, counters, faults
 * and traces. That holds for any code, number of threads, engine and cycle limit. The reference is
 * the machine with `plain`.
 *
 * The programs are random: loops, branches on words that exchanges bring and workers change, calls
 * with the return address on the stack, supervisor vertices that leave registers behind, hardware
 * counters. Some tiles have other constants, other code, or a vertex that faults. */
#include <criterion/criterion.h>

#include "support/rig.h"
#include "support/seeds.h"

#include <stdio.h>
#include <string.h>

enum { TILES = 24, RUNS = 3, MAX_EVENTS = 20000 };

/* Addresses that the programs use, in words of the code. */
enum {
  WORKER = RIG_CODE + 4 * 1500,
  VERTEX = RIG_CODE + 4 * 1600,
  ROUTINE = RIG_CODE + 4 * 1700,
  EXCHANGE = RIG_CODE + 4 * 1800,
  FAULTS = 99,              /* a worker's argument */
  SHARED = RIG_DATA + 0x40, /* four words that every exchange brings from tile 0 */
};

/* ---- code of all tiles ---- */

/* Adds its argument to a word of its own, and to one that decides branches. */
static void put_worker(assembler *a)
{
  asm_li(a, T2, RIG_DATA);
  asm_addi(a, T1, A0, -FAULTS);
  size_t fine = asm_hole(a);
  asm_li(a, T2, RIG_HOLE);
  asm_patch_branch(a, fine, ASM_BNE, T1, ZERO);
  asm_tile(a, TILE_CONTEXT, T1, 0, 0);
  asm_word(a, asm_r(0x20004033, T2, T1, T2)); /* sh2add */
  asm_load(a, ASM_LW, T1, T2, 0);
  asm_add(a, T1, T1, A0);
  asm_store(a, ASM_SW, T1, T2, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* A supervisor vertex that leaves different registers on each tile. */
static void put_vertex(assembler *a)
{
  asm_tile(a, TILE_NUMBER, T2, 0, 0);
  asm_load(a, ASM_LW, T1, A0, 0);
  asm_add(a, T1, T1, T2);
  asm_store(a, ASM_SW, T1, A0, 0);
  asm_jalr(a, ZERO, RA, 0);
}

static void put_run(assembler *a, uint32_t worker, uint32_t argument)
{
  asm_li(a, T0, WORKER);
  asm_li(a, T1, argument);
  asm_tile(a, TILE_RUN, worker, T0, T1);
}

static void put_run_all(assembler *a, uint32_t count, uint32_t argument)
{
  asm_li(a, T0, WORKER);
  asm_li(a, T1, argument);
  asm_tile(a, TILE_RUN_ALL, count, T0, T1);
}

/* Saves the return address, runs a worker, syncs. */
static void put_routine(assembler *a)
{
  asm_addi(a, SP, SP, -4);
  asm_store(a, ASM_SW, RA, SP, 0);
  put_run(a, 4, 3);
  asm_tile(a, TILE_SYNC, 0, 0, 0);
  asm_load(a, ASM_LW, RA, SP, 0);
  asm_addi(a, SP, SP, 4);
  asm_jalr(a, ZERO, RA, 0);
}

/* Tile 0 sends its first four words to all tiles. From tile 5 on, the code begins a word later. */
static void put_exchange(assembler *a, uint32_t tile)
{
  if (tile >= 5) asm_end(a);
  if (tile == 0) {
    asm_send(a, RIG_WORD(RIG_DATA), 4);
    asm_delay(a, 4);
  } else {
    asm_receive_address(a, RIG_WORD(SHARED));
    asm_delay(a, RIG_LATENCY - 2);
    asm_receive(a, 0, 4);
    asm_delay(a, 4 + tile % 3);
  }
  asm_end(a);
}

static void go_to(assembler *a, uint32_t address)
{
  asm_nops(a, (address - asm_here(a)) / 4);
}

/* ---- a random program ---- */

typedef struct generator {
  uint32_t random; /* the same on all tiles */
  uint32_t tile;
  assembler *a;
} generator;

static uint32_t draw(generator *g, uint32_t below)
{
  g->random = g->random * 1664525 + 1013904223;
  return (g->random >> 12) % below;
}

/* One of two values: sometimes a few tiles get another value than the rest. */
static uint32_t draw_by_tile(generator *g, uint32_t below)
{
  uint32_t usual = draw(g, below), other = draw(g, below);
  bool differs = draw(g, 6) == 0;
  uint32_t modulus = 2 + draw(g, 8);
  return differs && g->tile % modulus == 1 ? other : usual;
}

static void put_items(generator *g, uint32_t count, uint32_t depth);

static void put_loop(generator *g, uint32_t depth)
{
  static const uint32_t counters[] = {S0, S1, A6};
  uint32_t counter = counters[depth];
  asm_li(g->a, counter, 1 + draw_by_tile(g, 4));
  uint32_t again = asm_here(g->a);
  put_items(g, 1 + draw(g, 3), depth + 1);
  asm_addi(g->a, counter, counter, -1);
  asm_branch(g->a, ASM_BNE, counter, ZERO, again);
}

static void put_if(generator *g, uint32_t depth)
{
  static const uint32_t loads[] = {ASM_LW, ASM_LW, ASM_LBU, ASM_LH, ASM_LHU, ASM_LB};
  asm_li(g->a, T0, draw(g, 3) ? SHARED : RIG_DATA);
  asm_load(g->a, loads[draw(g, 6)], T1, T0, 4 * (int32_t)draw(g, 4));
  asm_word(g->a, asm_i(0x7013, T1, T1, 1 + (int32_t)draw(g, 3))); /* andi */
  size_t over = asm_hole(g->a);
  put_items(g, 1 + draw(g, 2), depth + 1);
  asm_patch_branch(g->a, over, draw(g, 2) ? ASM_BEQ : ASM_BNE, T1, ZERO);
}

static void put_memory(generator *g)
{
  static const uint32_t stores[] = {ASM_SW, ASM_SH, ASM_SB}, loads[] = {ASM_LW, ASM_LH, ASM_LBU};
  uint32_t at = 4 * draw(g, 4);
  asm_li(g->a, T0, RIG_DATA + 0x80);
  asm_load(g->a, loads[draw(g, 3)], T1, T0, (int32_t)at);
  asm_addi(g->a, T1, T1, 300 * ((int32_t)draw_by_tile(g, 5) - 2));
  asm_store(g->a, stores[draw(g, 3)], T1, T0, (int32_t)at);
  asm_load(g->a, loads[draw(g, 3)], T2, T0, (int32_t)at);
  asm_store(g->a, ASM_SW, T2, T0, 16 + (int32_t)at);
}

/* Stores registers of any origin: what a vertex left, and where the last branch came from. */
static void put_leftovers(generator *g)
{
  asm_li(g->a, A5, RIG_DATA + 0x100 + 12 * draw(g, 4));
  asm_store(g->a, ASM_SW, T1, A5, 0);
  asm_store(g->a, ASM_SW, T2, A5, 4);
  asm_store(g->a, ASM_SW, T0, A5, 8);
}

/* Some tiles acknowledge syncs of the other tiles and continue with their own work. */
static void put_acknowledged(generator *g)
{
  assembler *a = g->a;
  uint32_t syncs = 1 + draw(g, 3), modulus = 2 + draw(g, 3), work = draw(g, 3), asks = draw(g, 9);
  if (g->tile % modulus == 1) {
    asm_word(a, isa_sans_word(ISA_SYNC_INTERNAL, syncs));
    if (work == 1) put_run(a, 2, 7);
    if (work == 1) asm_tile(a, TILE_WAIT, 0, 0, 0);
    if (work == 2) asm_nops(a, 40 * syncs);
    if (asks) asm_tile(a, TILE_SYNC, ISA_SYNC_ANS, 0, 0); /* else the next request faults */
    return;
  }
  for (uint32_t i = 0; i < syncs; i++) {
    asm_nops(a, 3 * (g->tile % 4));
    asm_li(a, T0, EXCHANGE + (g->tile >= 5 ? 4 : 0));
    asm_tile(a, (work + i) % 2 ? TILE_EXCHANGE : TILE_SYNC, 0, (work + i) % 2 ? T0 : 0, 0);
  }
}

static void put_item(generator *g, uint32_t depth)
{
  assembler *a = g->a;
  uint32_t kind = draw(g, depth < 3 ? 19 : 13);
  if (kind == 12) {
    put_acknowledged(g);
    return;
  }
  if (kind > 12) kind--;
  if (kind < 1) {
    put_run_all(a, draw_by_tile(g, 40) ? 1 + draw_by_tile(g, 6) : 7, 1 + draw_by_tile(g, 3));
    asm_tile(a, draw(g, 3) ? TILE_WAIT : TILE_SYNC, 0, 0, 0);
  } else if (kind < 4) {
    uint32_t first = draw(g, 3);
    put_run(a, first, draw_by_tile(g, 60) ? 1 + draw_by_tile(g, 3) : FAULTS);
    if (draw(g, 2)) put_run(a, first + 2, 5);
    asm_tile(a, draw(g, 3) ? TILE_WAIT : TILE_SYNC, 0, 0, 0);
  } else if (kind < 5) {
    asm_tile(a, TILE_SYNC, 0, 0, 0);
  } else if (kind < 8) {
    asm_li(a, T0, EXCHANGE + (g->tile >= 5 ? 4 : 0));
    asm_tile(a, TILE_EXCHANGE, 0, T0, 0);
  } else if (kind < 9) {
    asm_jal(a, RA, ROUTINE);
  } else if (kind < 10) {
    if (draw(g, 2))
      put_memory(g);
    else
      put_leftovers(g);
  } else if (kind < 11) {
    asm_li(a, T0, VERTEX);
    asm_li(a, T1, RIG_DATA + 0x60);
    asm_tile(a, TILE_CALL, 0, T0, T1);
  } else if (kind < 12) {
    asm_csrr(a, T1, draw(g, 2) ? 0xc00 : 0xc02); /* cycle, instret */
    asm_li(a, T0, RIG_BEHIND);
    asm_store(a, ASM_SW, T1, T0, 4 * (int32_t)draw(g, 8));
  } else if (kind < 15) {
    put_loop(g, depth);
  } else {
    put_if(g, depth);
  }
}

static void put_items(generator *g, uint32_t count, uint32_t depth)
{
  while (count--) put_item(g, depth < 3 ? depth : 3);
}

static void put_program(assembler *a, uint32_t tile, uint32_t seed)
{
  generator g = {seed, tile, a};
  asm_li(a, SP, RIG_STACKS + 7 * RIG_STACK_BYTES);
  if (draw(&g, 4) == 0 && tile % 5 == 2) asm_nops(a, 1); /* moves all its code */
  uint32_t again = asm_here(a);
  put_items(&g, 3 + draw(&g, 6), 0);
  rig_report(a, draw(&g, 9));
  asm_li(a, T0, RIG_BEHIND + 0x40);
  asm_store(a, ASM_SW, A0, T0, 0); /* the reply */
  asm_jal(a, ZERO, again);
  cr_assert_lt(asm_here(a), WORKER);
  go_to(a, WORKER);
  put_worker(a);
  go_to(a, VERTEX);
  put_vertex(a);
  go_to(a, ROUTINE);
  put_routine(a);
  go_to(a, EXCHANGE);
  put_exchange(a, tile);
}

/* ---- outcomes ---- */

typedef struct outcome {
  uint8_t memory[TILES][RIG_END - RIG_DATA];
  machine_counters counters;
  machine_fault fault;
  uint32_t reported[RUNS];
  size_t num_events;
  machine_trace_event events[MAX_EVENTS];
} outcome;

static void note(void *context, const machine_trace_event *event)
{
  outcome *out = context;
  if (out->num_events < MAX_EVENTS) out->events[out->num_events] = *event;
  out->num_events++;
}

static outcome *run(uint32_t seed, machine_options options)
{
  outcome *out = pop_xcalloc(1, sizeof *out);
  rig r = rig_create_with(TILES, options);
  for (uint32_t i = 0; i < TILES; i++) put_program(&r.code[i], i, seed);
  rig_load(&r);
  machine_set_trace(r.m, note, out);
  for (uint32_t i = 0; i < RUNS; i++)
    pop_error_free(machine_run(r.m, i + seed % 3, &out->reported[i]));
  out->counters = machine_get_counters(r.m);
  out->fault = *machine_get_fault(r.m);
  for (uint32_t i = 0; i < TILES; i++)
    expect_ok(machine_read(r.m, i, RIG_DATA, out->memory[i], sizeof out->memory[i]));
  rig_free(&r);
  return out;
}

static void expect_same_fault(const machine_fault *a, const machine_fault *b, const char *what)
{
  cr_assert_eq(a->kind, b->kind, "%s: %s, %s", what, machine_fault_name(a->kind),
               machine_fault_name(b->kind));
  cr_assert(a->tile == b->tile && a->context == b->context && a->pc == b->pc &&
                a->word == b->word && a->address == b->address,
            "%s: tiles %u, %u; contexts %u, %u; pc 0x%x, 0x%x", what, a->tile, b->tile, a->context,
            b->context, a->pc, b->pc);
  cr_assert(a->vertex_state == b->vertex_state && a->vertex_entry == b->vertex_entry &&
                a->run_argument == b->run_argument,
            "%s", what);
  cr_assert(a->cycle == b->cycle && a->superstep == b->superstep && a->num_faults == b->num_faults,
            "%s: cycles %llu, %llu; %u, %u faults", what, (unsigned long long)a->cycle,
            (unsigned long long)b->cycle, a->num_faults, b->num_faults);
  cr_assert_str_eq(a->detail, b->detail, "%s", what);
}

static void expect_same(const outcome *a, const outcome *b, const char *what)
{
  expect_same_fault(&a->fault, &b->fault, what);
  for (uint32_t i = 0; i < RUNS; i++)
    cr_assert_eq(a->reported[i], b->reported[i], "%s: run %u", what, i);
  cr_assert_eq(a->counters.cycles, b->counters.cycles, "%s", what);
  cr_assert_eq(a->counters.instructions, b->counters.instructions, "%s: %llu, %llu instructions",
               what, (unsigned long long)a->counters.instructions,
               (unsigned long long)b->counters.instructions);
  cr_assert_eq(a->counters.supersteps, b->counters.supersteps, "%s", what);
  cr_assert_eq(a->counters.exchanged_bytes, b->counters.exchanged_bytes, "%s", what);
  for (uint32_t i = 0; i < TILES; i++)
    cr_assert(!memcmp(a->memory[i], b->memory[i], sizeof a->memory[i]), "%s: tile %u", what, i);
  cr_assert_eq(a->num_events, b->num_events, "%s: %zu, %zu events", what, a->num_events,
               b->num_events);
  for (size_t i = 0; i < a->num_events && i < MAX_EVENTS; i++) {
    const machine_trace_event *x = &a->events[i], *y = &b->events[i];
    cr_assert(x->kind == y->kind && x->tile == y->tile && x->argument == y->argument &&
                  x->from == y->from && x->to == y->to && x->bytes == y->bytes,
              "%s: event %zu", what, i);
  }
}

/* Compares runs with this limit of cycles. Returns the cycles of the reference. */
static uint64_t compare(uint32_t seed, uint64_t limit, bool engines)
{
  machine_options options = {.max_cycles_per_run = limit, .num_threads = 1, .plain = true};
  outcome *expected = run(seed, options);
  static const uint32_t threads[] = {1, 2, 7};
  options.plain = false;
  for (unsigned engine = MACHINE_INTERPRETER; engine <= (engines ? MACHINE_TRANSLATOR : 0);
       engine++)
    for (unsigned i = 0; i < (engines ? 3 : 1); i++) {
      char what[96];
      options.engine = (machine_engine)engine;
      options.num_threads = threads[i];
      snprintf(what, sizeof what, "seed %u, limit %llu, engine %u, %u threads", seed,
               (unsigned long long)limit, engine, threads[i]);
      outcome *found = run(seed, options);
      expect_same(expected, found, what);
      free(found);
    }
  uint64_t cycles = expected->counters.cycles;
  free(expected);
  return cycles;
}

Test(machine_control, a_group_does_what_each_tile_would_do_alone)
{
  seed_range seeds = test_seeds(1, 1500);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare((uint32_t)seed, 1 << 20, false);
}

Test(machine_control, threads_and_engines_change_nothing)
{
  seed_range seeds = test_seeds(1000, 1011);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare((uint32_t)seed, 1 << 20, true);
}

/* Tiles differ in what they load and are treated alike again at the next sync; the register still
 * has each tile's value. */
Test(machine_control, tiles_that_meet_again_keep_their_registers)
{
  rig r = rig_create(4, 0);
  for (uint32_t i = 0; i < 4; i++) {
    assembler *a = &r.code[i];
    asm_li(a, T0, RIG_DATA);
    asm_load(a, ASM_LW, T1, T0, 0);
    size_t over = asm_hole(a);
    asm_nops(a, 1);
    asm_patch_branch(a, over, ASM_BNE, T1, ZERO);
    asm_tile(a, TILE_SYNC, 0, 0, 0);
    asm_store(a, ASM_SW, T1, T0, 4);
    rig_report(a, 1);
  }
  rig_load(&r);
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t value = 7 * (i / 2) + 1;
    expect_ok(machine_write(r.m, i, RIG_DATA, &value, sizeof value));
  }
  rig_run(&r);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(rig_word(&r, i, RIG_DATA + 4), 7 * (i / 2) + 1);
  rig_free(&r);
}

/* The limit ends runs at every place: inside control code, in workers, after an exchange. */
Test(machine_control, the_cycle_limit_ends_a_group_where_it_ends_a_tile)
{
  for (uint32_t seed = 2000; seed < 2008; seed++) {
    uint64_t cycles = compare(seed, 1 << 20, false);
    for (uint64_t limit = 1; limit < cycles && limit < 6000; limit += 1 + limit / 23)
      compare(seed, limit, false);
  }
}

/* Groups are split into as many as there are tiles. */
Test(machine_control, each_tile_has_other_words_in_its_control_code)
{
  enum { MANY = 5000 };
  rig r = {.num_tiles = MANY, .code = pop_xcalloc(1, sizeof *r.code)};
  expect_ok(pop_target_create("ipu2", 1, &r.target));
  r.target.num_ipus = 2;
  r.target.tiles_per_ipu = MANY / 2;
  r.target.system_bytes = 0;
  expect_ok(machine_create(&r.target, &(machine_options){.num_threads = 1}, &r.m));
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  for (uint32_t t = 0; t < MANY; t++) {
    *r.code = (assembler){.base = RIG_CODE};
    asm_li(r.code, T1, RIG_DATA);
    asm_word(r.code, 0x37 | T0 << 7 | t << 12); /* lui */
    asm_store(r.code, ASM_SW, T0, T1, 0);
    rig_report(r.code, 1);
    pop_image image = rig_image(&r, 0, bytes);
    image.tile = t;
    expect_ok(rig_load_image(&r, &image));
  }
  rig_run(&r);
  for (uint32_t t = 0; t < MANY; t++) cr_assert_eq(rig_word(&r, t, RIG_DATA), t << 12);
  free(bytes);
  rig_free(&r);
}
