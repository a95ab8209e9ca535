/* runtime/machine: loading of images (faults A06-A09 of tests/FAULTS.md, as far as the loader finds
 * them), access by the host, reset, many tiles, and code that tiles share. */
#include "support/rig.h"

#include <machine/state.h>

static uint8_t image_bytes[RIG_END - RIG_BASE];

Test(machine_memory, loaded_bytes_are_the_image)
{
  rig r = rig_create(2, 0);
  for (uint32_t i = 0; i < 2; i++) rig_report(&r.code[i], 1);
  cr_assert_eq(machine_loaded_bytes(r.m, 0), 0);
  rig_load(&r);
  cr_assert_eq(machine_loaded_bytes(r.m, 0), RIG_END - RIG_BASE);
  cr_assert_eq(machine_loaded_bytes(r.m, 7), 0);
  pop_image image = rig_image(&r, 1, image_bytes);
  static uint8_t memory[sizeof image_bytes];
  expect_ok(machine_read(r.m, 1, RIG_BASE, memory, sizeof memory));
  cr_assert_eq(memcmp(memory, image.bytes, sizeof memory), 0);
  rig_free(&r);
}

Test(machine_memory, A06_tile_missing_twice_or_beyond_the_target)
{
  rig r = rig_create(3, 0);
  for (uint32_t i = 0; i < 3; i++) rig_report(&r.code[i], 1);
  pop_image image = rig_image(&r, 0, image_bytes);
  uint32_t event;
  expect_ok(rig_load_image(&r, &image));
  expect_error(rig_load_image(&r, &image), POP_ERROR_FILE_LOAD, "tile 0 is loaded twice", "twice");
  image.tile = 3;
  expect_error(rig_load_image(&r, &image), POP_ERROR_FILE_LOAD, "tiles 0 to 2 only", "beyond");
  image.tile = 2;
  expect_ok(rig_load_image(&r, &image));
  expect_error(machine_run(r.m, 0, &event), POP_ERROR_FILE_LOAD, "1 of the 3 tiles", "missing");
  image.tile = 1;
  expect_ok(rig_load_image(&r, &image));
  cr_assert_eq(rig_run(&r), 1);
  rig_free(&r);
}

Test(machine_memory, A07_segments_that_overlap_or_leave_the_image)
{
  static const struct {
    const char *name, *message;
    pop_image_segment segments[2];
  } cases[] = {{"overlap",
                "overlaps",
                {{RIG_CODE, 64, false, true, false}, {RIG_CODE + 32, 64, true, false, false}}},
               {"order",
                "overlaps",
                {{RIG_CODE + 64, 64, true, false, false}, {RIG_CODE, 64, false, true, false}}},
               {"below",
                "outside",
                {{RIG_BASE - 4, 64, false, true, false}, {RIG_DATA, 64, true, false, false}}},
               {"behind",
                "outside",
                {{RIG_CODE, 64, false, true, false}, {RIG_END - 4, 8, true, false, false}}},
               {"wraps",
                "outside",
                {{RIG_CODE, 64, false, true, false}, {RIG_DATA, UINT32_MAX, true, false, false}}},
               {"writable code",
                "must not be writable",
                {{RIG_CODE, 64, true, true, false}, {RIG_DATA, 4, true, false, false}}},
               {"odd code",
                "multiple of 4",
                {{RIG_CODE + 2, 64, false, true, false}, {RIG_DATA, 4, true, false, false}}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r = rig_create(1, 0);
    pop_image image = rig_image(&r, 0, image_bytes);
    image.segments = cases[i].segments;
    image.num_segments = 2;
    expect_error(rig_load_image(&r, &image), POP_ERROR_FILE_LOAD, cases[i].message, cases[i].name);
    rig_free(&r);
  }
}

Test(machine_memory, A08_entry_outside_the_code)
{
  static const uint32_t entries[] = {0, RIG_BASE - 4, RIG_CODE + 2, RIG_DATA, RIG_CONST, RIG_END};
  rig r = rig_create(1, 0);
  rig_report(&r.code[0], 1);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    pop_image image = rig_image(&r, 0, image_bytes);
    image.entry = entries[i];
    expect_error(rig_load_image(&r, &image), POP_ERROR_FILE_LOAD, "not in executable code",
                 "entry");
  }
  rig_load(&r); /* a refused image changes nothing */
  cr_assert_eq(rig_run(&r), 1);
  rig_free(&r);
}

