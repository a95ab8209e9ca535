/* Tile programs of the form that compilers make, from a string of bytes. Worker 0 runs nested and
 * counted loops, searches, branches, groups of accesses through several pointers, tables, calls
 * (also through registers), arithmetic in 32 and 64 bits and in single and half precision, and
 * reads counters. Most programs are careful: they access only valid memory. The pointers of others
 * begin near borders and go anywhere. Every string is a program. Each byte decides one thing; bytes
 * after its end count as 0.
 *
 *   CODE    executable          CONST   read only          HOLE    in no segment
 *   DATA    writable; perhaps with a read-only part that ends in the middle of a word
 *   STACKS  of the contexts     FAR     writable, in interleaved memory
 */
#ifndef POPULUS_TEST_RANDOM_KERNEL_H
#define POPULUS_TEST_RANDOM_KERNEL_H

#include "asm.h"
#include "support/random.h"

#include <machine/machine.h>
#include <string.h>

enum {
  KERNEL_BASE = 0x4c000,
  KERNEL_CODE = KERNEL_BASE,
  KERNEL_CONST = KERNEL_CODE + 4 * ASM_MAX_WORDS,
  KERNEL_CONST_BYTES = 0x400,
  KERNEL_HOLE = KERNEL_CONST + KERNEL_CONST_BYTES,
  KERNEL_DATA = KERNEL_HOLE + 0x400,
  KERNEL_DATA_BYTES = 0x2000,
  KERNEL_STACKS = KERNEL_DATA + KERNEL_DATA_BYTES,
  KERNEL_STACK_BYTES = 0x100,
  KERNEL_STACKS_END = KERNEL_STACKS + NUM_TILE_STACKS * KERNEL_STACK_BYTES,
  KERNEL_FAR = 0x80000,
  KERNEL_FAR_BYTES = 0x1000,
  KERNEL_END = KERNEL_FAR + KERNEL_FAR_BYTES
};

typedef struct kernel {
  assembler code;
  uint8_t bytes[KERNEL_END - KERNEL_BASE];
  pop_image_segment segments[6];
  tile_stack stacks[NUM_TILE_STACKS];
  uint64_t max_cycles;
  pop_image image; /* of all this */
} kernel;

typedef struct kernel_maker {
  const uint8_t *choices;
  size_t num_choices, at;
  assembler *a;
  size_t function_start;
  uint32_t depth; /* of loops */
  uint32_t leaf, middle;
  bool in_function, careful;
} kernel_maker;

static inline uint32_t kernel_choose(kernel_maker *k, uint32_t below)
{
  uint32_t value = 0;
  for (uint64_t reach = 1; reach < below; reach <<= 8)
    value = value << 8 | (k->at < k->num_choices ? k->choices[k->at++] : 0);
  return value % below;
}

