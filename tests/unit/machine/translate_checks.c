/* Checks of native code that cover many accesses must refuse every access that is illegal by
 * itself. Each program is placed at every word around a border of memory, and must do there what
 * the interpreter does. */
#include "support/rig.h"

#include <string.h>

typedef struct piece {
  const char *what;
  void (*put)(assembler *a); /* T2: the place; S0: bytes, all of them 0xff except the first 32 */
} piece;

/* The visible results of a run. */
typedef struct outcome {
  bool failed;
  machine_fault_kind kind;
  uint32_t address, pc;
  uint64_t cycle;
  uint8_t data[RIG_END - RIG_DATA];
} outcome;

static void put_program(assembler *a, const piece *it)
{
  enum { SUPERVISOR_WORDS = 12 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, S0, RIG_DATA);
  asm_load(a, ASM_LW, T2, S0, 0); /* a constant would tell the translator too much */
  it->put(a);
  asm_store(a, ASM_SW, A0, S0, 8);
  asm_store(a, ASM_SW, A1, S0, 12);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static void run_piece(const piece *it, uint32_t place, machine_engine engine, outcome *out)
{
  rig r = rig_create_with(1, (machine_options){.engine = engine});
  put_program(&r.code[0], it);
  rig_load(&r);
  uint8_t bytes[RIG_STACKS - RIG_DATA];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = i < 32 ? (uint8_t)i : 0xff;
  memcpy(bytes, &place, sizeof place);
  expect_ok(machine_write(r.m, 0, RIG_DATA, bytes, sizeof bytes));
  uint32_t event;
  pop_error *error = machine_run(r.m, 0, &event);
  const machine_fault *fault = machine_get_fault(r.m);
  *out = (outcome){.failed = error != NULL,
                   .kind = fault->kind,
                   .address = fault->address,
                   .pc = fault->pc,
                   .cycle = fault->cycle};
  expect_ok(machine_read(r.m, 0, RIG_DATA, out->data, sizeof out->data));
  pop_error_free(error);
  rig_free(&r);
}

/* Tries the places around the one where `bytes` bytes would end at a border. Returns the number of
 * faults. */
static unsigned compare_around(const piece *it, uint32_t border, uint32_t bytes)
{
  enum { WORDS_AROUND = 4 };
  unsigned num_faults = 0;
  for (int32_t word = -WORDS_AROUND; word <= WORDS_AROUND; word++) {
    uint32_t place = border - bytes + 4 * (uint32_t)word;
    outcome interpreted, translated;
    run_piece(it, place, MACHINE_INTERPRETER, &interpreted);
    run_piece(it, place, MACHINE_TRANSLATOR, &translated);
    cr_assert(interpreted.failed == translated.failed && interpreted.kind == translated.kind &&
                  interpreted.address == translated.address && interpreted.pc == translated.pc &&
                  interpreted.cycle == translated.cycle,
              "%s at 0x%x: %s at 0x%x, pc 0x%x, instead of %s at 0x%x, pc 0x%x", it->what, place,
              machine_fault_name(translated.kind), translated.address, translated.pc,
              machine_fault_name(interpreted.kind), interpreted.address, interpreted.pc);
    cr_assert_eq(memcmp(interpreted.data, translated.data, sizeof interpreted.data), 0,
                 "%s at 0x%x", it->what, place);
    num_faults += interpreted.failed;
  }
  return num_faults;
}

/* Of 9 places, those whose last word is after the end fault. */
static void compare_at_end(const piece *pieces, size_t count, uint32_t bytes)
{
  for (size_t i = 0; i < count; i++)
    cr_assert_eq(compare_around(&pieces[i], RIG_END, bytes), 4, "%s", pieces[i].what);
}

/* ---- accesses in one block, and in blocks that follow it: 16 bytes ---- */

static void put_ascending(assembler *a)
{
  for (int32_t i = 0; i < 4; i++) asm_load(a, ASM_LW, i % 2 ? A0 : A1, T2, 4 * i);
}

static void put_descending(assembler *a)
{
  for (int32_t i = 3; i >= 0; i--) asm_load(a, ASM_LW, i % 2 ? A0 : A1, T2, 4 * i);
}

static void put_from_the_middle(assembler *a)
{
  asm_store(a, ASM_SW, ZERO, T2, 8);
  asm_load(a, ASM_LW, A0, T2, 0);
  asm_store(a, ASM_SB, A0, T2, 15);
  asm_load(a, ASM_LHU, A1, T2, 4);
}

static void put_through_another_register(assembler *a)
{
  asm_load(a, ASM_LW, A0, T2, 0);
  asm_addi(a, A2, T2, 4);
  asm_store(a, ASM_SW, A0, A2, 0);
  asm_addi(a, A2, A2, 4);
  asm_store(a, ASM_SW, A0, A2, 4);
}

/* The first check is that of a load. The next block stores. */
static void put_two_blocks(assembler *a)
{
  asm_load(a, ASM_LW, A0, T2, 0);
  asm_load(a, ASM_LW, A1, T2, 12);
  size_t hole = asm_hole(a);
  asm_store(a, ASM_SW, A0, T2, 8);
  asm_store(a, ASM_SW, A0, T2, 12);
  asm_patch_branch(a, hole, ASM_BEQ, A0, ZERO);
}

Test(translate_checks, one_test_for_a_block_covers_its_last_access)
{
  static const piece pieces[] = {{"ascending", put_ascending},
                                 {"descending", put_descending},
                                 {"from the middle", put_from_the_middle},
                                 {"through another register", put_through_another_register},
                                 {"two blocks", put_two_blocks}};
  compare_at_end(pieces, sizeof pieces / sizeof *pieces, 16);
}

/* Bases that are not multiples of 4, with offsets that make the addresses aligned: 19 bytes. */

static void put_odd_base(assembler *a)
{
  asm_load(a, ASM_LHU, A1, T2, 5);
  asm_load(a, ASM_LW, A0, T2, 3);
  asm_store(a, ASM_SW, A0, T2, 15);
  asm_store(a, ASM_SB, A0, T2, 8);
  asm_load(a, ASM_LW, A0, T2, 7);
}

static void put_odd_base_that_moves(assembler *a)
{
  asm_li(a, A2, 4);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LHU, A1, T2, 5);
  asm_load(a, ASM_LW, A0, T2, 3);
  asm_store(a, ASM_SW, A1, T2, 3);
  asm_addi(a, T2, T2, 4);
  asm_addi(a, A2, A2, -1);
  asm_branch(a, ASM_BNE, A2, ZERO, again);
}

