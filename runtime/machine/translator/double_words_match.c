/* How a pair of words could be computed as a whole. Matches the patterns that compilers make of
 * 64-bit arithmetic on a 32-bit machine, as lifted code has them before LLVM combines
 * instructions. */
#include "double_words.h"

#include <populus/arena.h>
#include <stdlib.h>

enum { MAX_DEPTH = 200, MAX_PAIRS = 20000, MAX_LEAVES = 24 };

static LLVMValueRef operand(LLVMValueRef v, unsigned number)
{
  return LLVMGetOperand(v, number);
}

bool is_operation(LLVMValueRef v, LLVMOpcode opcode)
{
  return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == opcode;
}

static bool is_number(LLVMValueRef v, uint64_t *number)
{
  if (!LLVMIsAConstantInt(v)) return false;
  *number = LLVMConstIntGetZExtValue(v);
  return true;
}

static bool is_exactly(LLVMValueRef v, uint64_t number)
{
  uint64_t own;
  return is_number(v, &own) && own == number;
}

static LLVMValueRef word(LLVMValueRef like, uint32_t value)
{
  return LLVMConstInt(LLVMTypeOf(like), value, 0);
}

/* Maps */

static uint32_t hash_of(const void *a, const void *b)
{
  uint64_t h = (uint64_t)(uintptr_t)a * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ (uint64_t)(uintptr_t)b) * UINT64_C(0xc2b2ae3d27d4eb4f);
  return (uint32_t)(h >> 32);
}

static struct pair_entry *entry_of(const pair_map *m, const void *a, const void *b)
{
  uint32_t i = hash_of(a, b) & (m->capacity - 1);
  while (m->entries[i].a && (m->entries[i].a != a || m->entries[i].b != b))
    i = (i + 1) & (m->capacity - 1);
  return &m->entries[i];
}

uint32_t pair_map_find(const pair_map *m, const void *a, const void *b)
{
  if (!m->capacity) return UINT32_MAX;
  const struct pair_entry *e = entry_of(m, a, b);
  return e->a ? e->number : UINT32_MAX;
}

void pair_map_add(pair_map *m, const void *a, const void *b, uint32_t number)
{
  if (2 * (m->count + 1) > m->capacity) {
    pair_map larger = {.capacity = m->capacity ? 2 * m->capacity : 64, .count = m->count};
    larger.entries = pop_xcalloc(larger.capacity, sizeof *larger.entries);
    for (uint32_t i = 0; i < m->capacity; i++)
      if (m->entries[i].a) *entry_of(&larger, m->entries[i].a, m->entries[i].b) = m->entries[i];
    free(m->entries);
    *m = larger;
  }
  *entry_of(m, a, b) = (struct pair_entry){a, b, number};
  m->count++;
}

/* Pieces */

bool is_below(LLVMValueRef v, LLVMValueRef *x, LLVMValueRef *y)
{
  if (!is_operation(v, LLVMZExt) || !is_operation(operand(v, 0), LLVMICmp)) return false;
  LLVMValueRef compared = operand(v, 0);
  *x = operand(compared, 0);
  *y = operand(compared, 1);
  return LLVMGetICmpPredicate(compared) == LLVMIntULT;
}

bool is_carry_of(LLVMValueRef v, LLVMValueRef sum)
{
  LLVMValueRef x, y;
  if (!is_operation(sum, LLVMAdd) || !is_below(v, &x, &y)) return false;
  LLVMValueRef a = operand(sum, 0), b = operand(sum, 1);
  if (x == sum) return y == a || y == b;
  /* the carry of a + -1: 0 only if a is 0 */
  return is_exactly(x, 0) && is_exactly(b, UINT32_MAX) && y == a;
}

/* Is it the borrow of a - b, as a word? */
static bool is_borrow_of(LLVMValueRef v, LLVMValueRef a, LLVMValueRef b)
{
  LLVMValueRef x, y;
  return is_below(v, &x, &y) && x == a && y == b;
}

