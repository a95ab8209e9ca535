/* Functions of thousands of blocks, which only an attacker writes. The translator takes a part of
 * them, in a time that is proportional to their length. (Without its limits these take minutes,
 * longer than a test may.) */
#include <criterion/criterion.h>

#include "support/asm.h"
#include "support/compare_engines.h"
#include "support/rig.h"

enum { NUM_WORDS = 16000, CODE_BYTES = 0x11000, DATA = RIG_BASE + CODE_BYTES, STACK_BYTES = 0x100 };
enum { DATA_BYTES = STACK_BYTES * NUM_TILE_STACKS };

/* Runs the assembled code, followed by these words. */
static void compare_code(const char *what, rig *r, const uint32_t *words, size_t num_words,
                         uint64_t max_cycles)
{
  const assembler *a = &r->code[0];
  uint8_t *bytes = pop_xcalloc(CODE_BYTES + DATA_BYTES, 1);
  cr_assert_leq(4 * (a->count + num_words), CODE_BYTES);
  memcpy(bytes, a->words, 4 * a->count);
  memcpy(bytes + 4 * a->count, words, 4 * num_words);

  const pop_image_segment segments[] = {{.start = RIG_BASE, .size = CODE_BYTES, .executable = true},
                                        {.start = DATA, .size = DATA_BYTES, .writable = true}};
  pop_image image = {.base = RIG_BASE,
                     .size = CODE_BYTES + DATA_BYTES,
                     .bytes = bytes,
                     .entry = RIG_CODE,
                     .segments = segments,
                     .num_segments = 2};
  tile_stack stacks[NUM_TILE_STACKS];
  for (uint32_t i = 0; i < NUM_TILE_STACKS; i++)
    stacks[i] = (tile_stack){DATA + i * STACK_BYTES, STACK_BYTES};
  compare_engines(&r->target, &image, stacks, max_cycles, what, 0);
  free(bytes);
  rig_free(r);
}

/* A worker counts down from `rounds` and then enters the words, whose end leads out of them. */
static void compare_long_code(const char *what, uint32_t word, uint32_t rounds)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  asm_li(a, S0, rounds);
  uint32_t again = asm_here(a);
  asm_addi(a, S0, S0, -1);
  asm_branch(a, ASM_BNE, S0, ZERO, again);
  asm_li(a, T1,
         RIG_CODE +
             4 * (uint32_t)(a->count + 1)); /* after the next word: `jalr t1` returns to it */
  static uint32_t words[NUM_WORDS + 1];
  for (uint32_t i = 0; i < NUM_WORDS; i++) words[i] = word;
  words[NUM_WORDS] = isa_tile_op_word(TILE_EXIT, 0, 0, 0);
  compare_code(what, &r, words, NUM_WORDS + 1, 200000);
}

Test(translate_large, thousands_of_calls_through_a_register_are_translated_in_part)
{
  compare_long_code("jalr t1", asm_i(0x67, RA, T1, 0), 100);
}

Test(translate_large, thousands_of_loops_in_one_another_are_translated_in_part)
{
  compare_long_code("beq a0, t1, .-4", asm_b(0x63, A0, T1, -4), 100);
}

/* Each load is from the address that the last one loaded, so no other load's check covers it. The
 * word at that address points to itself, until the second round makes it odd. Before that there are
 * more loads than have exits of their own. (With so few rounds, only the plain copy of the loop
 * runs.) */
Test(translate_large, hundreds_of_exits_in_a_loop)
{
  enum { LOADS = 290, BEFORE = 270, SLTIU = 0x3013 };
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  asm_li(a, A0, DATA);
  asm_addi(a, T2, A0, 0);
  asm_store(a, ASM_SW, A0, A0, 0);
  asm_li(a, S0, 2);
  static uint32_t words[LOADS + 6];
  size_t count = 0;
  words[count++] = asm_i(SLTIU, T0, S0, 2);
  words[count++] = asm_r(0x33, A1, T2, T0); /* add */
  for (uint32_t i = 0; i < LOADS; i++) {
    if (i == BEFORE) words[count++] = asm_s(ASM_SW, A0, A1, 0);
    words[count++] = asm_i(ASM_LW, A0, A0, 0);
  }
  words[count++] = asm_i(0x13, S0, S0, -1);
  words[count] = asm_b(ASM_BNE, S0, ZERO, -4 * (int32_t)count);
  words[++count] = isa_tile_op_word(TILE_EXIT, 0, 0, 0);
  compare_code("exits", &r, words, count + 1, 200000);
}

