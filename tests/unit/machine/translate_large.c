/* Functions of thousands of blocks, which nobody writes and an attacker may: the translator takes a part of them, in a time
 * that grows with their length. (Without its limits these take minutes, longer than a test may.) */
#include <criterion/criterion.h>

#include "support/asm.h"
#include "support/compare_engines.h"
#include "support/rig.h"

enum { NUM_WORDS = 16000, CODE_BYTES = 0x11000, DATA = RIG_BASE + CODE_BYTES, STACK_BYTES = 0x100 };
enum { DATA_BYTES = STACK_BYTES * NUM_TILE_STACKS };

static void put(uint8_t *bytes, size_t *count, uint32_t word)
{
  memcpy(bytes + 4 * (*count)++, &word, 4);
}

/* A worker counts down from `rounds` and then enters the words, which lead out of their end. */
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
             4 * (uint32_t)(a->count + 1)); /* behind the next word: `jalr t1` comes back to it */

  uint8_t *bytes = pop_xcalloc(CODE_BYTES + DATA_BYTES, 1);
  size_t count = a->count;
  memcpy(bytes, a->words, 4 * count);
  for (uint32_t i = 0; i < NUM_WORDS; i++) put(bytes, &count, word);
  put(bytes, &count, isa_tile_op_word(TILE_EXIT, 0, 0, 0));

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
  compare_engines(&r.target, &image, stacks, 200000, what, 0);
  free(bytes);
  rig_free(&r);
}

Test(translate_large, thousands_of_calls_through_a_register_are_translated_in_part)
{
  compare_long_code("jalr t1", asm_i(0x67, RA, T1, 0), 100);
}

Test(translate_large, thousands_of_loops_in_one_another_are_translated_in_part)
{
  compare_long_code("beq a0, t1, .-4", asm_b(0x63, A0, T1, -4), 100);
}