bool is_funnel(LLVMValueRef v, LLVMValueRef *high, LLVMValueRef *low, uint32_t *count)
{
  if (!is_operation(v, LLVMOr) && !is_operation(v, LLVMAdd)) return false;
  LLVMValueRef up = operand(v, 0), down = operand(v, 1);
  if (!is_operation(up, LLVMShl)) {
    up = operand(v, 1);
    down = operand(v, 0);
  }
  uint64_t left, right;
  if (!is_operation(up, LLVMShl) || !is_operation(down, LLVMLShr)) return false;
  if (!is_number(operand(up, 1), &left) || !is_number(operand(down, 1), &right)) return false;
  *high = operand(up, 0);
  *low = operand(down, 0);
  *count = (uint32_t)left;
  return left + right == 32 && left && right;
}

/* The word that `v` extends, or NULL. A constant's extension is told by its value. */
static LLVMValueRef extended(LLVMValueRef v, LLVMTypeRef type, LLVMOpcode *how)
{
  uint64_t number;
  if (is_number(v, &number)) {
    *how = number >> 32 ? LLVMSExt : LLVMZExt;
    bool fits = !(number >> 32) || number >> 31 == UINT64_MAX >> 31;
    return fits ? LLVMConstInt(type, (uint32_t)number, 0) : NULL;
  }
  if (!is_operation(v, LLVMZExt) && !is_operation(v, LLVMSExt)) return NULL;
  *how = LLVMGetInstructionOpcode(v);
  return LLVMTypeOf(operand(v, 0)) == type ? operand(v, 0) : NULL;
}

bool is_high_product(LLVMValueRef v, LLVMValueRef operands[2], LLVMOpcode extend[2])
{
  if (!is_operation(v, LLVMTrunc) || !is_operation(operand(v, 0), LLVMLShr)) return false;
  LLVMValueRef shifted = operand(v, 0), product = operand(shifted, 0);
  if (!is_exactly(operand(shifted, 1), 32) || !is_operation(product, LLVMMul)) return false;
  for (unsigned i = 0; i < 2; i++) {
    operands[i] = extended(operand(product, i), LLVMTypeOf(v), &extend[i]);
    if (!operands[i]) return false;
  }
  return true;
}

/* A word that is 0 or 1. */
static bool is_truth(LLVMValueRef v, unsigned depth)
{
  if (is_operation(v, LLVMZExt)) return LLVMGetIntTypeWidth(LLVMTypeOf(operand(v, 0))) == 1;
  if (depth == 0 || (!is_operation(v, LLVMOr) && !is_operation(v, LLVMAnd))) return false;
  return is_truth(operand(v, 0), depth - 1) && is_truth(operand(v, 1), depth - 1);
}

/* A word whose bits are all the same. */
static bool is_mask(LLVMValueRef v)
{
  if (is_operation(v, LLVMAShr)) return is_exactly(operand(v, 1), 31);
  return is_operation(v, LLVMSub) && is_exactly(operand(v, 0), 0) && is_truth(operand(v, 1), 3);
}

/* The address as a base and a constant offset. */
static LLVMValueRef place_of(LLVMValueRef pointer, int64_t *offset)
{
  uint64_t number;
  *offset = 0;
  while (is_operation(pointer, LLVMGetElementPtr) && LLVMGetNumOperands(pointer) == 2 &&
         LLVMGetTypeKind(LLVMGetGEPSourceElementType(pointer)) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(pointer)) == 8 &&
         is_number(operand(pointer, 1), &number)) {
    *offset += (int64_t)number;
    pointer = operand(pointer, 0);
  }
  return pointer;
}

bool are_consecutive(LLVMValueRef low, LLVMValueRef high)
{
  int64_t low_offset, high_offset;
  LLVMValueRef base = place_of(low, &low_offset);
  return base == place_of(high, &high_offset) && high_offset - low_offset == 4;
}