static void put_odd_base_that_stays(assembler *a)
{
  asm_li(a, A2, 6);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, A0, T2, 3);
  asm_add(a, A1, A1, A0);
  asm_store(a, ASM_SW, A1, T2, 15);
  asm_addi(a, A2, A2, -1);
  asm_branch(a, ASM_BNE, A2, ZERO, again);
}

Test(translate_checks, offsets_make_places_multiples_of_4)
{
  static const piece pieces[] = {{"once", put_odd_base},
                                 {"that moves", put_odd_base_that_moves},
                                 {"that stays", put_odd_base_that_stays}};
  compare_at_end(pieces, sizeof pieces / sizeof *pieces, 19);
}

/* One of two words is aligned, wherever the base is. */
static void put_two_of_a_kind(assembler *a)
{
  asm_load(a, ASM_LW, A0, T2, 3);
  asm_load(a, ASM_LW, A1, T2, 5);
}

static void put_half_of_another_kind(assembler *a)
{
  asm_load(a, ASM_LHU, A0, T2, 6);
  asm_load(a, ASM_LW, A1, T2, 3);
}

static void put_two_of_a_kind_in_a_loop(assembler *a)
{
  asm_li(a, A2, 6);
  uint32_t again = asm_here(a);
  asm_load(a, ASM_LW, A0, T2, 3);
  asm_load(a, ASM_LHU, A1, T2, 6);
  asm_addi(a, T2, T2, 4);
  asm_addi(a, A2, A2, -1);
  asm_branch(a, ASM_BNE, A2, ZERO, again);
}

