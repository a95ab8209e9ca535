/* Finds the divisions of 64-bit integers in a unit's code.
 *
 * The device library divides them by some hundred instructions (libcodelet/device/lib/divide64.S,
 * which has the method), the host by one. The library's code has a block for each case, without a
 * branch. It is written in assembly, so its words are always the same. A block with these words
 * divides, wherever it stands, if its operands are of its case:
 *
 *   a0:a1 / a2:a3 (the low words first) to a0:a1, the rest to a2:a3
 *
 * Native code still does what the block does, and takes its time. But the results are the host's
 * quotient and rest (translator/lift_division.c), so LLVM drops what nothing else needs. The
 * routine's branches have found out which case it is, so LLVM drops the tests of that, too.
 *
 * tests/unit/machine/divisions.c compares these words with the library's. */
#include "translate.h"

static const uint32_t words[] = {
    0x60061293, 0x00561333, 0x01f2c293, 0xf0f0fe37, 0x03c33e33, 0x696973b7, 0x41c383b3,
    0x0263be33, 0x41c00e33, 0x03c3b3b3, 0x00139393, 0x0263be33, 0xfffe4e13, 0x03c3b3b3,
    0x00139393, 0x0263be33, 0x001e1e13, 0xfffe4e13, 0x03c3be33, 0x01c383b3, 0xfff38393,
    0x02753e33, 0x005e5e33, 0x02ce0333, 0x40650533, 0x02753333, 0x00535333, 0x006e0e33,
    0x02c30333, 0x40650533, 0x00c53333, 0xfff30313, 0x406e0e33, 0x00c37333, 0x40650633,
    0x000e0513, 0x00000293, 0x00000313, 0x00000393, 0x00000e13, 0x00008067};

static const uint32_t long_divisor[] = {
    0x60069293, 0x00569333, 0x01f2c293, 0x00165393, 0x0053d3b3, 0x00736333, 0xf0f0fe37, 0x03c33e33,
    0x696973b7, 0x41c383b3, 0x0263be33, 0x41c00e33, 0x03c3b3b3, 0x00139393, 0x0263be33, 0xfffe4e13,
    0x03c3b3b3, 0x00139393, 0x0263be33, 0x001e1e13, 0xfffe4e13, 0x03c3be33, 0x01c383b3, 0xffd38393,
    0x0275be33, 0x005e5e33, 0x02ce0eb3, 0x02ce3f33, 0x02de0333, 0x006f0f33, 0x01d53333, 0x41d50533,
    0x41e585b3, 0x406585b3, 0x00c53eb3, 0x40d58f33, 0x01df3f33, 0x00d5beb3, 0x01eeeeb3, 0xfffe8e93,
    0x41de0e33, 0x01d67f33, 0x01d6feb3, 0x01e53333, 0x41e50633, 0x41d586b3, 0x406686b3, 0x000e0513,
    0x00000593, 0x00000293, 0x00000313, 0x00000393, 0x00000e13, 0x00000e93, 0x00000f13, 0x00008067};

static const uint32_t middle_divisor[] = {
    0x60069293, 0x00569333, 0x01f2c293, 0x00165393, 0x0053d3b3, 0x00736333, 0xf0f0fe37, 0x03c33e33,
    0x696973b7, 0x41c383b3, 0x0263be33, 0x41c00e33, 0x03c3b3b3, 0x00139393, 0x0263be33, 0xfffe4e13,
    0x03c3b3b3, 0x00139393, 0x0263be33, 0x001e1e13, 0xfffe4e13, 0x03c3be33, 0x01c383b3, 0xffd38393,
    0x0275be33, 0x005e5e33, 0x02ce0eb3, 0x02ce3f33, 0x02de0333, 0x006f0f33, 0x01d53333, 0x41d50533,
    0x41e585b3, 0x406585b3, 0x02758eb3, 0x0275bf33, 0x02753333, 0x01d30333, 0x01d33333, 0x006f0f33,
    0x005f5f33, 0x01ee0e33, 0x02cf0eb3, 0x02cf3333, 0x02df0f33, 0x01e30333, 0x01d53f33, 0x41d50533,
    0x406585b3, 0x41e585b3, 0x00c53eb3, 0x40d58f33, 0x01df3f33, 0x00d5beb3, 0x01eeeeb3, 0xfffe8e93,
    0x41de0e33, 0x01d67f33, 0x01d6feb3, 0x01e53333, 0x41e50633, 0x41d586b3, 0x406686b3, 0x000e0513,
    0x00000593, 0x00000293, 0x00000313, 0x00000393, 0x00000e13, 0x00000e93, 0x00000f13, 0x00008067};

