/* The division of 64-bit integers that native code does by the host's
 * (machine/translate_divisions.c): the device library's words are those that it knows; quotients and
 * rests are the host's; and both engines do the same, also where a block stands alone and gets
 * operands that are not of its case, and where one of its words is another one. */
#include <criterion/criterion.h>

#include <machine/translate.h>
#include <populus/data_dir.h>

#include "support/compare_engines.h"
#include "support/division_operands.h"
#include "support/random.h"
#include "support/seeds.h"

enum { S2 = 18, S3, S4, S5, T3 = 28, T4, T5, T6 };
enum { SRLI = 0x5013, XOR = 0x4033 };
enum { NUM_PAIRS = 250 };

/* In the tile's memory. Afterwards n is the quotient, d the rest. */
typedef struct pair {
  uint64_t n, d;
  uint32_t entry; /* 0: the routine, else the code_division whose block is called */
  uint32_t temporaries;
} pair;

_Static_assert(NUM_PAIRS * sizeof(pair) <= RIG_DATA_BYTES, "data");

typedef enum kind { KIND_ROUTINE, KIND_BLOCKS, KIND_OTHER_WORD } kind;

/* One operand of a random word, but not the return, becomes another register. */
static void spoil(uint64_t *random, uint32_t *words, uint32_t num_words)
{
  static const uint8_t places[] = {7, 15, 20}, registers[] = {5, 6, 7, 10, 11, 12, 13, 28, 29, 30};
  uint32_t *word = &words[random_below(random, num_words - 1)];
  uint32_t place = places[random_below(random, 3)];
  *word &= ~(31u << place);
  *word |= (uint32_t)registers[random_below(random, sizeof registers)] << place;
}

static void put_block(assembler *a, uint32_t division, uint32_t entries[NUM_DIVISIONS],
                      uint64_t *random, bool spoilt)
{
  uint32_t count;
  const uint32_t *words = code_division_words(division, &count);
  entries[division] = asm_here(a);
  size_t first = a->count;
  for (uint32_t i = 0; i < count; i++) asm_word(a, words[i]);
  if (spoilt) spoil(random, a->words + first, count);
}

/* As in divide64.S. */
static void put_routine(assembler *a, uint32_t entries[NUM_DIVISIONS], uint64_t *random, kind k)
{
  uint32_t spoilt = k == KIND_OTHER_WORD ? 1 + random_below(random, NUM_DIVISIONS - 1) : 0;
  entries[0] = asm_here(a);
  size_t divisor = asm_hole(a), zero = asm_hole(a), dividend = asm_hole(a);
  put_block(a, DIVISION_WORDS, entries, random, spoilt == DIVISION_WORDS);
  asm_patch_branch(a, divisor, ASM_BNE, A3, ZERO);
  asm_word(a, asm_i(SRLI, T1, A3, 3));
  size_t middle = asm_hole(a);
  put_block(a, DIVISION_LONG_DIVISOR, entries, random, spoilt == DIVISION_LONG_DIVISOR);
  asm_patch_branch(a, middle, ASM_BEQ, T1, ZERO);
  put_block(a, DIVISION_MIDDLE_DIVISOR, entries, random, spoilt == DIVISION_MIDDLE_DIVISOR);
  asm_patch_branch(a, dividend, ASM_BNE, A1, ZERO);
  put_block(a, DIVISION_LONG_DIVIDEND, entries, random, spoilt == DIVISION_LONG_DIVIDEND);
  asm_patch_branch(a, zero, ASM_BEQ, A2, ZERO);
  asm_addi(a, A2, A0, 0);
  asm_addi(a, A3, A1, 0);
  asm_addi(a, A0, ZERO, -1);
  asm_addi(a, A1, ZERO, -1);
  asm_jalr(a, ZERO, RA, 0);
}