Test(translate_checks, offsets_make_some_places_no_multiples_of_4)
{
  static const piece pieces[] = {{"once", put_two_of_a_kind},
                                 {"half a word first", put_half_of_another_kind},
                                 {"in a loop", put_two_of_a_kind_in_a_loop}};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
    for (uint32_t bytes = 0; bytes < 4; bytes++)
      cr_assert_eq(compare_around(&pieces[i], RIG_DATA + 1024, bytes), 9, "%s", pieces[i].what);
}

/* At the beginning of the window. Constants lie before it, which may be loaded, and before those a
 * hole. */
Test(translate_checks, one_test_for_a_block_covers_its_first_access)
{
  static const piece pieces[] = {{"ascending", put_ascending},
                                 {"descending", put_descending},
                                 {"from the middle", put_from_the_middle}};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    cr_assert_eq(compare_around(&pieces[i], RIG_DATA, 0), 4, "%s", pieces[i].what);
    cr_assert_gt(compare_around(&pieces[i], RIG_HOLE, 0), 4, "%s", pieces[i].what);
  }
}

/* ---- tables: an index from the bytes, in a counted loop ---- */

static void begin_loop(assembler *a, uint32_t *again)
{
  asm_li(a, T0, 32);
  asm_addi(a, S1, S0, 32);
  *again = asm_here(a);
}

static void end_loop(assembler *a, uint32_t again)
{
  asm_word(a, asm_r(0x20004033, A5, A2, T2)); /* sh2add */
  asm_load(a, ASM_LW, A0, A5, 0);
  asm_add(a, A1, A1, A0);
  asm_addi(a, S1, S1, 2);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, again);
}

enum { MINU = 0x0a005033, MAXU = 0x0a007033, XOR = 0x4033, OR = 0x6033, AND = 0x7033 };

static void put_byte(assembler *a)
{
  uint32_t again;
  begin_loop(a, &again);
  asm_load(a, ASM_LBU, A2, S1, 0);
  end_loop(a, again);
}

/* 8 bits of 0xffff are left. A bound of the whole half-word would be too large to help. */
static void put_shifted_half_word(assembler *a)
{
  uint32_t again;
  begin_loop(a, &again);
  asm_load(a, ASM_LHU, A2, S1, 0);
  asm_word(a, asm_i(0x00005013, A2, A2, 8)); /* srli */
  end_loop(a, again);
}

static void put_combined(assembler *a, uint32_t operation)
{
  uint32_t again;
  begin_loop(a, &again);
  asm_load(a, ASM_LBU, A2, S1, 0);
  asm_load(a, ASM_LBU, A3, S1, 1);
  if (operation == XOR) asm_word(a, asm_i(0x00004013, A3, A3, 0x7f)); /* 0x80 ^ 0x7f below */
  if (operation == XOR) asm_word(a, asm_i(0x00007013, A2, A2, 0x7f));
  asm_word(a, asm_r(operation, A2, A2, A3));
  end_loop(a, again);
}

static void put_xor(assembler *a)
{
  put_combined(a, XOR);
}

static void put_or(assembler *a)
{
  put_combined(a, OR);
}

static void put_and(assembler *a)
{
  put_combined(a, AND);
}

static void put_minu(assembler *a)
{
  put_combined(a, MINU);
}

static void put_maxu(assembler *a)
{
  put_combined(a, MAXU);
}

Test(translate_checks, the_bound_of_an_index_covers_the_largest)
{
  static const piece pieces[] = {{"lbu", put_byte}, {"srli of lhu", put_shifted_half_word},
                                 {"xor", put_xor},  {"or", put_or},
                                 {"and", put_and},  {"minu", put_minu},
                                 {"maxu", put_maxu}};
  compare_at_end(pieces, sizeof pieces / sizeof *pieces, 4 * 256);
}