/* Two loads of consecutive words, with nothing in between that may change memory. */
static bool are_loads(LLVMValueRef low, LLVMValueRef high)
{
  if (!is_operation(low, LLVMLoad) || !is_operation(high, LLVMLoad)) return false;
  if (LLVMGetInstructionParent(low) != LLVMGetInstructionParent(high)) return false;
  if (!are_consecutive(operand(low, 0), operand(high, 0))) return false;
  LLVMValueRef at = low, end = high;
  for (unsigned i = 0; i < 2; i++) { /* high comes behind low, or low behind high */
    for (LLVMValueRef v = at; v; v = LLVMGetNextInstruction(v)) {
      if (v == end) return true;
      if (is_operation(v, LLVMStore) || is_operation(v, LLVMCall)) break;
    }
    at = high;
    end = low;
  }
  return false;
}

/* Ways */

/* Is it known that the pair has no form? */
static bool has_no_form(const double_words *d, int32_t pair)
{
  return pair == NO_PAIR || (d->pairs[pair].matched && d->pairs[pair].num_forms == 0);
}

static void add_form(double_words *d, int32_t pair, form w)
{
  word_pair *p = &d->pairs[pair];
  if (p->num_forms < MAX_FORMS) p->forms[p->num_forms++] = w;
}

static int32_t add_pair(double_words *d, LLVMValueRef low, LLVMValueRef high, bool swapped)
{
  if (d->num_pairs == MAX_PAIRS) return NO_PAIR;
  pop_push(d->pairs, d->num_pairs, d->pairs_capacity,
           (word_pair){.low = low, .high = high, .swapped = swapped});
  pair_map_add(&d->by_halves, low, high, (uint32_t)d->num_pairs - 1);
  return (int32_t)d->num_pairs - 1;
}

static void match(double_words *d, int32_t pair, unsigned depth);

static int32_t part(double_words *d, LLVMValueRef low, LLVMValueRef high, unsigned depth)
{
  return double_words_pair(d, low, high, depth + 1);
}

/* Adds the form `opcode` of the pairs (a, p) and (b, q). */
static void add_binary(double_words *d, int32_t pair, LLVMOpcode opcode, LLVMValueRef a,
                       LLVMValueRef p, LLVMValueRef b, LLVMValueRef q, unsigned depth)
{
  int32_t left = part(d, a, p, depth);
  if (has_no_form(d, left)) return;
  int32_t right = part(d, b, q, depth);
  if (has_no_form(d, right)) return;
  add_form(d, pair, (form){.kind = FORM_BINARY, .opcode = opcode, .a = left, .b = right});
}

static void add_sums(double_words *d, int32_t pair, LLVMValueRef p, LLVMValueRef q, unsigned depth)
{
  LLVMValueRef a = operand(d->pairs[pair].low, 0), b = operand(d->pairs[pair].low, 1);
  add_binary(d, pair, LLVMAdd, a, p, b, q, depth);
  add_binary(d, pair, LLVMAdd, a, q, b, p, depth);
}

/* low = a + b, high = p + q + its carry, or without q. */
static void match_sum(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low = d->pairs[pair].low, high = d->pairs[pair].high, zero = word(high, 0);
  if (!is_operation(low, LLVMAdd)) return;
  if (is_carry_of(high, low)) add_sums(d, pair, zero, zero, depth);
  if (!is_operation(high, LLVMAdd)) return;
  for (unsigned i = 0; i < 2; i++) {
    LLVMValueRef x = operand(high, i), y = operand(high, 1 - i);
    if (is_carry_of(x, low)) {
      if (is_operation(y, LLVMAdd)) add_sums(d, pair, operand(y, 0), operand(y, 1), depth);
      add_sums(d, pair, y, zero, depth);
    }
    for (unsigned n = 0; n < 2 && is_operation(x, LLVMAdd); n++)
      if (is_carry_of(operand(x, n), low)) add_sums(d, pair, operand(x, 1 - n), y, depth);
  }
}

static void add_difference(double_words *d, int32_t pair, LLVMValueRef a, LLVMValueRef b,
                           LLVMValueRef p, LLVMValueRef q, unsigned depth)
{
  add_binary(d, pair, LLVMSub, a, p, b, q, depth);
}