/* Divides all pairs. */
static void put_worker(assembler *a, uint64_t *random, kind k)
{
  static const uint8_t temporaries[] = {T0, T1, T2, T3, T4, T5, T6};
  uint32_t entries[NUM_DIVISIONS];
  size_t over = asm_hole(a);
  put_routine(a, entries, random, k);
  asm_patch_branch(a, over, ASM_BEQ, ZERO, ZERO);
  asm_li(a, S0, RIG_DATA);
  asm_li(a, S1, RIG_DATA + NUM_PAIRS * sizeof(pair));
  uint32_t again = asm_here(a);
  for (uint32_t i = 0; i < 4; i++) asm_load(a, ASM_LW, A0 + i, S0, (int32_t)(4 * i));
  asm_load(a, ASM_LW, A4, S0, offsetof(pair, entry));
  size_t behind[NUM_DIVISIONS];
  for (uint32_t i = 0; i < (k == KIND_BLOCKS ? NUM_DIVISIONS : 1u); i++) {
    asm_addi(a, A5, A4, -(int32_t)i);
    size_t next = asm_hole(a);
    asm_jal(a, RA, entries[i]);
    behind[i] = asm_hole(a);
    asm_patch_branch(a, next, ASM_BNE, A5, ZERO);
  }
  for (uint32_t i = 0; i < (k == KIND_BLOCKS ? NUM_DIVISIONS : 1u); i++)
    asm_patch_branch(a, behind[i], ASM_BEQ, ZERO, ZERO);
  for (uint32_t i = 0; i < 4; i++) asm_store(a, ASM_SW, A0 + i, S0, (int32_t)(4 * i));
  for (uint32_t i = 0; i < sizeof temporaries; i++) asm_word(a, asm_r(XOR, S2, S2, temporaries[i]));
  asm_store(a, ASM_SW, S2, S0, offsetof(pair, temporaries));
  asm_addi(a, S0, S0, sizeof(pair));
  asm_branch(a, ASM_BNE, S0, S1, again);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

/* Of the interpreter. */
static void expect_quotients(const rig *r, const pop_image *image, const pair *pairs)
{
  outcome out;
  machine_options options = {.max_cycles_per_run = 1000000};
  expect_ok(run_image(&r->target, image, NULL, options, &out));
  for (uint32_t i = 0; i < NUM_PAIRS; i++) {
    const pair *p = &pairs[i];
    pair got;
    memcpy(&got, out.memory + (RIG_DATA - RIG_BASE) + i * sizeof got, sizeof got);
    cr_assert(got.n == (p->d ? p->n / p->d : UINT64_MAX) && got.d == (p->d ? p->n % p->d : p->n),
              "%llx / %llx is %llx, rest %llx", (unsigned long long)p->n, (unsigned long long)p->d,
              (unsigned long long)got.n, (unsigned long long)got.d);
  }
  free(out.memory);
}

/* The image divides what it has in its data. */
static pop_image make_image(rig *r, uint64_t *random, kind k)
{
  *r = rig_create(1, 0);
  rig_start_worker(&r->code[0]);
  put_worker(&r->code[0], random, k);
  return rig_image(r, 0, pop_xmalloc(RIG_END - RIG_BASE));
}

static void set_pairs(const pop_image *image, const pair pairs[NUM_PAIRS])
{
  memcpy((uint8_t *)image->bytes + (RIG_DATA - RIG_BASE), pairs, NUM_PAIRS * sizeof *pairs);
}

static void pick_pairs(uint64_t *random, pair pairs[NUM_PAIRS])
{
  for (uint32_t i = 0; i < NUM_PAIRS; i++) {
    uint64_t d = pick_operand(random, 1);
    pairs[i] = (pair){pick_operand(random, d), d, DIVISION_NONE, 0};
  }
}

static void free_image(rig *r, pop_image *image)
{
  free((void *)image->bytes);
  rig_free(r);
}

static void compare_divisions(uint64_t seed, kind k)
{
  rig r;
  pair pairs[NUM_PAIRS];
  uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
  pop_image image = make_image(&r, &random, k);
  pick_pairs(&random, pairs);
  if (k == KIND_BLOCKS)
    for (uint32_t i = 0; i < NUM_PAIRS; i++) pairs[i].entry = random_below(&random, NUM_DIVISIONS);
  set_pairs(&image, pairs);
  if (k == KIND_ROUTINE) expect_quotients(&r, &image, pairs);
  compare_engines(&r.target, &image, NULL, 1000000, "divisions", seed);
  free_image(&r, &image);
}

Test(divisions, quotients_and_rests_are_those_of_the_host)
{
  seed_range seeds = test_seeds(1, 16);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_divisions(seed, KIND_ROUTINE);
}

Test(divisions, many_quotients_and_rests_are_those_of_the_host)
{
  rig r;
  pair pairs[NUM_PAIRS];
  uint64_t random = 1;
  pop_image image = make_image(&r, &random, KIND_ROUTINE);
  seed_range seeds = test_seeds(3001, 3800);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
    random = seed * UINT64_C(0x9e3779b97f4a7c15);
    pick_pairs(&random, pairs);
    set_pairs(&image, pairs);
    expect_quotients(&r, &image, pairs);
  }
  free_image(&r, &image);
}