/* Values up to 4, two of which make 7. */
static void put_seven(assembler *a)
{
  uint32_t again;
  begin_loop(a, &again);
  asm_li(a, A4, 4);
  asm_load(a, ASM_LBU, A2, S1, 0);
  asm_word(a, asm_r(MINU, A2, A2, A4));
  asm_li(a, A4, 3);
  asm_load(a, ASM_LBU, A3, S1, 1);
  asm_word(a, asm_r(MINU, A3, A3, A4));
  asm_word(a, asm_r(XOR, A2, A2, A3));
  end_loop(a, again);
}

static void put_five_or_three(assembler *a)
{
  uint32_t again;
  begin_loop(a, &again);
  asm_li(a, A4, 4);
  asm_load(a, ASM_LBU, A2, S1, 0);
  asm_word(a, asm_r(MINU, A2, A2, A4));      /* 4, bound 4 */
  asm_word(a, asm_i(0x00004013, A2, A2, 7)); /* 3, bound 7 */
  asm_word(a, asm_r(MINU, A2, A2, A4));      /* 3, bound 4 */
  asm_word(a, asm_r(XOR, A2, A2, A4));       /* 7 */
  end_loop(a, again);
}

Test(translate_checks, xor_can_be_greater_than_both)
{
  static const piece pieces[] = {{"4 ^ 3", put_seven}, {"3 ^ 4", put_five_or_three}};
  compare_at_end(pieces, sizeof pieces / sizeof *pieces, 4 * 8);
}

/* A 16-bit index, of which the first value above 255 matters too. */
static void put_half_word(assembler *a)
{
  uint32_t again;
  begin_loop(a, &again);
  asm_load(a, ASM_LHU, A2, S1, 0);
  asm_word(a, asm_i(0x00007013, A3, A2, 0x1ff));
  asm_load(a, ASM_LBU, A2, S1, 0);
  asm_add(a, A2, A2, A3);
  end_loop(a, again);
}

Test(translate_checks, sums_of_indices_are_bounded_by_the_sum)
{
  static const piece pieces[] = {{"sum", put_half_word}};
  compare_at_end(pieces, 1, 4 * (0x1ff + 0xff + 1));
}

/* ---- elements of tables: an index from a list, in a loop that cannot be counted ---- */

enum { SH1ADD = 0x20002033, SH2ADD = 0x20004033, LIST = 64 };

/* The list ends with index 0. */
static void begin_list(assembler *a, const uint32_t *indices, uint32_t *again)
{
  for (int32_t i = 0; i == 0 || indices[i - 1]; i++) {
    asm_li(a, A2, indices[i]);
    asm_store(a, ASM_SW, A2, S0, LIST + 4 * i);
  }
  asm_addi(a, S1, S0, LIST);
  *again = asm_here(a);
  asm_load(a, ASM_LW, A2, S1, 0);
  asm_addi(a, S1, S1, 4);
}

static void end_list(assembler *a, uint32_t again)
{
  asm_add(a, A1, A1, A0);
  asm_branch(a, ASM_BNE, A2, ZERO, again);
}

static const uint32_t up_to_five[] = {1, 5, 2, 0};

static void put_words(assembler *a)
{
  uint32_t again;
  begin_list(a, up_to_five, &again);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_load(a, ASM_LW, A0, A5, 0);
  end_list(a, again);
}

/* The index is overwritten before the access. */
static void put_over_its_index(assembler *a)
{
  uint32_t again;
  begin_list(a, up_to_five, &again);
  asm_addi(a, A3, A2, 0);
  asm_word(a, asm_r(SH2ADD, A3, A3, T2));
  asm_load(a, ASM_LW, A0, A3, 0);
  end_list(a, again);
}