/* low = a - b, high = p - q - its borrow, or without q. */
static void match_difference(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low = d->pairs[pair].low, high = d->pairs[pair].high, zero = word(high, 0);
  uint64_t number;
  if (!is_operation(low, LLVMSub) && !is_operation(low, LLVMAdd)) return;
  LLVMValueRef a = operand(low, 0), b = operand(low, 1);
  if (is_operation(low, LLVMAdd)) {
    if (!is_number(b, &number)) return;
    b = word(low, 0 - (uint32_t)number);
  }
  if (is_operation(high, LLVMAdd) && is_number(operand(high, 1), &number)) {
    LLVMValueRef x = operand(high, 0);
    if (is_operation(x, LLVMSub) && is_borrow_of(operand(x, 1), a, b))
      add_difference(d, pair, a, b, operand(x, 0), word(low, 0 - (uint32_t)number), depth);
  }
  if (!is_operation(high, LLVMSub)) return;
  LLVMValueRef x = operand(high, 0), y = operand(high, 1);
  if (is_borrow_of(y, a, b)) {
    if (is_operation(x, LLVMSub))
      add_difference(d, pair, a, b, operand(x, 0), operand(x, 1), depth);
    if (is_operation(x, LLVMAdd) && is_number(operand(x, 1), &number))
      add_difference(d, pair, a, b, operand(x, 0), word(low, 0 - (uint32_t)number), depth);
    add_difference(d, pair, a, b, x, zero, depth);
  }
  if (is_operation(x, LLVMSub) && is_borrow_of(operand(x, 1), a, b))
    add_difference(d, pair, a, b, operand(x, 0), y, depth);
  for (unsigned i = 0; i < 2 && is_operation(y, LLVMAdd); i++)
    if (is_borrow_of(operand(y, i), a, b))
      add_difference(d, pair, a, b, x, operand(y, 1 - i), depth);
}

static bool is_bitwise(LLVMValueRef v)
{
  return is_operation(v, LLVMAnd) || is_operation(v, LLVMOr) || is_operation(v, LLVMXor);
}

static void match_bitwise(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low = d->pairs[pair].low, high = d->pairs[pair].high;
  uint64_t number;
  if (is_bitwise(low) && is_bitwise(high) &&
      LLVMGetInstructionOpcode(low) == LLVMGetInstructionOpcode(high)) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(low);
    for (unsigned i = 0; i < 2; i++)
      add_binary(d, pair, opcode, operand(low, 0), operand(high, i), operand(low, 1),
                 operand(high, 1 - i), depth);
  }
  for (unsigned i = 0; i < 2; i++) { /* with a constant that does not change one half */
    LLVMValueRef changed = i ? high : low;
    if (!is_bitwise(changed) || !is_number(operand(changed, 1), &number)) continue;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(changed);
    LLVMValueRef neutral = word(low, opcode == LLVMAnd ? UINT32_MAX : 0);
    if (i)
      add_binary(d, pair, opcode, low, operand(high, 0), neutral, operand(high, 1), depth);
    else
      add_binary(d, pair, opcode, operand(low, 0), high, operand(low, 1), neutral, depth);
  }
}

enum { MAX_CHAIN = 6 };

/* The operands of a chain of one associative and commutative operation. A funnel shift is one
 * operand: its bits belong together. */
static void split_chain(LLVMValueRef v, LLVMOpcode opcode, unsigned depth, LLVMValueRef *links,
                        uint32_t *count)
{
  LLVMValueRef high, low;
  uint32_t shift;
  if (depth > 0 && is_operation(v, opcode) && !is_funnel(v, &high, &low, &shift)) {
    split_chain(operand(v, 0), opcode, depth - 1, links, count);
    split_chain(operand(v, 1), opcode, depth - 1, links, count);
  } else {
    if (*count < MAX_CHAIN) links[*count] = v;
    ++*count;
  }
}

