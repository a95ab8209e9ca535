/* A small machine for tests. Every tile has the same memory map:
 *
 *   RIG_CODE   read and execute: what was assembled for the tile; execution starts at its first word
 *   RIG_CONST  read only
 *   RIG_HOLE   not in the image's segments
 *   RIG_DATA   read and write
 *   RIG_STACKS read and write: RIG_STACK_BYTES each for workers 0-5 and the supervisor
 *
 * Use: rig_create, assemble into rig.code[tile], rig_load, rig_run.
 */
#ifndef POPULUS_TEST_RIG_H
#define POPULUS_TEST_RIG_H

#include "asm.h"
#include "expect.h"

#include <machine/machine.h>
#include <populus/arena.h>
#include <stdio.h>

enum {
  RIG_BASE = 0x4c000,
  RIG_CODE = RIG_BASE,
  RIG_CODE_BYTES = 4 * ASM_MAX_WORDS,
  RIG_CONST = RIG_CODE + RIG_CODE_BYTES,
  RIG_CONST_BYTES = 0x400,
  RIG_HOLE = RIG_CONST + RIG_CONST_BYTES,
  RIG_HOLE_BYTES = 0x400,
  RIG_DATA = RIG_HOLE + RIG_HOLE_BYTES,
  RIG_DATA_BYTES = 0x2000,
  RIG_STACKS = RIG_DATA + RIG_DATA_BYTES,
  RIG_STACK_BYTES = 0x100,
  RIG_BEHIND = RIG_STACKS + 7 * RIG_STACK_BYTES, /* 0x100 more bytes of data */
  RIG_END = RIG_BEHIND + 0x100,
  RIG_LATENCY = 5,
  RIG_SYNC = 100,
  RIG_HOST_SYNC = 1000,
  RIG_HOST_BYTES = 8 /* of the host exchange, a cycle */
};

/* Word offset from the base of tile memory, as exchange instructions have it. */
#define RIG_WORD(address) (((address) - RIG_BASE) / 4)

typedef struct rig {
  pop_target target;
  machine *m;
  assembler *code; /* one per tile */
  uint32_t num_tiles;
} rig;

static inline rig rig_create_with(uint32_t num_tiles, machine_options options)
{
  rig r = {.num_tiles = num_tiles, .code = pop_xcalloc(num_tiles, sizeof *r.code)};
  expect_ok(pop_target_create("ipu2", 1, &r.target));
  snprintf(r.target.name, sizeof r.target.name, "rig");
  r.target.tiles_per_ipu = num_tiles;
  r.target.exchange_latency_cycles = RIG_LATENCY;
  r.target.sync_cycles = RIG_SYNC;
  r.target.host_sync_cycles = RIG_HOST_SYNC;
  r.target.host_bytes_per_cycle = RIG_HOST_BYTES;
  r.target.system_bytes = 0;
  expect_ok(machine_create(&r.target, &options, &r.m));
  for (uint32_t i = 0; i < num_tiles; i++) r.code[i].base = RIG_CODE;
  return r;
}

static inline rig rig_create(uint32_t num_tiles, uint64_t max_cycles)
{
  return rig_create_with(num_tiles, (machine_options){.max_cycles_per_run = max_cycles});
}

static inline void rig_free(rig *r)
{
  machine_free(r->m);
  free(r->code);
}

/* The image of a tile; `bytes` has RIG_END - RIG_BASE bytes and must outlive it. */
static inline pop_image rig_image(const rig *r, uint32_t tile, uint8_t *bytes)
{
  static const pop_image_segment segments[] = {
      {.start = RIG_CODE, .size = RIG_CODE_BYTES, .executable = true},
      {.start = RIG_CONST, .size = RIG_CONST_BYTES},
      {.start = RIG_DATA, .size = RIG_END - RIG_DATA, .writable = true}};
  memset(bytes, 0, RIG_END - RIG_BASE);
  memcpy(bytes, r->code[tile].words, sizeof r->code[tile].words);
  return (pop_image){.tile = tile,
                     .base = RIG_BASE,
                     .size = RIG_END - RIG_BASE,
                     .bytes = bytes,
                     .entry = RIG_CODE,
                     .segments = segments,
                     .num_segments = sizeof segments / sizeof *segments};
}

static inline pop_error *rig_load_image(const rig *r, const pop_image *image)
{
  tile_stack stacks[NUM_TILE_STACKS];
  for (uint32_t i = 0; i < NUM_TILE_STACKS; i++)
    stacks[i] = (tile_stack){RIG_STACKS + i * RIG_STACK_BYTES, RIG_STACK_BYTES};
  return machine_load(r->m, image, stacks);
}

static inline void rig_load(rig *r)
{
  uint8_t *bytes = pop_xmalloc(RIG_END - RIG_BASE);
  for (uint32_t i = 0; i < r->num_tiles; i++) {
    pop_image image = rig_image(r, i, bytes);
    expect_ok(rig_load_image(r, &image));
  }
  free(bytes);
}

/* Begins the code with a supervisor that starts one worker, whose code follows, waits for it, and
 * reports to the host. */
static inline void rig_start_worker(assembler *a)
{
  asm_li(a, T0, RIG_CODE + 4 * 6);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  asm_tile(a, TILE_HOST_SYNC, A0, A0, 0);
  asm_nops(a, 1);
}

/* Appends "report `event` to the host" in which the tile then waits; the answer comes to a0. */
static inline void rig_report(assembler *a, uint32_t event)
{
  asm_li(a, A0, event);
  asm_tile(a, TILE_HOST_SYNC, A0, A0, 0);
}

static inline uint32_t rig_run(rig *r)
{
  uint32_t event = 0xdead;
  expect_ok(machine_run(r->m, 0, &event));
  return event;
}

/* Runs into a fault of this kind. */
static inline const machine_fault *rig_run_into(rig *r, machine_fault_kind kind)
{
  uint32_t event;
  expect_error(machine_run(r->m, 0, &event), POP_ERROR_RUNTIME, machine_fault_name(kind), "run");
  const machine_fault *fault = machine_get_fault(r->m);
  cr_assert_eq(fault->kind, kind, "%s instead of %s", machine_fault_name(fault->kind),
               machine_fault_name(kind));
  return fault;
}

static inline uint32_t rig_word(const rig *r, uint32_t tile, uint32_t address)
{
  uint32_t word = 0;
  expect_ok(machine_read(r->m, tile, address, &word, sizeof word));
  return word;
}

#endif