static inline uint32_t kernel_choose_of(kernel_maker *k, const uint32_t *values, uint32_t count)
{
  return values[kernel_choose(k, count)];
}
#define KERNEL_CHOOSE(k, ...)                                                                      \
  kernel_choose_of(k, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* Registers: pointers s0, s1, s2, s3; values a0-a7; t2 and s4 in between; t0, t1, t3-t6 counters and bounds of
 * three nested loops; f0-f7 values. s5 keeps the return address of a function that calls. */
enum { S2 = 18, S3 = 19, S4 = 20, S5 = 21, T3 = 28, T4 = 29, T5 = 30, T6 = 31 };

static inline uint32_t kernel_pointer(kernel_maker *k)
{
  return KERNEL_CHOOSE(k, S0, S1, S2, S3);
}

static inline uint32_t kernel_value(kernel_maker *k)
{
  return A0 + kernel_choose(k, 8);
}

static inline uint32_t kernel_place(kernel_maker *k)
{
  if (k->careful)
    return KERNEL_CHOOSE(k, KERNEL_DATA + 1024, KERNEL_DATA + 3072, KERNEL_FAR + 1024,
                         KERNEL_DATA + 1024) +
           4 * kernel_choose(k, 64);
  uint32_t place = KERNEL_CHOOSE(
      k, KERNEL_DATA + 512, KERNEL_DATA + 2048, KERNEL_DATA + 4096, KERNEL_FAR + 256, KERNEL_STACKS,
      KERNEL_CONST + 512, KERNEL_DATA + 512, KERNEL_DATA + 4096, KERNEL_STACKS + KERNEL_STACK_BYTES,
      KERNEL_HOLE, KERNEL_STACKS_END, KERNEL_DATA + 64, KERNEL_FAR + KERNEL_FAR_BYTES, KERNEL_DATA);
  place += 4 * kernel_choose(k, 32) - 64;
  if (kernel_choose(k, 32) == 31) place += kernel_choose(k, 4);
  return place;
}

enum {
  KERNEL_LIMIT = 560
}; /* words of a function: what branches reach, with room for the last statement */

static inline bool kernel_is_full(const kernel_maker *k)
{
  return k->a->count - k->function_start > KERNEL_LIMIT;
}

/* Statements */

static inline void kernel_put_group(kernel_maker *k)
{
  uint32_t pointer = kernel_pointer(k), count = 1 + kernel_choose(k, 5);
  uint32_t bytes = KERNEL_CHOOSE(k, 4, 4, 4, 2, 1);
  int32_t offset = (int32_t)(bytes * kernel_choose(k, 9)) - 4 * (int32_t)bytes;
  bool floats = bytes > 1 && kernel_choose(k, 3) == 0;
  for (uint32_t i = 0; i < count; i++, offset += (int32_t)bytes) {
    bool store = kernel_choose(k, 3) == 0 && !(k->careful && pointer == S3),
         is_signed = bytes < 4 && kernel_choose(k, 2);
    uint32_t value = floats ? kernel_choose(k, 8) : kernel_value(k);
    uint32_t width = bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    if (floats)
      asm_word(k->a, store ? asm_s(0x27 | width << 12, pointer, value, offset)
                           : asm_i(0x07 | width << 12, value, pointer, offset));
    else if (store)
      asm_store(k->a, 0x23 | width << 12, value, pointer, offset);
    else
      asm_load(k->a, 0x03 | (width | (bytes < 4 && !is_signed ? 4u : 0)) << 12, value, pointer,
               offset);
  }
}

static inline void kernel_put_integer(kernel_maker *k)
{
  static const uint32_t operations[] = {
      0x33,       0x40000033, 0x4033,     0x6033,     0x7033,     0x1033,     0x5033,
      0x40005033, 0x2033,     0x3033,     0x02000033, 0x02001033, 0x02003033, 0x02004033,
      0x02005033, 0x02006033, 0x02007033, 0x0a004033, 0x0a005033, 0x0a006033, 0x0a007033,
      0x20002033, 0x20004033, 0x20006033, 0x40007033, 0x60001033, 0x60005033};
  uint32_t operation = kernel_choose_of(k, operations, sizeof operations / sizeof *operations);
  for (uint32_t n = 1 + kernel_choose(k, 4); n > 0; n--)
    asm_word(k->a, asm_r(operation, kernel_value(k), kernel_value(k), kernel_value(k)));
  if (kernel_choose(k, 2))
    asm_word(k->a, asm_i(KERNEL_CHOOSE(k, 0x13, 0x4013, 0x7013, 0x6013), kernel_value(k),
                         kernel_value(k), (int32_t)kernel_choose(k, 2048)));
}

/* Additions and subtractions of 64 bits, and products of 64 bits. */
static inline void kernel_put_wide(kernel_maker *k)
{
  assembler *a = k->a;
  switch (kernel_choose(k, 3)) {
  case 0: /* a1:a0 += a3:a2 */
    asm_add(a, A0, A0, A2);
    asm_word(a, asm_r(0x3033, T2, A0, A2));
    asm_add(a, A1, A1, A3);
    asm_add(a, A1, A1, T2);
    return;
  case 1: /* a5:a4 -= a1:a0 */
    asm_word(a, asm_r(0x3033, T2, A4, A0));
    asm_word(a, asm_r(0x40000033, A4, A4, A0));
    asm_word(a, asm_r(0x40000033, A5, A5, A1));
    asm_word(a, asm_r(0x40000033, A5, A5, T2));
    return;
  default: /* a7:a6 = a0 * a2 */
    asm_word(a, asm_r(kernel_choose(k, 2) ? 0x02003033 : 0x02001033, A7, A0, A2));
    asm_word(a, asm_r(0x02000033, A6, A0, A2));
  }
}

/* Single and half precision: arithmetic, fused, comparisons, conversions. */
static inline void kernel_put_float(kernel_maker *k)
{
  bool half = kernel_choose(k, 3) == 0;
  uint32_t format = half ? 2u << 25 : 0, f = kernel_choose(k, 8), g = kernel_choose(k, 8),
           h = kernel_choose(k, 8), x = kernel_value(k);
  static const uint32_t plain[] = {0x7053,     0x08007053, 0x10007053, 0x18007053, 0x20000053,
                                   0x20001053, 0x20002053, 0x28000053, 0x28001053};
  switch (kernel_choose(k, 8)) {
  case 0: /* fused: fmadd, fmsub, fnmsub, fnmadd */
    asm_word(k->a, asm_r(0x7043 | KERNEL_CHOOSE(k, 0, 4, 8, 12) | format, f, g, h) | f << 27);
    return;
  case 1: /* fle, flt, feq */
    asm_word(k->a, asm_r(0xa0000053 | kernel_choose(k, 3) << 12 | format, x, g, h));
    return;
  case 2: /* to an integer, towards zero, and back */
    asm_word(k->a, asm_r(0xc0001053 | format, x, g, kernel_choose(k, 2)));
    return;
  case 3:
    asm_word(k->a, asm_r(0xd0007053 | format, f, x, kernel_choose(k, 2)));
    return;
  case 4: /* bits of a single */
    asm_word(k->a, kernel_choose(k, 2) ? asm_r(0xe0000053, x, g, 0) : asm_r(0xf0000053, f, x, 0));
    return;
  case 5: /* between the formats, square root */
    asm_word(k->a, half ? asm_r(0x44007053, f, g, 0)
                        : asm_r(KERNEL_CHOOSE(k, 0x40207053, 0x58007053), f, g, 0));
    return;
  default:
    asm_word(k->a, asm_r(plain[kernel_choose(k, 9)] | format, f, g, h));
  }
}

/* A table's entry, by an index with a bound or of any size. */
static inline void kernel_put_gather(kernel_maker *k)
{
  assembler *a = k->a;
  uint32_t v = kernel_value(k), table = kernel_pointer(k), shift = kernel_choose(k, 3);
  static const uint32_t sums[] = {0x33, 0x20002033, 0x20004033};
  switch (kernel_choose(k, 4)) {
  case 0:
    asm_load(a, ASM_LBU, T2, kernel_pointer(k), (int32_t)kernel_choose(k, 8));
    break;
  case 1:
    asm_load(a, ASM_LHU, T2, kernel_pointer(k), 2 * (int32_t)kernel_choose(k, 8));
    break;
  case 2:
    asm_word(a, asm_i(0x7013, T2, kernel_value(k), (int32_t)KERNEL_CHOOSE(k, 7, 63, 255, 1023)));
    break;
  default:
    asm_word(a, asm_i(0x5013, T2, kernel_value(k), 20 + (int32_t)kernel_choose(k, 12)));
  }
  if (k->careful) asm_word(a, asm_i(0x7013, T2, T2, (int32_t)KERNEL_CHOOSE(k, 7, 63, 127)));
  asm_word(a, asm_r(sums[shift], S4, T2, table));
  if (kernel_choose(k, 3) || (k->careful && table == S3))
    asm_load(a, shift == 2 ? ASM_LW : shift ? ASM_LHU : ASM_LBU, v, S4, 0);
  else
    asm_store(a, shift == 2 ? ASM_SW : shift ? ASM_SH : ASM_SB, v, S4, 0);
}

static inline void kernel_put_call(kernel_maker *k)
{
  assembler *a = k->a;
  if (k->in_function) {
    kernel_put_integer(k);
    return;
  }
  uint32_t callee = kernel_choose(k, 2) ? k->leaf : k->middle;
  switch (kernel_choose(k, 3)) {
  case 0:
    asm_jal(a, RA, callee);
    return;
  case 1: /* which, is known when it runs */
    asm_li(a, S4, k->leaf);
    asm_li(a, T2, k->middle - k->leaf);
    asm_word(a, asm_i(0x7013, A7, kernel_value(k), 1));
    asm_word(a, asm_r(0x02000033, T2, T2, A7));
    asm_add(a, T2, T2, S4);
    asm_jalr(a, RA, T2, 0);
    return;
  default:
    asm_li(a, T2, callee);
    asm_jalr(a, RA, T2, 0);
  }
}

static inline void kernel_put_block(kernel_maker *k, uint32_t count);

static inline uint32_t kernel_branch_kind(kernel_maker *k)
{
  return KERNEL_CHOOSE(k, ASM_BEQ, ASM_BNE, ASM_BLT, ASM_BGE, 0x6063, 0x7063);
}

static inline void kernel_put_if(kernel_maker *k)
{
  assembler *a = k->a;
  uint32_t kind = kernel_branch_kind(k), x = kernel_value(k), y = kernel_value(k);
  size_t to_else = asm_hole(a);
  kernel_put_block(k, 1 + kernel_choose(k, 2));
  if (kernel_choose(k, 2)) {
    size_t to_end = asm_hole(a);
    asm_patch_branch(a, to_else, kind, x, y);
    kernel_put_block(k, 1 + kernel_choose(k, 2));
    asm_patch_branch(a, to_end, ASM_BEQ, ZERO, ZERO);
  } else {
    asm_patch_branch(a, to_else, kind, x, y);
  }
}

/* s3 is where careful programs only load from. */
static inline void kernel_put_pointer(kernel_maker *k, uint32_t pointer)
{
  bool constant = k->careful && pointer == S3 && kernel_choose(k, 2);
  asm_li(k->a, pointer, constant ? KERNEL_CONST + 64 + 4 * kernel_choose(k, 32) : kernel_place(k));
}

static inline int32_t kernel_step(kernel_maker *k)
{
  return (int32_t)(k->careful ? KERNEL_CHOOSE(k, 4, 4, 8, (uint32_t)-4, 12)
                              : KERNEL_CHOOSE(k, 4, 4, 8, (uint32_t)-4, 1, 2, 16));
}

/* A loop with a counter, or until a pointer reaches its end; sometimes with another exit. */
static inline void kernel_put_loop(kernel_maker *k)
{
  static const uint8_t counters[] = {T0, T3, T5}, bounds[] = {T1, T4, T6};
  assembler *a = k->a;
  if (k->depth == 3) {
    kernel_put_group(k);
    return;
  }
  uint32_t counter = counters[k->depth], bound = bounds[k->depth], pointer = kernel_pointer(k);
  uint32_t moved[2], num_moved = kernel_choose(k, 3);
  if (k->careful) kernel_put_pointer(k, pointer);
  for (uint32_t i = 0; i < num_moved; i++) {
    moved[i] = kernel_pointer(k);
    if (k->careful) kernel_put_pointer(k, moved[i]);
  }
  uint32_t rounds = kernel_choose(k, k->depth ? 24 : 60), kind = kernel_choose(k, 4);
  int32_t step = (int32_t)KERNEL_CHOOSE(k, 1, 1, 4, 2, 3, (uint32_t)-1, (uint32_t)-4);
  if (kind == 3) {
    asm_addi(a, bound, pointer, 4 * (int32_t)rounds);
  } else {
    uint32_t start = KERNEL_CHOOSE(k, 0, 0, 1, 5, 0x7ffffff0);
    asm_li(a, counter, start);
    asm_li(a, bound, start + rounds * (uint32_t)step + (kernel_choose(k, 8) == 7));
  }
  k->depth++;
  uint32_t again = asm_here(a);
  kernel_put_block(k, 1 + kernel_choose(k, 3));
  size_t out = kernel_choose(k, 6) == 5 ? asm_hole(a) : 0;
  kernel_put_block(k, 1 + kernel_choose(k, 2));
  k->depth--;
  for (uint32_t i = 0; i < num_moved; i++) asm_addi(a, moved[i], moved[i], kernel_step(k));
  if (kind == 3) {
    asm_addi(a, pointer, pointer, 4);
    asm_branch(a, KERNEL_CHOOSE(k, ASM_BNE, 0x6063), pointer, bound, again);
  } else {
    asm_addi(a, counter, counter, step);
    asm_branch(a, KERNEL_CHOOSE(k, ASM_BNE, ASM_BNE, ASM_BLT, 0x6063), counter, bound, again);
  }
  if (out) asm_patch_branch(a, out, kernel_branch_kind(k), kernel_value(k), kernel_value(k));
}

static inline void kernel_put_csr(kernel_maker *k)
{
  uint32_t number = KERNEL_CHOOSE(k, CSR_CYCLE, CSR_INSTRET, CSR_CYCLEH, CSR_RANDOM, CSR_RANDOM);
  if (number == CSR_RANDOM) number += kernel_choose(k, NUM_RANDOM_WORDS);
  if (number < CSR_CYCLE && kernel_choose(k, 2)) {
    uint32_t to = kernel_choose(k, 2) ? ZERO : kernel_value(k);
    asm_csrrw(k->a, to, kernel_value(k), number);
  } else {
    asm_csrr(k->a, kernel_value(k), number);
  }
}

static inline void kernel_put_statement(kernel_maker *k)
{
  switch (kernel_choose(k, 16)) {
  case 0:
  case 1:
  case 2:
  case 3:
    kernel_put_group(k);
    return;
  case 4:
  case 5:
    kernel_put_integer(k);
    return;
  case 6:
    kernel_put_wide(k);
    return;
  case 7:
  case 8:
    kernel_put_float(k);
    return;
  case 9:
    kernel_put_gather(k);
    return;
  case 10:
    kernel_put_if(k);
    return;
  case 11:
  case 12:
    kernel_put_loop(k);
    return;
  case 13:
    kernel_put_call(k);
    return;
  case 14: /* cycle, instret, cycleh; a word of the random state */
    kernel_put_csr(k);
    return;
  default: {
    uint32_t p = kernel_pointer(k);
    if (!k->careful || k->depth == 0) asm_addi(k->a, p, p, kernel_step(k));
  }
  }
}

static inline void kernel_put_block(kernel_maker *k, uint32_t count)
{
  for (; count > 0 && !kernel_is_full(k); count--) kernel_put_statement(k);
}

/* Parts */

static inline void kernel_put_functions(kernel_maker *k)
{
  assembler *a = k->a;
  k->in_function = true;
  k->leaf = asm_here(a);
  k->function_start = a->count;
  k->depth = 2; /* its loops are the innermost of its callers */
  kernel_put_block(k, 1 + kernel_choose(k, 3));
  asm_jalr(a, ZERO, RA, 0);
  k->middle = asm_here(a);
  k->function_start = a->count;
  asm_addi(a, S5, RA, 0);
  asm_jal(a, RA, k->leaf);
  kernel_put_block(k, 1 + kernel_choose(k, 2));
  asm_jalr(a, ZERO, S5, 0);
  k->depth = 0;
  k->in_function = false;
}

static inline void kernel_put_worker(kernel_maker *k)
{
  static const uint8_t pointers[] = {S0, S1, S2, S3};
  assembler *a = k->a;
  k->function_start = a->count;
  asm_li(a, S4, KERNEL_DATA);
  for (uint32_t f = 0; f < 8; f++) asm_load(a, ASM_FLW, f, S4, 4 * (int32_t)f);
  for (unsigned i = 0; i < 4; i++) kernel_put_pointer(k, pointers[i]);
  asm_li(a, SP, KERNEL_STACKS + KERNEL_STACK_BYTES - 4 * kernel_choose(k, 16));
  for (uint32_t r = A0; r <= A7; r++)
    asm_li(a, r, kernel_choose(k, 4) ? kernel_choose(k, 256) : kernel_choose(k, 1u << 30) * 7);
  kernel_put_block(k, 4 + kernel_choose(k, 8));
  asm_li(a, S4, KERNEL_DATA);
  for (uint32_t r = S0; r <= A7; r++) asm_store(a, ASM_SW, r, S4, 4 * (int32_t)r);
  for (uint32_t f = 0; f < 8; f++) asm_store(a, ASM_FSW, f, S4, 128 + 4 * (int32_t)f);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

static inline void kernel_fill(kernel_maker *k, kernel *out)
{
  uint64_t state = 1 + kernel_choose(k, 1u << 16);
  for (size_t at = KERNEL_CONST - KERNEL_BASE; at < sizeof out->bytes; at += 4) {
    (void)random_next(&state);
    float value = (float)(int32_t)(state >> 40) / 4096.f;
    uint32_t number = (uint32_t)(state >> 33);
    if (state >> 62 == 0)
      memcpy(out->bytes + at, &value, 4);
    else
      memcpy(out->bytes + at, &number, 4);
  }
}

static inline void kernel_set_segments(kernel_maker *k, kernel *out)
{
  uint32_t cut = KERNEL_DATA_BYTES, closed = 0;
  if (kernel_choose(k, 3) == 2) {
    closed = kernel_choose(k, 512);
    if (k->careful) closed = 0; /* the border alone */
    cut = 256 + kernel_choose(k, KERNEL_DATA_BYTES - 1024);
  }
  uint32_t open = KERNEL_DATA + cut + closed;
  pop_image_segment all[] = {
      {.start = KERNEL_CODE, .size = 4 * ASM_MAX_WORDS, .executable = true},
      {.start = KERNEL_CONST, .size = KERNEL_CONST_BYTES},
      {.start = KERNEL_DATA, .size = cut, .writable = true},
      {.start = KERNEL_DATA + cut, .size = closed},
      {.start = open, .size = KERNEL_STACKS_END - open, .writable = true},
      {.start = KERNEL_FAR, .size = KERNEL_FAR_BYTES - kernel_choose(k, 6), .writable = true}};
  _Static_assert(sizeof all == sizeof out->segments, "all segments");
  memcpy(out->segments, all, sizeof all);
  for (uint32_t i = 0; i < NUM_TILE_STACKS; i++)
    out->stacks[i] = (tile_stack){KERNEL_STACKS + i * KERNEL_STACK_BYTES, KERNEL_STACK_BYTES};
}

/* `out` must not move afterwards. */
static inline void kernel_make(const uint8_t *choices, size_t num_choices, kernel *out)
{
  enum { WORKER_JUMP = 6 }; /* the supervisor's words in front of it */
  *out = (kernel){.code.base = KERNEL_CODE};
  assembler *a = &out->code;
  kernel_maker k = {.choices = choices, .num_choices = num_choices, .a = a};
  asm_li(a, T0, KERNEL_CODE + 4 * WORKER_JUMP);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  asm_tile(a, TILE_HOST_SYNC, A0, A0, 0);
  asm_nops(a, 1);
  size_t to_worker = asm_hole(a);
  out->max_cycles = kernel_choose(&k, 4) == 3 ? 1000 + kernel_choose(&k, 1u << 16) : 1u << 19;
  k.careful = kernel_choose(&k, 4) != 0;
  kernel_set_segments(&k, out);
  kernel_fill(&k, out);
  kernel_put_functions(&k);
  a->words[to_worker] = asm_j(ZERO, (int32_t)(4 * (a->count - to_worker)));
  kernel_put_worker(&k);
  memcpy(out->bytes, a->words, 4 * a->count);
  out->image = (pop_image){.base = KERNEL_BASE,
                           .size = sizeof out->bytes,
                           .bytes = out->bytes,
                           .entry = KERNEL_CODE,
                           .segments = out->segments,
                           .num_segments = sizeof out->segments / sizeof *out->segments};
}

#endif