/* Each half combines the same number of words with one operation, perhaps in another order. */
static void match_chain(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low[MAX_CHAIN], high[MAX_CHAIN];
  uint32_t count = 0, num_high = 0;
  if (d->pairs[pair].num_forms || !is_bitwise(d->pairs[pair].low)) return;
  LLVMOpcode opcode = LLVMGetInstructionOpcode(d->pairs[pair].low);
  split_chain(d->pairs[pair].low, opcode, MAX_CHAIN, low, &count);
  split_chain(d->pairs[pair].high, opcode, MAX_CHAIN, high, &num_high);
  /* two: as match_bitwise has it */
  if (count != num_high || count < 3 || count > MAX_CHAIN) return;
  term terms[MAX_CHAIN];
  for (uint32_t i = 0; i < count; i++) {
    int32_t found = NO_PAIR;
    for (uint32_t n = 0; n < count && found == NO_PAIR; n++) {
      if (!high[n]) continue;
      int32_t own = part(d, low[i], high[n], depth);
      if (has_no_form(d, own)) continue;
      found = own;
      high[n] = NULL;
    }
    if (found == NO_PAIR) return;
    terms[i] = (term){.a = found, .b = NO_PAIR};
  }
  form w = {.kind = FORM_CHAIN,
            .opcode = opcode,
            .first_term = (uint32_t)d->num_terms,
            .num_terms = count};
  for (uint32_t i = 0; i < count; i++)
    pop_push(d->terms, d->num_terms, d->terms_capacity, terms[i]);
  add_form(d, pair, w);
}

static void add_shift(double_words *d, int32_t pair, form_kind kind, LLVMOpcode opcode,
                      LLVMValueRef low, LLVMValueRef high, uint32_t amount, unsigned depth)
{
  int32_t of = part(d, low, high, depth);
  if (!has_no_form(d, of))
    add_form(d, pair, (form){.kind = kind, .opcode = opcode, .a = of, .amount = amount});
}

static bool is_shift_by(LLVMValueRef v, LLVMOpcode opcode, LLVMValueRef of, uint32_t amount)
{
  return is_operation(v, opcode) && operand(v, 0) == of && is_exactly(operand(v, 1), amount);
}

static void match_shift(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low = d->pairs[pair].low, high = d->pairs[pair].high, h, l, other_h, other_l;
  uint32_t count, other_count;
  if (is_funnel(high, &h, &l, &count) && is_shift_by(low, LLVMShl, l, count))
    add_shift(d, pair, FORM_SHIFT, LLVMShl, l, h, count, depth);
  if (!is_funnel(low, &h, &l, &count)) return;
  if (is_shift_by(high, LLVMLShr, h, 32 - count))
    add_shift(d, pair, FORM_SHIFT, LLVMLShr, l, h, 32 - count, depth);
  if (is_shift_by(high, LLVMAShr, h, 32 - count))
    add_shift(d, pair, FORM_SHIFT, LLVMAShr, l, h, 32 - count, depth);
  if (is_funnel(high, &other_h, &other_l, &other_count) && other_count == count && h == other_l &&
      l == other_h)
    add_shift(d, pair, FORM_ROTATED, LLVMShl, h, l, count, depth);
}

/* Sums of any number of words and products */

typedef struct leaf {
  LLVMValueRef word;
  bool negative, used;
} leaf;

typedef struct sum {
  leaf high[MAX_LEAVES];
  LLVMValueRef low[MAX_LEAVES];
  uint32_t num_high, num_low;
  bool failed;
} sum;

/* (x << count) + x or (x << count) - x: returns x and sets `times`; NULL: neither. */
static LLVMValueRef multiple_of(LLVMValueRef v, uint32_t *times)
{
  bool add = is_operation(v, LLVMAdd);
  if (!add && !is_operation(v, LLVMSub)) return NULL;
  for (unsigned i = 0; i < (add ? 2 : 1); i++) {
    LLVMValueRef shifted = operand(v, i), x = operand(v, 1 - i);
    uint64_t count;
    if (!is_operation(shifted, LLVMShl) || operand(shifted, 0) != x ||
        !is_number(operand(shifted, 1), &count) || count >= 32)
      continue;
    *times = (1u << count) + (add ? 1 : UINT32_MAX);
    return x;
  }
  return NULL;
}