Test(machine_memory, A09_image_of_another_target)
{
  rig r = rig_create(1, 0);
  pop_image image = rig_image(&r, 0, image_bytes);
  image.base = 0x40000;
  expect_error(rig_load_image(&r, &image), POP_ERROR_FILE_LOAD, "another target", "base");
  image = rig_image(&r, 0, image_bytes);
  image.size = r.target.memory_bytes + 12;
  expect_error(rig_load_image(&r, &image), POP_ERROR_FILE_LOAD, "12 bytes more than the tile has",
               "size");
  rig_free(&r);
}

Test(machine_memory, targets_that_the_machine_cannot_be)
{
  pop_target target;
  machine *m;
  expect_ok(pop_target_create("ipu1", 1, &target));
  target.num_worker_contexts = 7;
  expect_error(machine_create(&target, NULL, &m), POP_ERROR_INVALID_ARGUMENT, "up to 6", "workers");
  cr_assert_null(m);
  expect_ok(pop_target_create("ipu1", 1, &target));
  target.exchange_bytes_per_cycle = 8;
  expect_error(machine_create(&target, NULL, &m), POP_ERROR_INVALID_ARGUMENT, "8 bytes per cycle",
               "exchange");
  expect_ok(pop_target_create("ipu1", 1, &target));
  target.memory_bytes = 3;
  expect_error(machine_create(&target, NULL, &m), POP_ERROR_INVALID_ARGUMENT, "", "invalid");
}

Test(machine_memory, host_access_is_checked)
{
  rig r = rig_create(2, 0);
  for (uint32_t i = 0; i < 2; i++) rig_report(&r.code[i], 1);
  rig_load(&r);
  uint32_t end = RIG_BASE + r.target.memory_bytes, value = 0x11223344, back = 0;
  static const struct {
    uint32_t tile, address, size;
  } bad[] = {{2, RIG_DATA, 4},
             {0, RIG_BASE - 1, 1},
             {0, RIG_BASE + 624 * 1024, 1},
             {0, RIG_BASE + 624 * 1024 - 3, 4},
             {0, 0xffffffff, 4},
             {0, RIG_DATA, 0xffffffff}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    expect_error(machine_write(r.m, bad[i].tile, bad[i].address, &value, bad[i].size),
                 POP_ERROR_INDEX, "writing", "write");
    expect_error(machine_read(r.m, bad[i].tile, bad[i].address, &back, bad[i].size),
                 POP_ERROR_INDEX, "reading", "read");
  }
  expect_ok(machine_write(r.m, 1, end - 4, &value, 4));
  expect_ok(machine_read(r.m, 1, end - 4, &back, 4));
  cr_assert_eq(back, value);
  cr_assert_eq(rig_word(&r, 0, end - 4), 0);
  expect_ok(machine_read(r.m, 1, end, &back, 0));
  rig_free(&r);
}

/* Code that the host writes runs next. */
Test(machine_memory, host_may_replace_code)
{
  rig r = rig_create(1, 0);
  uint32_t loop = asm_here(&r.code[0]);
  rig_report(&r.code[0], 1);
  asm_jal(&r.code[0], ZERO, loop);
  rig_load(&r);
  cr_assert_eq(rig_run(&r), 1);
  uint32_t word = asm_i(0x13, A0, A0, 41); /* the addi of li a0, 1 */
  expect_ok(machine_write(r.m, 0, RIG_CODE + 4, &word, 4));
  cr_assert_eq(rig_run(&r), 41);
  rig_free(&r);
}

