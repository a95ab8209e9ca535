/*
 * The state of an IPU context that RISC-V's registers do not have, for populus/builtins.h:
 * accumulators, control registers, a random number generator. There is one set for each context of
 * the tile. It takes tile memory only if a codelet uses any of it.
 *
 * axpy, aop and gina follow the model in graphcore-research/tessellate-ipu (ipu_amp.hpp), whose
 * tests compare it with the chip.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <arch/gc_tile_defines.h>
#include <populus/builtins.h>

enum {
  FIRST_FLOAT_REGISTER = 0x100,
  NUM_FLOAT_REGISTERS = CSR_W_TAS__INDEX - FIRST_FLOAT_REGISTER + 1,
  TAS = CSR_W_TAS__INDEX - FIRST_FLOAT_REGISTER
};

typedef struct context {
  float accumulators[TFPU_NUM_ACCUM];
  uint32_t registers[NUM_FLOAT_REGISTERS];
} context;

static context contexts[CTXT_TOTAL];

static context *mine(void)
{
  return &contexts[populus_context_number()];
}

/* Registers that are CSRs of the tile (runtime/isa/isa.h). A CSR's number is part of
 * the instruction. */
#define READ_CSR(number, value) __asm__ volatile("csrr %0, " #number : "=r"(value))
#define WRITE_CSR(number, value) __asm__ volatile("csrw " #number ", %0" : : "r"(value))
#define TILE_REGISTERS(X)                                                                          \
  X(CSR_W_FP_CTL__INDEX, 0x800)                                                                    \
  X(CSR_S_FP_ICTL__INDEX, 0x801)                                                                   \
  X(CSR_W_PRNG_0_0__INDEX, 0x802)                                                                  \
  X(CSR_W_PRNG_0_1__INDEX, 0x803)                                                                  \
  X(CSR_W_PRNG_1_0__INDEX, 0x804)                                                                  \
  X(CSR_W_PRNG_1_1__INDEX, 0x805)

/* The flags of fcsr: invalid, divided by zero, overflow. FP_STS has them in bits 0 to 2. */
static uint32_t float_status(void)
{
  uint32_t flags;
  __asm__ volatile("frflags %0" : "=r"(flags));
  return (flags >> 4 & 1) | (flags >> 3 & 1) << 1 | (flags >> 2 & 1) << 2;
}

static void clear_float_status(uint32_t which)
{
  uint32_t flags = (which & 1) << 4 | (which >> 1 & 1) << 3 | (which >> 2 & 1) << 2;
  __asm__ volatile("csrc fflags, %0" : : "r"(flags));
}

unsigned populus_get_register(unsigned index)
{
  uint32_t value;
  switch (index) {
#define READ_REGISTER(name, number)                                                                \
  case name:                                                                                       \
    READ_CSR(number, value);                                                                       \
    return value;
    TILE_REGISTERS(READ_REGISTER)
#undef READ_REGISTER
  case CSR_W_WSR__INDEX:
    return populus_context_number();
  case CSR_S_TILE_ID__INDEX:
    return __builtin_ipu_get_tile_id();
  case CSR_S_SCOUNT_L__INDEX: /* and COUNT_L */
    return __builtin_ipu_get_scount_l();
  case CSR_S_SCOUNT_U__INDEX:
    return __builtin_ipu_get_scount_u();
  case CSR_W_FP_STS__INDEX:
    return float_status();
  default:
    return mine()->registers[index - FIRST_FLOAT_REGISTER];
  }
}

void populus_put_register(unsigned value, unsigned index)
{
  switch (index) {
#define WRITE_REGISTER(name, number)                                                               \
  case name:                                                                                       \
    WRITE_CSR(number, value);                                                                      \
    return;
    TILE_REGISTERS(WRITE_REGISTER)
#undef WRITE_REGISTER
  case CSR_W_FP_CLR__INDEX:
    clear_float_status(value);
    if (value >> CSR_W_FP_CLR__ZAACC__SHIFT & CSR_W_FP_CLR__ZAACC__MASK)
      memset(mine()->accumulators, 0, sizeof mine()->accumulators);
    return;
  default:
    mine()->registers[index - FIRST_FLOAT_REGISTER] = value;
  }
}