static void split_high(sum *s, LLVMValueRef v, bool negative)
{
  bool add = is_operation(v, LLVMAdd), sub = is_operation(v, LLVMSub);
  uint32_t times;
  if (multiple_of(v, &times)) add = sub = false; /* a word of a product with a constant */
  if (s->num_high == MAX_LEAVES) {
    s->failed = true;
  } else if (add || sub) {
    split_high(s, operand(v, 0), negative);
    split_high(s, operand(v, 1), negative != sub);
  } else if (!is_exactly(v, 0)) {
    s->high[s->num_high++] = (leaf){.word = v, .negative = negative};
  }
}

static void split_low(sum *s, LLVMValueRef v)
{
  for (uint32_t i = 0; i < s->num_high && is_operation(v, LLVMAdd); i++) {
    if (s->high[i].used || s->high[i].negative || !is_carry_of(s->high[i].word, v)) continue;
    s->high[i].used = true;
    split_low(s, operand(v, 0));
    split_low(s, operand(v, 1));
    return;
  }
  if (s->num_low == MAX_LEAVES)
    s->failed = true;
  else
    s->low[s->num_low++] = v;
}

/* Finds a leaf that is a product with `by`; its other factor, or NULL. */
static LLVMValueRef take_cross(sum *s, LLVMValueRef by, leaf **taken)
{
  for (uint32_t i = 0; i < s->num_high; i++) {
    leaf *l = &s->high[i];
    uint32_t times;
    if (l->used || l->negative) continue;
    LLVMValueRef of = multiple_of(l->word, &times);
    if (of && is_exactly(by, times)) {
      *taken = l;
      return of;
    }
    if (!is_operation(l->word, LLVMMul)) continue;
    for (unsigned n = 0; n < 2; n++)
      if (operand(l->word, n) == by) {
        *taken = l;
        return operand(l->word, 1 - n);
      }
  }
  return NULL;
}

/* The pair whose low word is `factor`, a factor of a product. Its high word is the one that a cross
 * product with `other` shows; else 0. */
static int32_t factor_pair(double_words *d, sum *s, LLVMValueRef factor, LLVMValueRef other,
                           unsigned depth)
{
  leaf *taken = NULL;
  LLVMValueRef high = take_cross(s, other, &taken);
  if (high) {
    taken->used = true;
    int32_t pair = part(d, factor, high, depth);
    if (!has_no_form(d, pair)) return pair;
    taken->used = false;
  }
  return part(d, factor, word(factor, 0), depth);
}

/* Is v a constant times x? Compilers make such products of shifts and sums. False if it is not
 * recognised. */
static bool is_multiple(LLVMValueRef v, LLVMValueRef x, uint32_t *times, unsigned depth)
{
  uint32_t a, b;
  uint64_t count;
  *times = 1;
  if (v == x) return true;
  if (depth == 0) return false;
  if (is_operation(v, LLVMShl) && is_number(operand(v, 1), &count) && count < 32) {
    if (!is_multiple(operand(v, 0), x, &a, depth - 1)) return false;
    *times = a << count;
    return true;
  }
  bool add = is_operation(v, LLVMAdd);
  if (!add && !is_operation(v, LLVMSub)) return false;
  if (!is_multiple(operand(v, 0), x, &a, depth - 1) ||
      !is_multiple(operand(v, 1), x, &b, depth - 1))
    return false;
  *times = add ? a + b : a - b;
  return true;
}

/* Is it the low word of the product of x and y? */
static bool is_low_product(LLVMValueRef v, LLVMValueRef x, LLVMValueRef y)
{
  uint64_t constant;
  uint32_t times;
  if (is_operation(v, LLVMMul))
    return (operand(v, 0) == x && operand(v, 1) == y) || (operand(v, 0) == y && operand(v, 1) == x);
  if (is_number(y, &constant)) return is_multiple(v, x, &times, 4) && times == constant;
  return is_number(x, &constant) && is_multiple(v, y, &times, 4) && times == constant;
}

