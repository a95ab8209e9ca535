/* Fuzz target of the machine's engines: random code, interpreted and translated.
 *
 *   6 bytes of input -> one instruction: 2 choose it from the machine's table (or none: the word
 *   as it is), 4 are its operands. Branches stay near. The first 64 bytes are data.
 *
 * Worker 0 begins with registers that point into data, to its edge, or anywhere. Both engines must
 * have the same outcome (fault, cycles, instructions, memory).
 *
 * The preset `fuzz` builds it for libFuzzer. Every other preset builds it into `replay`, which the
 * tests run over the corpus.
 */
#include "engines.h"
#include "fuzz.h"

#include <isa/isa.h>
#include <machine/code_pages.h>
#include <string.h>

enum {
  BASE = 0x4c000,
  CODE_WORDS = 512,
  DATA = BASE + 4 * CODE_WORDS,
  DATA_BYTES = 0x1000,
  SIZE = DATA + DATA_BYTES - BASE,
  SEED_BYTES = 64,
  OP_BYTES = 6,
  MAX_OPS = 200,
  CYCLES = 60000
};

static const struct {
  uint32_t mask, match;
} table[] = {
#define ROW(id, mnemonic, mask, match, ...) {mask, match},
    INSTRUCTIONS(ROW)
#undef ROW
};

enum { NUM_INSTRUCTIONS = sizeof table / sizeof *table };

typedef struct code {
  uint32_t words[CODE_WORDS];
  size_t count;
} code;

static void put(code *c, uint32_t word)
{
  c->words[c->count++] = word;
}

static void put_li(code *c, uint32_t rd, uint32_t value)
{
  put(c, ((value + 0x800) & 0xfffff000) | rd << 7 | 0x37);
  put(c, (value & 0xfff) << 20 | rd << 15 | rd << 7 | 0x13);
}

static uint32_t word_of(const uint8_t *bytes)
{
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t instruction_of(const uint8_t *bytes)
{
  uint32_t choice = bytes[0] | (uint32_t)bytes[1] << 8, word = word_of(bytes + 2);
  if (choice % 61 == 60) return word;
  uint32_t row = choice % NUM_INSTRUCTIONS, major = table[row].match & 0x7f;
  if (major == 0x63) /* within 64 words: the high bits of the distance are its sign */
    word = (word & ~0x7c000080u) | (word >> 31 ? 0x7c000080u : 0);
  if (major == 0x6f) word = (word & ~0x7f9ff000u) | (word >> 31 ? 0x7f9ff000u : 0);
  return (word & ~table[row].mask) | table[row].match;
}

/* The supervisor's code, the worker's beginning, the input. */
static void make_code(const uint8_t *bytes, size_t size, code *c)
{
  enum { WORKER = BASE + 4 * 6 };
  put_li(c, 5, WORKER);
  put(c, isa_tile_op_word(TILE_RUN, 0, 5, 0));
  put(c, isa_tile_op_word(TILE_WAIT, 0, 0, 0));
  put(c, isa_tile_op_word(TILE_HOST_SYNC, 10, 10, 0));
  put(c, 0);
  put_li(c, 1, DATA);
  for (uint32_t r = 0; r < 16; r++) put(c, (4 * r) << 20 | 1u << 15 | r << 7 | 0x2007); /* flw */
  for (uint32_t r = 1; r < 32; r++) {
    uint32_t seed = word_of(bytes + r % 16 * 4);
    put_li(c, r, r % 4 == 3 ? seed : DATA + 4 * (seed % (DATA_BYTES / 4 + 8)) - 16);
  }
  for (size_t at = SEED_BYTES, n = 0; at + OP_BYTES <= size && n < MAX_OPS; at += OP_BYTES, n++)
    put(c, instruction_of(bytes + at));
  put(c, isa_tile_op_word(TILE_EXIT, 0, 0, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static uint8_t memory[SIZE];
  if (size < SEED_BYTES) return 0;
  code c = {.count = 0};
  make_code(bytes, size, &c);
  memset(memory, 0, sizeof memory);
  memcpy(memory, c.words, sizeof c.words);
  for (uint32_t i = 0; i < DATA_BYTES; i++) memory[DATA - BASE + i] = bytes[i % SEED_BYTES];
  const pop_image_segment segments[] = {{.start = BASE, .size = 4 * CODE_WORDS, .executable = true},
                                        {.start = DATA, .size = DATA_BYTES, .writable = true}};
  pop_image image = {.base = BASE,
                     .size = SIZE,
                     .bytes = memory,
                     .entry = BASE,
                     .segments = segments,
                     .num_segments = 2};
  tile_stack stacks[NUM_TILE_STACKS] = {{DATA + 0x800, 0x100}, {DATA + 0x900, 0x100}};
  expect_engines_agree(&image, stacks, CYCLES);
  return 0;
}