static const uint32_t long_dividend[] = {
    0x60061293, 0x00561333, 0xf0f0fe37, 0x03c33e33, 0x696973b7, 0x41c383b3, 0x0263be33, 0x41c00e33,
    0x03c3b3b3, 0x00139393, 0x0263be33, 0xfffe4e13, 0x03c3b3b3, 0x00139393, 0x0263be33, 0x001e1e13,
    0xfffe4e13, 0x03c3be33, 0x01c383b3, 0xfff38393, 0x01f2c313, 0x0275be33, 0x006e5e33, 0x02ce0eb3,
    0x41d585b3, 0x0275beb3, 0x006edeb3, 0x01de0e33, 0x02ce8eb3, 0x41d585b3, 0x00c5beb3, 0xfffe8e93,
    0x41de0e33, 0x00cefeb3, 0x41d585b3, 0x02758eb3, 0x0275bf33, 0x02753fb3, 0x01df8fb3, 0x01dfbeb3,
    0x01df0f33, 0x006fdfb3, 0x001f1f13, 0x005f1f33, 0x01efefb3, 0x02cf8eb3, 0x02cfbf33, 0x01d536b3,
    0x41d50533, 0x41e585b3, 0x40d585b3, 0x02758eb3, 0x0275bf33, 0x027536b3, 0x01d686b3, 0x01d6beb3,
    0x01df0f33, 0x0066d6b3, 0x001f1f13, 0x005f1f33, 0x01e6e6b3, 0x00df8fb3, 0x02c68eb3, 0x02c6bf33,
    0x01d536b3, 0x41d50533, 0x41e585b3, 0x40d585b3, 0x00c53eb3, 0xfffe8e93, 0x40b00f33, 0x01eeeeb3,
    0x41df8fb3, 0x00cefeb3, 0x41d50633, 0x000f8513, 0x000e0593, 0x00000693, 0x00000293, 0x00000313,
    0x00000393, 0x00000e13, 0x00000e93, 0x00000f13, 0x00000f93, 0x00008067};

static const struct {
  const uint32_t *words;
  uint32_t num_words;
} divisions[NUM_DIVISIONS] = {
#define ROW(array) {array, sizeof(array) / sizeof *(array)}
    [DIVISION_WORDS] = ROW(words),
    [DIVISION_LONG_DIVISOR] = ROW(long_divisor),
    [DIVISION_MIDDLE_DIVISOR] = ROW(middle_divisor),
    [DIVISION_LONG_DIVIDEND] = ROW(long_dividend)
#undef ROW
};

const uint32_t *code_division_words(uint32_t division, uint32_t *num_words)
{
  *num_words = divisions[division].num_words;
  return divisions[division].words;
}

uint32_t code_block_find_division(const machine *m, const tile *t, const code_block *block)
{
  for (uint32_t i = DIVISION_NONE + 1; i < NUM_DIVISIONS; i++) {
    if (block->num_ops != divisions[i].num_words) continue;
    uint32_t same = 0;
    while (same < block->num_ops &&
           memory_word(m, t, block->pc + 4 * same) == divisions[i].words[same])
      same++;
    if (same == block->num_ops) return i;
  }
  return DIVISION_NONE;
}