/* A pipeline of one stage: returns what the previous call computed. */
populus_float2 populus_axpy(populus_float2 a, populus_float2 b)
{
  context *c = mine();
  populus_float2 before = {c->accumulators[0], c->accumulators[2]};
  float scale = populus_float_of(c->registers[TAS]);
  c->accumulators[0] = scale * b[0] + a[0];
  c->accumulators[2] = scale * b[1] + a[1];
  return before;
}

/* Adds the outer product. */
void populus_aop(populus_float2 a, populus_float2 b)
{
  float *accumulators = mine()->accumulators;
  accumulators[0] += a[0] * b[0];
  accumulators[2] += a[1] * b[0];
  accumulators[4] += a[0] * b[1];
  accumulators[6] += a[1] * b[1];
}

/* Returns the first pair. The others move up by one, and `value` becomes the last. */
populus_float2 populus_gina(populus_float2 value)
{
  float *accumulators = mine()->accumulators;
  populus_float2 first = {accumulators[0], accumulators[2]};
  for (int i = 4; i < TFPU_NUM_ACCUM; i += 4) {
    accumulators[i - 4] = accumulators[i];
    accumulators[i - 2] = accumulators[i + 2];
  }
  accumulators[TFPU_NUM_ACCUM - 4] = value[0];
  accumulators[TFPU_NUM_ACCUM - 2] = value[1];
  return first;
}

static uint64_t rotate(uint64_t value, int count)
{
  return value << count | value >> (64 - count);
}

/* Distributes the bits of a small number (the finalizer of MurmurHash3). */
static uint64_t spread(uint64_t value)
{
  value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
  return value ^ value >> 33;
}

/*
 * xoroshiro128aox, the chip's generator (Hanlon & Felix, "A Fast Hardware Pseudorandom Number
 * Generator Based on xoroshiro128", 2022). Its state is in the registers PRNG_0_0 to PRNG_1_1. The
 * initial state, all zeros, is invalid: it is then seeded from the numbers of tile and context.
 */
unsigned long long populus_random(void)
{
  uint32_t words[4];
  READ_CSR(0x802, words[0]);
  READ_CSR(0x803, words[1]);
  READ_CSR(0x804, words[2]);
  READ_CSR(0x805, words[3]);
  uint64_t s0 = words[0] | (uint64_t)words[1] << 32, s1 = words[2] | (uint64_t)words[3] << 32;
  if (!(s0 | s1)) {
    s0 = spread(8 * (uint64_t)__builtin_ipu_get_tile_id() + populus_context_number() + 1);
    s1 = spread(s0);
  }
  uint64_t sum = s0 ^ s1, both = s0 & s1;
  uint64_t result = sum ^ (rotate(both, 1) | rotate(both, 2));
  s0 = rotate(s0, 55) ^ sum ^ sum << 14;
  s1 = rotate(sum, 36);
  WRITE_CSR(0x802, (uint32_t)s0);
  WRITE_CSR(0x803, (uint32_t)(s0 >> 32));
  WRITE_CSR(0x804, (uint32_t)s1);
  WRITE_CSR(0x805, (uint32_t)(s1 >> 32));
  return result;
}

/* Two numbers of the standard normal distribution (Box and Muller). */
populus_float2 populus_random_normal(void)
{
  uint64_t bits = populus_random();
  float u = ((float)((uint32_t)bits >> 8) + 1) * 0x1p-24f; /* in (0, 1] */
  float angle = (float)((uint32_t)(bits >> 32) >> 8) * (0x1p-24f * 6.28318531f);
  float radius = sqrtf(-2 * logf(u));
  return (populus_float2){radius * cosf(angle), radius * sinf(angle)};
}