/* One check for two accesses, of which the second has the lower address; 24 bytes together. */
static void put_groups(assembler *a)
{
  static const uint32_t indices[] = {1, 4, 2, 0};
  uint32_t again;
  begin_list(a, indices, &again);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_load(a, ASM_LW, A0, A5, 4);
  asm_store(a, ASM_SW, A0, A5, 0);
  end_list(a, again);
}

/* Loaded in one block, stored in the next. */
static void put_next_block(assembler *a)
{
  uint32_t again;
  begin_list(a, up_to_five, &again);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_load(a, ASM_LW, A0, A5, 0);
  size_t hole = asm_hole(a);
  asm_store(a, ASM_SW, A2, A5, 0);
  asm_patch_branch(a, hole, ASM_BEQ, A0, ZERO);
  end_list(a, again);
}

/* The register depends on the path: the element, or the one two words after it. The index has
 * changed too. */
static void put_two_sums(assembler *a)
{
  static const uint32_t indices[] = {2, 3, 1, 0};
  uint32_t again;
  begin_list(a, indices, &again);
  asm_word(a, asm_i(0x00007013, A3, A2, 1)); /* andi */
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  size_t hole = asm_hole(a);
  asm_addi(a, A4, A2, 2);
  asm_word(a, asm_r(SH2ADD, A5, A4, T2));
  asm_addi(a, A4, ZERO, 0);
  asm_patch_branch(a, hole, ASM_BEQ, A3, ZERO);
  asm_load(a, ASM_LW, A0, A5, 0);
  end_list(a, again);
}

static void put_bytes(assembler *a)
{
  static const uint32_t indices[] = {1, 23, 7, 0};
  uint32_t again;
  begin_list(a, indices, &again);
  asm_add(a, A5, A2, T2);
  asm_load(a, ASM_LBU, A0, A5, 0);
  asm_store(a, ASM_SB, A2, A5, 0);
  end_list(a, again);
}

/* Words at half-word addresses: only the even ones are aligned. */
static void put_words_at_half_words(assembler *a)
{
  static const uint32_t indices[] = {2, 10, 4, 0};
  uint32_t again;
  begin_list(a, indices, &again);
  asm_word(a, asm_r(SH1ADD, A5, A2, T2));
  asm_load(a, ASM_LW, A0, A5, 0);
  end_list(a, again);
}

Test(translate_checks, elements_end_where_the_window_does)
{
  static const piece pieces[] = {{"words", put_words},
                                 {"over its index", put_over_its_index},
                                 {"groups", put_groups},
                                 {"next block", put_next_block},
                                 {"two sums", put_two_sums},
                                 {"bytes", put_bytes},
                                 {"words at half words", put_words_at_half_words}};
  compare_at_end(pieces, sizeof pieces / sizeof *pieces, 24);
}

static void put_negative(assembler *a)
{
  static const uint32_t indices[] = {1, UINT32_MAX, 0};
  uint32_t again;
  begin_list(a, indices, &again);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_store(a, ASM_SW, A2, A5, 0);
  end_list(a, again);
}

/* 2^30 and 2^31 + 2^30, shifted by two, wrap to 0. */
static void put_wrapping(assembler *a)
{
  static const uint32_t indices[] = {0x40000001, 0xc0000000, 0x80000000, 0};
  uint32_t again;
  begin_list(a, indices, &again);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_load(a, ASM_LW, A0, A5, 4);
  asm_store(a, ASM_SW, A2, A5, 4);
  end_list(a, again);
}

Test(translate_checks, elements_in_front_of_the_base_or_around_all_addresses)
{
  static const piece pieces[] = {{"negative", put_negative}, {"wrapping", put_wrapping}};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    cr_assert_gt(compare_around(&pieces[i], RIG_DATA, 0), 0, "%s", pieces[i].what);
    cr_assert_gt(compare_around(&pieces[i], RIG_END, 0), 0, "%s", pieces[i].what);
    cr_assert_lt(compare_around(&pieces[i], RIG_DATA + 1024, 0), 1, "%s", pieces[i].what);
  }
}