/* Is `low` the low word of a product whose high word is among the leaves? */
static bool take_product(double_words *d, sum *s, LLVMValueRef low, term *out, unsigned depth)
{
  for (uint32_t i = 0; i < s->num_high; i++) {
    LLVMValueRef operands[2];
    LLVMOpcode extend[2];
    leaf *l = &s->high[i];
    if (l->used || l->negative || !is_high_product(l->word, operands, extend)) continue;
    if (!is_low_product(low, operands[0], operands[1])) continue;
    l->used = true;
    *out = (term){NO_PAIR, NO_PAIR, operands[0], operands[1], extend[0], extend[1]};
    if (extend[0] != LLVMZExt || extend[1] != LLVMZExt) return true;
    sum before = *s;
    int32_t left = factor_pair(d, s, operands[0], operands[1], depth);
    int32_t right = factor_pair(d, s, operands[1], operands[0], depth);
    if (left != NO_PAIR && right != NO_PAIR)
      *out = (term){.a = left, .b = right};
    else
      *s = before; /* the product of the words alone: the cross products remain leaves */
    return true;
  }
  return false;
}

/* The pair of `low` and a leaf, or of `low` and 0. */
static int32_t take_pair(double_words *d, sum *s, LLVMValueRef low, unsigned depth)
{
  for (uint32_t i = 0; i < s->num_high; i++) {
    leaf *l = &s->high[i];
    if (l->used || l->negative || LLVMIsAConstantInt(low) != LLVMIsAConstantInt(l->word)) continue;
    int32_t pair = part(d, low, l->word, depth);
    if (has_no_form(d, pair)) continue;
    l->used = true;
    return pair;
  }
  return part(d, low, word(low, 0), depth);
}

/* low = a sum of words and products; high = the carries of that sum, and more. */
static void match_products(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low = d->pairs[pair].low;
  term terms[MAX_LEAVES];
  sum s = {.failed = false};
  bool product = false;
  if (!is_operation(low, LLVMAdd) && !is_operation(low, LLVMMul)) return;
  split_high(&s, d->pairs[pair].high, false);
  split_low(&s, low);
  if (s.failed) return;
  bool done[MAX_LEAVES] = {false};
  for (uint32_t i = 0; i < s.num_low; i++)
    product |= done[i] = take_product(d, &s, s.low[i], &terms[i], depth);
  if (!product) return;
  for (uint32_t i = 0; i < s.num_low; i++) {
    if (done[i]) continue;
    terms[i] = (term){.a = take_pair(d, &s, s.low[i], depth), .b = NO_PAIR};
    if (terms[i].a == NO_PAIR) return;
  }
  /* a leaf that is left over: there is more in it than the high word */
  for (uint32_t i = 0; i < s.num_high; i++)
    if (!s.high[i].used && !s.high[i].negative && !is_operation(s.high[i].word, LLVMMul)) return;
  form w = {.kind = FORM_SUM, .first_term = (uint32_t)d->num_terms, .num_terms = s.num_low};
  w.first_high_addend = (uint32_t)d->num_high_addends;
  for (uint32_t i = 0; i < s.num_low; i++)
    pop_push(d->terms, d->num_terms, d->terms_capacity, terms[i]);
  for (uint32_t i = 0; i < s.num_high; i++)
    if (!s.high[i].used)
      pop_push(d->high_addends, d->num_high_addends, d->high_addends_capacity,
               (high_addend){s.high[i].word, s.high[i].negative});
  w.num_high_addends = (uint32_t)d->num_high_addends - w.first_high_addend;
  add_form(d, pair, w);
}

/* Phis and selects */

static LLVMValueRef incoming_of(LLVMValueRef phi, LLVMBasicBlockRef block)
{
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
    if (LLVMGetIncomingBlock(phi, i) == block) return LLVMGetIncomingValue(phi, i);
  return NULL;
}

static void match_phi(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low = d->pairs[pair].low, high = d->pairs[pair].high;
  if (!is_operation(low, LLVMPHI) || !is_operation(high, LLVMPHI) ||
      LLVMGetInstructionParent(low) != LLVMGetInstructionParent(high))
    return;
  unsigned count = LLVMCountIncoming(low);
  term *terms = pop_xcalloc(count, sizeof *terms);
  bool whole = true;
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef other = incoming_of(high, LLVMGetIncomingBlock(low, i));
    terms[i].a = other ? part(d, LLVMGetIncomingValue(low, i), other, depth) : NO_PAIR;
    whole &= terms[i].a != NO_PAIR;
  }
  form w = {.kind = FORM_PHI, .first_term = (uint32_t)d->num_terms, .num_terms = count};
  for (unsigned i = 0; i < count && whole; i++)
    pop_push(d->terms, d->num_terms, d->terms_capacity, terms[i]);
  if (whole) add_form(d, pair, w);
  free(terms);
}