/* A byte-code interpreter: each operation ends with a jump to any other, by a table after the
 * code. */
Test(translate_large, hundreds_of_jumps_by_one_table_are_translated)
{
  enum { OPERATIONS = 256, WORDS = 7, ANDI = 0x7013 };
  const uint32_t sh2add = 0x20004033;
  rig r = rig_create(1, 0);
  rig_start_worker(&r.code[0]);
  const uint32_t first = asm_here(&r.code[0]), table = first + 4 * WORDS * OPERATIONS;
  static uint32_t words[(WORDS + 1) * OPERATIONS];
  for (uint32_t n = 0; n < OPERATIONS; n++) {
    assembler own = {.count = 0};
    asm_li(&own, T1, table);
    asm_addi(&own, A0, A0, (int32_t)(2 * n + 1));
    asm_word(&own, asm_i(ANDI, T0, A0, OPERATIONS - 1));
    asm_word(&own, asm_r(sh2add, T1, T0, T1));
    asm_load(&own, ASM_LW, T1, T1, 0);
    asm_jalr(&own, ZERO, T1, 0);
    memcpy(words + (size_t)WORDS * n, own.words, WORDS * sizeof *words);
    words[WORDS * OPERATIONS + n] = first + 4 * WORDS * n;
  }
  compare_code("jumps by one table", &r, words, (WORDS + 1) * OPERATIONS, 200000);
}

/* A long function leaves no room in the unit (the code that is translated together) for
 * `has_no_room`. The address of that function is taken before that of `fits`, which is a part of
 * the unit. */
Test(translate_large, of_functions_by_pointer_those_that_fit_are_translated)
{
  rig r = rig_create(1, 0);
  assembler *a = &r.code[0];
  rig_start_worker(a);
  size_t start = asm_hole(a);
  uint32_t fits = asm_here(a);
  asm_word(a, asm_r(0x02000033, A0, A0, A0)); /* mul */
  asm_addi(a, A0, A0, 5);
  asm_jalr(a, ZERO, RA, 0);
  uint32_t has_no_room = asm_here(a);
  asm_addi(a, A0, A0, 77);
  asm_jalr(a, ZERO, RA, 0);
  asm_patch_branch(a, start, ASM_BEQ, ZERO, ZERO);
  asm_li(a, S0, 6);
  asm_li(a, A0, 3);
  uint32_t again = asm_here(a);
  asm_jal(a, RA, fits);
  size_t to_long = asm_hole(a);
  asm_li(a, T1, has_no_room);
  asm_li(a, T2, fits);
  size_t over = asm_hole(a);
  asm_addi(a, T1, T2, 0);
  asm_patch_branch(a, over, ASM_BLT, A0, ZERO);
  asm_jalr(a, RA, T1, 0);
  asm_addi(a, S0, S0, -1);
  asm_branch(a, ASM_BNE, S0, ZERO, again);
  asm_li(a, T1, DATA);
  asm_store(a, ASM_SW, A0, T1, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  a->words[to_long] = asm_j(RA, (int32_t)(4 * (a->count - to_long)));
  enum { LONG = 16500 };
  static uint32_t words[LONG + 1];
  for (uint32_t i = 0; i < LONG; i++) words[i] = asm_i(0x13, A0, A0, 1);
  words[LONG] = asm_i(0x67, ZERO, RA, 0);
  compare_code("by pointer", &r, words, LONG + 1, 2000000);
}