/* Every access is unaligned, or every other one. */
static void put_unaligned(assembler *a)
{
  uint32_t again;
  asm_addi(a, T2, T2, 2);
  begin_list(a, up_to_five, &again);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_load(a, ASM_LW, A0, A5, 0);
  end_list(a, again);
}

static void put_unaligned_sometimes(assembler *a)
{
  uint32_t again;
  begin_list(a, up_to_five, &again);
  asm_word(a, asm_r(SH1ADD, A5, A2, T2));
  asm_load(a, ASM_LHU, A0, A5, 0);
  asm_load(a, ASM_LW, A0, A5, 2);
  end_list(a, again);
}

Test(translate_checks, elements_of_a_base_that_is_not_aligned_are_not)
{
  static const piece pieces[] = {{"always", put_unaligned}, {"sometimes", put_unaligned_sometimes}};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
    cr_assert_eq(compare_around(&pieces[i], RIG_DATA + 1024, 0), 9, "%s", pieces[i].what);
}

/* Each round has another base: the loop changes it, or a function that it calls. */
static void put_moving_base(assembler *a)
{
  uint32_t again;
  begin_list(a, up_to_five, &again);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_load(a, ASM_LW, A0, A5, 0);
  asm_addi(a, T2, T2, 4);
  end_list(a, again);
}

/* A function that advances a register, too long for inlining. Returns its address. */
static uint32_t put_mover(assembler *a, uint32_t r)
{
  size_t over = asm_hole(a);
  uint32_t function = asm_here(a);
  asm_addi(a, r, r, 4);
  for (int i = 0; i < 200; i++) asm_addi(a, A4, A4, 1);
  asm_jalr(a, ZERO, RA, 0);
  asm_patch_branch(a, over, ASM_BEQ, ZERO, ZERO);
  return function;
}

static void put_base_that_a_call_moves(assembler *a)
{
  uint32_t again;
  uint32_t function = put_mover(a, T2);
  begin_list(a, up_to_five, &again);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_load(a, ASM_LW, A0, A5, 0);
  asm_jal(a, RA, function);
  end_list(a, again);
}

Test(translate_checks, elements_of_a_base_that_moves)
{
  static const piece pieces[] = {{"in the loop", put_moving_base},
                                 {"in a call", put_base_that_a_call_moves}};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
    cr_assert_eq(compare_around(&pieces[i], RIG_END, 28), 4, "%s", pieces[i].what);
}

/* A function calls the address in A3, which no instruction contains, often enough for native
 * code. */
static void put_place_that_unknown_code_moves(assembler *a)
{
  uint32_t mover = put_mover(a, A5);
  size_t over = asm_hole(a);
  uint32_t caller = asm_here(a);
  asm_addi(a, T1, RA, 0);
  asm_jalr(a, RA, A3, 0);
  for (int i = 0; i < 200; i++) asm_addi(a, A4, A4, 1);
  asm_addi(a, RA, T1, 0);
  asm_jalr(a, ZERO, RA, 0);
  asm_patch_branch(a, over, ASM_BEQ, ZERO, ZERO);
  asm_li(a, A3, mover / 2);
  asm_add(a, A3, A3, A3);
  asm_li(a, A2, 1);
  asm_li(a, S1, 3000);
  uint32_t again = asm_here(a);
  asm_word(a, asm_r(SH2ADD, A5, A2, T2));
  asm_jal(a, RA, caller);
  asm_load(a, ASM_LW, A0, A5, 0);
  asm_add(a, A1, A1, A0);
  asm_addi(a, S1, S1, -1);
  asm_branch(a, ASM_BNE, S1, ZERO, again);
}

Test(translate_checks, elements_whose_place_moves)
{
  static const piece pieces[] = {{"in unknown code", put_place_that_unknown_code_moves}};
  compare_at_end(pieces, 1, 12);
}