Test(machine_memory, reset_makes_it_as_new)
{
  rig r = rig_create(1, 0);
  rig_report(&r.code[0], 5);
  asm_tile(&r.code[0], TILE_TRAP, 0, ZERO, 0);
  for (int round = 0; round < 3; round++) {
    rig_load(&r);
    cr_assert_eq(rig_word(&r, 0, RIG_DATA), 0);
    cr_assert_eq(machine_get_counters(r.m).cycles, 0);
    cr_assert_eq(rig_run(&r), 5);
    uint32_t one = 1;
    expect_ok(machine_write(r.m, 0, RIG_DATA, &one, 4));
    rig_run_into(&r, MACHINE_FAULT_TRAP);
    cr_assert_eq(machine_get_counters(r.m).instructions, 3);
    machine_reset(r.m);
    cr_assert_eq(machine_get_fault(r.m)->kind, MACHINE_FAULT_NONE);
    cr_assert_eq(machine_loaded_bytes(r.m, 0), 0);
    cr_assert_eq(machine_get_counters(r.m).supersteps, 0);
  }
  rig_free(&r);
}

/* The address space of 64 IPUs. A few tiles are loaded, the others never touched. */
Test(machine_memory, reservation_of_94208_tiles)
{
  pop_target target;
  machine *m;
  expect_ok(pop_target_create("ipu2", 64, &target));
  expect_ok(machine_create(&target, NULL, &m));
  uint32_t value = 1, last = 94207;
  expect_ok(machine_write(m, last, RIG_DATA, &value, 4));
  expect_ok(machine_read(m, last - 1, RIG_DATA, &value, 4));
  cr_assert_eq(value, 0);
  machine_free(m);
}

/* Tiles with equal code share its decoded form, whatever their data. */
Test(machine_memory, equal_code_is_decoded_once)
{
  enum { TILES = 50 };
  rig r = rig_create(TILES, 0);
  for (uint32_t i = 0; i < TILES; i++) {
    asm_nops(&r.code[i], 300); /* into the second page */
    asm_tile(&r.code[i], TILE_NUMBER, T0, 0, 0);
    asm_li(&r.code[i], T1, RIG_DATA);
    asm_store(&r.code[i], ASM_SW, T0, T1, 0);
    if (i == 7) asm_nops(&r.code[i], 1); /* a different second page */
    rig_report(&r.code[i], 1);
  }
  rig_load(&r);
  rig_run(&r);
  cr_assert_eq(r.m->code.num_pages, 3);
  for (uint32_t i = 0; i < TILES; i++) cr_assert_eq(rig_word(&r, i, RIG_DATA), i);
  rig_free(&r);
}

/* The same images give the same memory, counters and fault. */
Test(machine_memory, two_machines_agree)
{
  enum { TILES = 7 };
  rig rigs[2];
  for (int k = 0; k < 2; k++) {
    rigs[k] = rig_create(TILES, 3000);
    for (uint32_t i = 0; i < TILES; i++) {
      assembler *a = &rigs[k].code[i];
      asm_nops(a, i * 13 % 5);
      asm_tile(a, TILE_SYNC, 0, 0, 0);
      asm_li(a, T0, RIG_DATA);
      asm_csrr(a, T1, 0xc00);
      asm_store(a, ASM_SW, T1, T0, 0);
      if (i == 4) asm_jal(a, ZERO, asm_here(a) - 8); /* loops for ever */
      rig_report(a, 1);
    }
    rig_load(&rigs[k]);
    rig_run_into(&rigs[k], MACHINE_FAULT_OUT_OF_CYCLES);
  }
  const machine_fault *one = machine_get_fault(rigs[0].m), *two = machine_get_fault(rigs[1].m);
  cr_assert_eq(one->tile, 4);
  cr_assert_eq(one->tile, two->tile);
  cr_assert_eq(one->pc, two->pc);
  cr_assert_eq(one->cycle, two->cycle);
  cr_assert_eq(one->num_faults, two->num_faults);
  machine_counters a = machine_get_counters(rigs[0].m), b = machine_get_counters(rigs[1].m);
  cr_assert_eq(a.cycles, b.cycles);
  cr_assert_eq(a.instructions, b.instructions);
  cr_assert_eq(a.supersteps, b.supersteps);
  for (uint32_t i = 0; i < TILES; i++)
    cr_assert_eq(rig_word(&rigs[0], i, RIG_DATA), rig_word(&rigs[1], i, RIG_DATA));
  for (int k = 0; k < 2; k++) rig_free(&rigs[k]);
}