Test(divisions, the_ends_of_the_range)
{
  static const uint64_t ends[] = {0,
                                  1,
                                  2,
                                  3,
                                  UINT32_MAX,
                                  1ull << 32,
                                  INT64_MAX,
                                  1ull << 63,
                                  UINT64_MAX,
                                  UINT64_MAX - 1,
                                  0xffffffff00000000u,
                                  0x80000001,
                                  (1ull << 35) - 1,
                                  1ull << 35};
  enum { NUM_ENDS = sizeof ends / sizeof *ends };
  _Static_assert(NUM_ENDS * NUM_ENDS <= NUM_PAIRS, "pairs");
  rig r;
  pair pairs[NUM_PAIRS] = {0};
  uint64_t random = 1;
  pop_image image = make_image(&r, &random, KIND_ROUTINE);
  for (size_t i = 0; i < NUM_ENDS; i++)
    for (size_t j = 0; j < NUM_ENDS; j++)
      pairs[i * NUM_ENDS + j] = (pair){.n = ends[i], .d = ends[j]};
  set_pairs(&image, pairs);
  expect_quotients(&r, &image, pairs);
  compare_engines(&r.target, &image, NULL, 1000000, "ends", 0);
  free_image(&r, &image);
}

Test(divisions, blocks_with_other_operands_do_what_their_instructions_do)
{
  seed_range seeds = test_seeds(1001, 1012);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_divisions(seed, KIND_BLOCKS);
}

Test(divisions, blocks_with_another_word_are_others)
{
  seed_range seeds = test_seeds(2001, 2030);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
    compare_divisions(seed, KIND_OTHER_WORD);
}

static uint8_t *read_all(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file, "%s", path);
  cr_assert_eq(fseek(file, 0, SEEK_END), 0);
  *size = (size_t)ftell(file);
  cr_assert_eq(fseek(file, 0, SEEK_SET), 0);
  uint8_t *bytes = pop_xmalloc(*size);
  cr_assert_eq(fread(bytes, 1, *size, file), *size);
  fclose(file);
  return bytes;
}

static bool contains(const uint8_t *bytes, size_t size, const void *wanted, size_t length)
{
  for (size_t at = 0; at + length <= size; at++)
    if (!memcmp(bytes + at, wanted, length)) return true;
  return false;
}

Test(divisions, the_device_library_has_these_words)
{
  char *path = pop_xasprintf("%s/device/lib/libdevice.a", pop_data_dir());
  size_t size;
  uint8_t *library = read_all(path, &size);
  for (uint32_t i = DIVISION_NONE + 1; i < NUM_DIVISIONS; i++) {
    uint32_t count;
    const uint32_t *words = code_division_words(i, &count);
    cr_assert(contains(library, size, words, count * sizeof *words), "division %u", i);
  }
  free(library);
  free(path);
}
