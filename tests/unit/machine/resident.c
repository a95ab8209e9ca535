/* The resident memory of a whole IPU: what its images touch, and at most 32 MiB more, which include
 * the translator's LLVM. (About 16 MiB are usual. LLVM alone keeps 50 MiB if it does not give back
 * what it used.) */
#include "support/asm.h"
#include "support/expect.h"

#include <machine/machine.h>
#include <populus/arena.h>
#include <stdio.h>

enum {
  HOST_PAGE = 4096,
  TOUCHED_PAGES = 5, /* of a tile: code, three of data, and one that only the program writes */
  ROUNDS = 10000,
  ROOM_BYTES = 32 << 20
};

static uint64_t resident_bytes(void)
{
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  cr_assert_not_null(file, "Linux says there what is resident");
  unsigned long long kilobytes = 0;
  char line[256];
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "Rss: %llu kB", &kilobytes) == 1) break;
  fclose(file);
  cr_assert_neq(kilobytes, 0);
  return kilobytes << 10;
}

/* Worker 0 counts and adds floats, writes the sum to a page that the image leaves empty, and
 * ends. */
static void assemble(assembler *a, uint32_t data)
{
  enum { SUPERVISOR_WORDS = 16 };
  asm_li(a, T0, a->base + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  asm_li(a, A0, 1);
  asm_tile(a, TILE_HOST_SYNC, A0, A0, 0);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, T0, ROUNDS);
  asm_li(a, T1, data);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_FLW, 1, T1, 0);
  asm_word(a, 0x00107053); /* fadd.s f0, f0, f1 */
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, again);
  asm_li(a, T2, data + 64 * HOST_PAGE);
  asm_store(a, ASM_FSW, 0, T2, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static void load_all(machine *m, const pop_target *target)
{
  uint32_t base = target->memory_base, data = base + 16 * HOST_PAGE;
  assembler a = {.base = base};
  assemble(&a, data);
  uint8_t *bytes = pop_xcalloc(1, target->memory_bytes);
  memcpy(bytes, a.words, 4 * a.count);
  const float one = 1;
  for (uint32_t page = 0; page < 3; page++)
    memcpy(bytes + 16 * HOST_PAGE + page * 8 * HOST_PAGE, &one, sizeof one);
  const pop_image_segment segments[] = {
      {.start = base, .size = HOST_PAGE, .executable = true},
      {.start = data, .size = target->memory_bytes - 16 * HOST_PAGE, .writable = true}};
  pop_image image = {.base = base,
                     .size = target->memory_bytes,
                     .bytes = bytes,
                     .entry = base,
                     .segments = segments,
                     .num_segments = 2};
  for (; image.tile < target->tiles_per_ipu; image.tile++) expect_ok(machine_load(m, &image, NULL));
  free(bytes);
}

static void expect_room(machine_engine engine)
{
  pop_target target;
  machine *m;
  uint32_t event;
  float sum;
  expect_ok(pop_target_create("ipu2", 1, &target));
  cr_assert(target.tiles_per_ipu == 1472 && target.memory_bytes == 624 << 10);
  expect_ok(machine_create(&target, &(machine_options){.engine = engine, .num_threads = 2}, &m));
  load_all(m, &target);
  expect_ok(machine_run(m, 0, &event));
  expect_ok(machine_read(m, 1471, target.memory_base + 80 * HOST_PAGE, &sum, sizeof sum));
  cr_assert_eq(sum, (float)ROUNDS);
  uint64_t touched = (uint64_t)target.tiles_per_ipu * TOUCHED_PAGES * HOST_PAGE;
  uint64_t resident = resident_bytes();
#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(__SANITIZE_THREAD__) /* they use memory of their own */
  cr_assert_leq(resident, touched + ROOM_BYTES, "%llu KiB beyond what is touched",
                (unsigned long long)(resident - touched) >> 10);
#endif
  cr_assert_geq(resident, touched);
  machine_free(m);
}

Test(machine_resident, an_ipu_takes_what_its_images_touch)
{
  expect_room(MACHINE_INTERPRETER);
}

Test(machine_resident, the_translator_gives_back_what_it_used)
{
  expect_room(MACHINE_TRANSLATOR);
}