static void match_select(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low = d->pairs[pair].low, high = d->pairs[pair].high;
  if (!is_operation(low, LLVMSelect) || !is_operation(high, LLVMSelect) ||
      operand(low, 0) != operand(high, 0))
    return;
  int32_t a = part(d, operand(low, 1), operand(high, 1), depth);
  int32_t b = part(d, operand(low, 2), operand(high, 2), depth);
  if (!has_no_form(d, a) && !has_no_form(d, b))
    add_form(d, pair, (form){.kind = FORM_SELECTED, .x = operand(low, 0), .a = a, .b = b});
}

static bool match_leaf(double_words *d, int32_t pair)
{
  LLVMValueRef low = d->pairs[pair].low, high = d->pairs[pair].high;
  uint64_t a, b;
  form w = {.kind = FORM_CONSTANT};
  if (is_number(low, &a) && is_number(high, &b)) {
  } else if (is_exactly(high, 0)) {
    w.kind = FORM_ZERO_EXTENDED;
  } else if (is_exactly(low, 0)) {
    w.kind = FORM_SHIFTED_UP;
  } else if (low == high ? is_mask(low) : is_shift_by(high, LLVMAShr, low, 31)) {
    w.kind = FORM_SIGN_EXTENDED;
  } else if (is_operation(low, LLVMAShr) && is_shift_by(high, LLVMAShr, operand(low, 0), 31)) {
    w.kind = FORM_SIGN_EXTENDED;
  } else if (are_loads(low, high)) {
    w.kind = FORM_LOADED;
  } else {
    return false;
  }
  add_form(d, pair, w);
  return true;
}

/* Is the only form of `other` to exchange the halves of `pair`? */
static bool is_only_swap_of(const word_pair *other, int32_t pair)
{
  return other->num_forms == 1 && other->forms[0].kind == FORM_ROTATED && other->forms[0].a == pair;
}

/* Another pair with its halves exchanged. */
static void match_swapped(double_words *d, int32_t pair, unsigned depth)
{
  LLVMValueRef low = d->pairs[pair].low, high = d->pairs[pair].high;
  if (d->pairs[pair].swapped || d->pairs[pair].num_forms || low == high) return;
  bool known = pair_map_find(&d->by_halves, high, low) != UINT32_MAX;
  int32_t other = known ? part(d, high, low, depth) : add_pair(d, high, low, true);
  if (other == NO_PAIR) return;
  if (!known) match(d, other, depth + 1);
  if (!has_no_form(d, other) && !is_only_swap_of(&d->pairs[other], pair))
    add_form(d, pair, (form){.kind = FORM_ROTATED, .a = other, .amount = 32});
}

static void match(double_words *d, int32_t pair, unsigned depth)
{
  if (!match_leaf(d, pair)) {
    match_shift(d, pair, depth);
    match_phi(d, pair, depth);
    match_select(d, pair, depth);
    match_sum(d, pair, depth);
    match_difference(d, pair, depth);
    match_products(d, pair, depth);
    match_bitwise(d, pair, depth);
    match_chain(d, pair, depth);
    match_swapped(d, pair, depth);
  }
  d->pairs[pair].matched = true;
}

int32_t double_words_pair(double_words *d, LLVMValueRef low, LLVMValueRef high, unsigned depth)
{
  uint32_t known = pair_map_find(&d->by_halves, low, high);
  if (known != UINT32_MAX) return (int32_t)known;
  if (depth > MAX_DEPTH) return NO_PAIR;
  int32_t pair = add_pair(d, low, high, false);
  if (pair != NO_PAIR) match(d, pair, depth);
  return pair;
}
