/* Finds halves of 64-bit integers, chooses the pairs that are worth joining, and joins them. */
#include "double_words.h"

#include <populus/arena.h>
#include <stdlib.h>

/* An instruction of the original code: its block's number in reverse postorder. Its place is its
 * number in the function. */
typedef struct place {
  LLVMValueRef instruction;
  uint32_t block;
} place;

typedef struct function {
  LLVMBuilderRef b;
  LLVMTypeRef word, whole; /* 32 and 64 bits */
  place *places;
  size_t num_places, places_capacity;
  /* of instructions: index in `places`; of blocks: position in reverse postorder */
  pair_map numbers;
  LLVMBasicBlockRef *blocks;
  uint32_t num_blocks, *dominator; /* by block */
  double_words d;
  bool *replaced; /* by place */
} function;

/* A sign of 64-bit arithmetic, which demands a pair. */
typedef enum demand_kind {
  DEMAND_HALVES,  /* the pair itself */
  DEMAND_SHIFTED, /* a word: the low one of the pair shifted down by `amount` */
  DEMAND_GREATER, /* a word: 1 if the pair is greater than the word `bound`, else 0 */
  DEMAND_ZERO,    /* a comparison: of the whole pair with 0 */
  DEMAND_STORE    /* a store: of the pair, together with the store `other` right in front of it */
} demand_kind;

typedef struct demand {
  demand_kind kind;
  int32_t pair;
  LLVMValueRef from; /* the instruction; unused for DEMAND_HALVES */
  uint32_t amount;
  LLVMValueRef bound, other;
} demand;

/* Places */

static uint32_t block_number(const function *f, LLVMBasicBlockRef block)
{
  return pair_map_find(&f->numbers, block, NULL);
}

static void visit_blocks(function *f, LLVMBasicBlockRef entry)
{
  struct step {
    LLVMBasicBlockRef block;
    unsigned next;
  } *stack = NULL;
  size_t depth = 0, capacity = 0;
  pair_map seen = {0};
  LLVMBasicBlockRef *after = NULL;
  size_t num_after = 0, after_capacity = 0;
  pop_push(stack, depth, capacity, (struct step){entry, 0});
  pair_map_add(&seen, entry, NULL, 0);
  while (depth) {
    struct step *top = &stack[depth - 1];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(top->block);
    if (top->next == LLVMGetNumSuccessors(end)) {
      pop_push(after, num_after, after_capacity, top->block);
      depth--;
      continue;
    }
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, top->next++);
    if (pair_map_find(&seen, to, NULL) != UINT32_MAX) continue;
    pair_map_add(&seen, to, NULL, 0);
    pop_push(stack, depth, capacity, (struct step){to, 0});
  }
  f->num_blocks = (uint32_t)num_after;
  f->blocks = pop_xmalloc(num_after * sizeof *f->blocks);
  for (size_t i = 0; i < num_after; i++) {
    f->blocks[i] = after[num_after - 1 - i];
    pair_map_add(&f->numbers, f->blocks[i], NULL, (uint32_t)i);
  }
  free(after);
  free(stack);
  free(seen.entries);
}

static uint32_t common_dominator(const function *f, uint32_t a, uint32_t b)
{
  while (a != b) {
    while (a > b) a = f->dominator[a];
    while (b > a) b = f->dominator[b];
  }
  return a;
}

/* As block_graph.c does it for tile code (Cooper, Harvey, Kennedy). */
static void find_dominators(function *f)
{
  f->dominator = pop_xmalloc(f->num_blocks * sizeof *f->dominator);
  for (uint32_t i = 0; i < f->num_blocks; i++) f->dominator[i] = UINT32_MAX;
  f->dominator[0] = 0;
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t from = 0; from < f->num_blocks; from++) {
      LLVMValueRef end = LLVMGetBasicBlockTerminator(f->blocks[from]);
      for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
        uint32_t to = block_number(f, LLVMGetSuccessor(end, s)), old = f->dominator[to];
        uint32_t own = old == UINT32_MAX ? from : common_dominator(f, old, from);
        if (to == 0 || own == old) continue;
        f->dominator[to] = own;
        changed = true;
      }
    }
  }
}

static bool block_dominates(const function *f, uint32_t a, uint32_t b)
{
  if (b >= f->num_blocks) return false; /* cannot be reached */
  while (b > a) b = f->dominator[b];
  return a == b;
}

static void number_instructions(function *f)
{
  for (uint32_t i = 0; i < f->num_blocks; i++) {
    LLVMValueRef v = LLVMGetFirstInstruction(f->blocks[i]);
    for (; v; v = LLVMGetNextInstruction(v)) {
      pair_map_add(&f->numbers, v, NULL, (uint32_t)f->num_places);
      pop_push(f->places, f->num_places, f->places_capacity, (place){v, i});
    }
  }
}

/* The place of a value; UINT32_MAX: a constant, a parameter, or a new instruction. */
static uint32_t place_of(const function *f, LLVMValueRef v)
{
  return LLVMIsAInstruction(v) ? pair_map_find(&f->numbers, v, NULL) : UINT32_MAX;
}

/* The later place of two comparable values (are_comparable), where both are defined. UINT32_MAX:
 * everywhere. */
static uint32_t later(const function *f, LLVMValueRef a, LLVMValueRef b)
{
  uint32_t x = place_of(f, a), y = place_of(f, b);
  if (x == UINT32_MAX || y == UINT32_MAX) return x == UINT32_MAX ? y : x;
  uint32_t block = f->places[x].block, other = f->places[y].block;
  if (block == other) return x > y ? x : y;
  return block_dominates(f, block, other) ? y : x;
}

/* Positions the builder behind the instruction at `place` and behind what has been built there
 * before. */
static void build_behind(const function *f, uint32_t place)
{
  uint32_t next = place == UINT32_MAX ? 0 : place + 1;
  while (LLVMGetInstructionOpcode(f->places[next].instruction) == LLVMPHI) next++;
  LLVMPositionBuilderBefore(f->b, f->places[next].instruction);
}

/* Which pairs are worth it: all are assumed to be, until none of a pair's forms is left. A form is
 * dropped if a pair that it needs is not worth it. */

static bool is_profitable(const function *f, int32_t pair)
{
  return pair != NO_PAIR && f->d.pairs[pair].profitable;
}

static bool is_profitable_sum(const function *f, const form *w)
{
  for (uint32_t i = 0; i < w->num_terms; i++) {
    const term *t = &f->d.terms[w->first_term + i];
    if (!t->x && (!is_profitable(f, t->a) || (t->b != NO_PAIR && !is_profitable(f, t->b))))
      return false;
  }
  return true;
}

/* A phi is worth it if at least half of the incoming pairs are; the others are joined from their
 * halves. */
static bool is_profitable_phi(const function *f, const form *w)
{
  uint32_t bad = 0;
  for (uint32_t i = 0; i < w->num_terms; i++)
    bad += !is_profitable(f, f->d.terms[w->first_term + i].a);
  return 2 * bad <= w->num_terms;
}

static bool is_profitable_form(const function *f, const form *w)
{
  switch (w->kind) {
  case FORM_BINARY:
  case FORM_SELECTED:
    return is_profitable(f, w->a) && is_profitable(f, w->b);
  case FORM_SHIFT:
  case FORM_ROTATED:
    return is_profitable(f, w->a);
  case FORM_PHI:
    return is_profitable_phi(f, w);
  case FORM_SUM:
  case FORM_CHAIN:
    return is_profitable_sum(f, w);
  default:
    return true;
  }
}

static const form *profitable_form(const function *f, const word_pair *p)
{
  for (uint32_t i = 0; i < p->num_forms; i++)
    if (is_profitable_form(f, &p->forms[i])) return &p->forms[i];
  return NULL;
}

static void find_profitable(function *f)
{
  bool changed = true;
  for (size_t i = 0; i < f->d.num_pairs; i++) f->d.pairs[i].profitable = true;
  while (changed) {
    changed = false;
    for (size_t i = f->d.num_pairs; i-- > 0;) {
      word_pair *p = &f->d.pairs[i];
      if (!p->profitable || profitable_form(f, p)) continue;
      p->profitable = false;
      changed = true;
    }
  }
}

/* Building */

static LLVMValueRef build(function *f, int32_t pair);

static LLVMValueRef extend(function *f, LLVMOpcode how, LLVMValueRef word)
{
  return LLVMBuildCast(f->b, how, word, f->whole, "");
}

static LLVMValueRef number(const function *f, uint64_t value)
{
  return LLVMConstInt(f->whole, value, 0);
}

static LLVMValueRef shift_up(function *f, LLVMValueRef word)
{
  return LLVMBuildShl(f->b, extend(f, LLVMZExt, word), number(f, 32), "");
}

static LLVMValueRef build_loaded(function *f, const word_pair *p)
{
  LLVMValueRef loaded = LLVMBuildLoad2(f->b, f->whole, LLVMGetOperand(p->low, 0), "double");
  LLVMSetAlignment(loaded, 4);
  return loaded;
}

static LLVMValueRef build_rotated(function *f, LLVMValueRef of, uint32_t amount)
{
  LLVMValueRef up = LLVMBuildShl(f->b, of, number(f, amount), "");
  LLVMValueRef down = LLVMBuildLShr(f->b, of, number(f, 64 - amount), "");
  return LLVMBuildOr(f->b, up, down, "");
}

static LLVMValueRef build_term(function *f, const term *t)
{
  if (t->x)
    return LLVMBuildMul(f->b, extend(f, t->extend_x, t->x), extend(f, t->extend_y, t->y), "");
  LLVMValueRef a = f->d.pairs[t->a].whole;
  return t->b == NO_PAIR ? a : LLVMBuildMul(f->b, a, f->d.pairs[t->b].whole, "");
}

static void prepare_terms(function *f, const form *w)
{
  for (uint32_t i = 0; i < w->num_terms; i++) {
    const term *t = &f->d.terms[w->first_term + i];
    if (t->x) continue;
    build(f, t->a);
    if (t->b != NO_PAIR) build(f, t->b);
  }
}

static LLVMValueRef build_sum(function *f, const form *w)
{
  LLVMValueRef sum = NULL;
  for (uint32_t i = 0; i < w->num_terms; i++) {
    LLVMValueRef own = build_term(f, &f->d.terms[w->first_term + i]);
    sum = sum ? LLVMBuildAdd(f->b, sum, own, "") : own;
  }
  for (uint32_t i = 0; i < w->num_high_addends; i++) {
    const high_addend *r = &f->d.high_addends[w->first_high_addend + i];
    LLVMValueRef own = shift_up(f, r->word);
    sum = r->negative ? LLVMBuildSub(f->b, sum, own, "") : LLVMBuildAdd(f->b, sum, own, "");
  }
  return sum;
}

static LLVMValueRef build_chain(function *f, const form *w)
{
  LLVMValueRef all = NULL;
  for (uint32_t i = 0; i < w->num_terms; i++) {
    LLVMValueRef own = build_term(f, &f->d.terms[w->first_term + i]);
    all = all ? LLVMBuildBinOp(f->b, w->opcode, all, own, "") : own;
  }
  return all;
}

/* The pairs that a form needs are built first: they may have to stand in front of it. */
static LLVMValueRef build_form(function *f, const word_pair *p, const form *w, uint32_t place)
{
  LLVMValueRef a = NULL, b = NULL;
  if (w->kind == FORM_SUM || w->kind == FORM_CHAIN) prepare_terms(f, w);
  if (w->kind == FORM_BINARY || w->kind == FORM_SELECTED) b = build(f, w->b);
  if (b || w->kind == FORM_SHIFT || w->kind == FORM_ROTATED) a = build(f, w->a);
  build_behind(f, place);
  switch (w->kind) {
  case FORM_CONSTANT:
    return number(f, LLVMConstIntGetZExtValue(p->low) | LLVMConstIntGetZExtValue(p->high) << 32);
  case FORM_ZERO_EXTENDED:
    return extend(f, LLVMZExt, p->low);
  case FORM_SIGN_EXTENDED:
    return extend(f, LLVMSExt, p->low);
  case FORM_SHIFTED_UP:
    return shift_up(f, p->high);
  case FORM_LOADED:
    return build_loaded(f, p);
  case FORM_BINARY:
    return LLVMBuildBinOp(f->b, w->opcode, a, b, "");
  case FORM_CHAIN:
    return build_chain(f, w);
  case FORM_SHIFT:
    return LLVMBuildBinOp(f->b, w->opcode, a, number(f, w->amount), "");
  case FORM_ROTATED:
    return build_rotated(f, a, w->amount);
  case FORM_SELECTED:
    return LLVMBuildSelect(f->b, w->x, a, b, "");
  default:
    return build_sum(f, w);
  }
}

static LLVMValueRef build_phi(function *f, int32_t pair, const form *w)
{
  LLVMValueRef low = f->d.pairs[pair].low;
  LLVMPositionBuilderBefore(f->b, LLVMGetFirstInstruction(LLVMGetInstructionParent(low)));
  LLVMValueRef phi = LLVMBuildPhi(f->b, f->whole, "double");
  f->d.pairs[pair].whole = phi;
  for (uint32_t i = 0; i < w->num_terms; i++) {
    LLVMValueRef value = build(f, f->d.terms[w->first_term + i].a);
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(low, i);
    LLVMAddIncoming(phi, &value, &from, 1);
  }
  return phi;
}

/* If bits are only moved and combined, either half can be the high one; arithmetic decides
 * which. */
static bool can_swap_halves(const form *w)
{
  return w->kind == FORM_PHI || w->kind == FORM_SELECTED || w->kind == FORM_ROTATED ||
         w->kind == FORM_CHAIN ||
         (w->kind == FORM_BINARY && w->opcode != LLVMAdd && w->opcode != LLVMSub);
}

/* The pair with its halves exchanged, if it has been built. */
static LLVMValueRef swapped_of(const function *f, const word_pair *p)
{
  uint32_t other = pair_map_find(&f->d.by_halves, p->high, p->low);
  return other == UINT32_MAX ? NULL : f->d.pairs[other].whole;
}

static LLVMValueRef build(function *f, int32_t pair)
{
  word_pair *p = &f->d.pairs[pair]; /* no more pairs are added */
  if (p->whole) return p->whole;
  const form *w = p->profitable ? profitable_form(f, p) : NULL;
  uint32_t place = later(f, p->low, p->high);
  if (w && can_swap_halves(w) && swapped_of(f, p)) {
    build_behind(f, place);
    return p->whole = build_rotated(f, swapped_of(f, p), 32);
  }
  if (w && w->kind == FORM_PHI) return build_phi(f, pair, w);
  if (w) return p->whole = build_form(f, p, w, place);
  build_behind(f, place);
  LLVMValueRef high = shift_up(f, p->high);
  return p->whole = LLVMBuildOr(f->b, high, extend(f, LLVMZExt, p->low), "");
}

/* Replacing */

/* Is this use of a value (operand number `operand` of `user`) behind the place? */
static bool is_behind(const function *f, LLVMValueRef user, unsigned operand, uint32_t place)
{
  uint32_t own = place_of(f, user), block = f->places[place].block;
  if (own == UINT32_MAX) return false; /* new */
  if (LLVMGetInstructionOpcode(user) == LLVMPHI)
    return block_dominates(f, block, block_number(f, LLVMGetIncomingBlock(user, operand)));
  if (f->places[own].block == block) return own > place;
  return block_dominates(f, block, f->places[own].block);
}

/* Replaces the uses of `old` behind the place by `fresh`. */
static void replace(function *f, LLVMValueRef old, LLVMValueRef fresh, uint32_t place)
{
  LLVMValueRef *users = NULL;
  size_t num_users = 0, capacity = 0;
  f->replaced[place_of(f, old)] = true;
  for (LLVMUseRef use = LLVMGetFirstUse(old); use; use = LLVMGetNextUse(use))
    pop_push(users, num_users, capacity, LLVMGetUser(use));
  for (size_t n = 0; n < num_users; n++)
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(users[n]); i++)
      if (LLVMGetOperand(users[n], i) == old && is_behind(f, users[n], i, place))
        LLVMSetOperand(users[n], i, fresh);
  free(users);
}

static bool is_replaced(const function *f, LLVMValueRef v)
{
  uint32_t own = place_of(f, v);
  return own == UINT32_MAX || f->replaced[own];
}

/* Replaces `old` by the low word of `whole` >> shift. */
static void replace_word(function *f, LLVMValueRef old, LLVMValueRef whole, uint32_t shift,
                         uint32_t place)
{
  if (is_replaced(f, old)) return;
  build_behind(f, place);
  LLVMValueRef shifted = shift ? LLVMBuildLShr(f->b, whole, number(f, shift), "") : whole;
  replace(f, old, LLVMBuildTrunc(f->b, shifted, f->word, ""), place);
}

static void replace_halves(function *f, const word_pair *p)
{
  const form *w = profitable_form(f, p);
  if (!p->whole || !p->profitable || !w || w->kind == FORM_CONSTANT ||
      w->kind == FORM_ZERO_EXTENDED || w->kind == FORM_SIGN_EXTENDED ||
      w->kind == FORM_SHIFTED_UP || (w->kind == FORM_ROTATED && w->amount == 32))
    return;
  uint32_t place = later(f, p->low, p->high);
  if (place == UINT32_MAX) return;
  replace_word(f, p->high, p->whole, 32, place);
  replace_word(f, p->low, p->whole, 0, place);
}

/* Demands */

typedef struct demands {
  demand *list;
  size_t count, capacity;
} demands;

/* Is one value defined wherever the other one is? Two values that one instruction uses are
 * comparable. So it is enough that the halves of a demanded pair are comparable: then the halves of
 * all pairs that it comes from are. */
static bool are_comparable(function *f, LLVMValueRef a, LLVMValueRef b)
{
  uint32_t x = place_of(f, a), y = place_of(f, b);
  if (x == UINT32_MAX || y == UINT32_MAX) return true;
  uint32_t block = f->places[x].block, other = f->places[y].block;
  if (!f->dominator) find_dominators(f);
  return block_dominates(f, block, other) || block_dominates(f, other, block);
}

static void add_demand(function *f, demands *to, LLVMValueRef low, LLVMValueRef high, demand own)
{
  if (!are_comparable(f, low, high)) return;
  own.pair = double_words_pair(&f->d, low, high, 0);
  if (own.pair != NO_PAIR) pop_push(to->list, to->count, to->capacity, own);
}

static void demand_pair(function *f, demands *to, LLVMValueRef low, LLVMValueRef high)
{
  add_demand(f, to, low, high, (demand){.kind = DEMAND_HALVES});
}

enum { MAX_HEIGHT = 8, MAX_SUMS = 16 };

/* Is it a sum whose carry is used? Then it is the low word of another pair (a word of a longer
 * number), and not the high word of any. */
static bool has_used_carry(LLVMValueRef sum)
{
  if (!is_operation(sum, LLVMAdd)) return false;
  for (LLVMUseRef use = LLVMGetFirstUse(sum); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef compared = LLVMGetUser(use);
    if (!is_operation(compared, LLVMICmp)) continue;
    for (LLVMUseRef of = LLVMGetFirstUse(compared); of; of = LLVMGetNextUse(of))
      if (is_carry_of(LLVMGetUser(of), sum)) return true;
  }
  return false;
}

/* Demands pairs of `low` with the sums that contain `part`, the largest first. */
static void demand_sums(function *f, demands *to, LLVMValueRef low, LLVMValueRef part,
                        unsigned height, unsigned *left)
{
  LLVMUseRef use = LLVMGetFirstUse(part);
  for (; use && height && *left; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!is_operation(user, LLVMAdd) && !is_operation(user, LLVMSub)) continue;
    if (has_used_carry(user)) continue;
    --*left;
    demand_sums(f, to, low, user, height - 1, left);
    demand_pair(f, to, low, user);
  }
}

/* Demands pairs whose low word is x - y, where `part` is the borrow (x < y); or y - 1, where `part`
 * is (0 < y). */
static void demand_difference(function *f, demands *to, LLVMValueRef x, LLVMValueRef y,
                              LLVMValueRef part)
{
  LLVMValueRef known = LLVMIsAConstantInt(x) ? y : x;
  if (LLVMIsAConstantInt(known)) return;
  for (LLVMUseRef use = LLVMGetFirstUse(known); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    bool sub =
        is_operation(user, LLVMSub) && LLVMGetOperand(user, 0) == x && LLVMGetOperand(user, 1) == y;
    bool constant = is_operation(user, LLVMAdd) && LLVMGetOperand(user, 0) == known &&
                    LLVMIsAConstantInt(LLVMGetOperand(user, 1));
    unsigned left = MAX_SUMS;
    if (sub || constant) demand_sums(f, to, user, part, 2, &left);
  }
}

static void demand_product(function *f, demands *to, LLVMValueRef high)
{
  LLVMValueRef operands[2];
  LLVMOpcode extend[2];
  if (!is_high_product(high, operands, extend)) return;
  unsigned left = MAX_SUMS;
  bool first = !LLVMIsAConstantInt(operands[0]);
  LLVMValueRef x = operands[!first], y = operands[first];
  for (LLVMUseRef use = LLVMGetFirstUse(x); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef low = LLVMGetUser(use);
    if (!is_operation(low, LLVMMul) || LLVMTypeOf(low) != f->word) continue;
    if (LLVMGetOperand(low, 0) != y && LLVMGetOperand(low, 1) != y) continue;
    demand_sums(f, to, low, high, 3, &left);
    demand_pair(f, to, low, high);
    return;
  }
}

/* x < y as a word. */
static void demand_of_less(function *f, demands *to, LLVMValueRef v)
{
  LLVMValueRef x = LLVMGetOperand(LLVMGetOperand(v, 0), 0);
  LLVMValueRef y = LLVMGetOperand(LLVMGetOperand(v, 0), 1);
  unsigned left = MAX_SUMS;
  if (LLVMTypeOf(x) != f->word) return;
  if (is_carry_of(v, x)) demand_sums(f, to, x, v, MAX_HEIGHT, &left);
  demand_difference(f, to, x, y, v);
}

/* (0 < high) | (bound < low), as words. */
static void demand_of_or(function *f, demands *to, LLVMValueRef v)
{
  for (unsigned i = 0; i < 2; i++) {
    LLVMValueRef zero, high, bound, low;
    if (!is_below(LLVMGetOperand(v, i), &zero, &high) ||
        !is_below(LLVMGetOperand(v, 1 - i), &bound, &low) || !LLVMIsNull(zero) ||
        LLVMIsAConstantInt(high) || LLVMTypeOf(high) != f->word || LLVMTypeOf(low) != f->word)
      continue;
    add_demand(f, to, low, high, (demand){.kind = DEMAND_GREATER, .from = v, .bound = bound});
  }
}

/* x | y compared with 0. */
static void demand_of_comparison(function *f, demands *to, LLVMValueRef v)
{
  LLVMValueRef both = LLVMGetOperand(v, 0);
  LLVMIntPredicate how = LLVMGetICmpPredicate(v);
  if ((how != LLVMIntEQ && how != LLVMIntNE) || !LLVMIsNull(LLVMGetOperand(v, 1)) ||
      !is_operation(both, LLVMOr) || LLVMTypeOf(both) != f->word)
    return;
  for (unsigned i = 0; i < 2; i++)
    add_demand(f, to, LLVMGetOperand(both, i), LLVMGetOperand(both, 1 - i),
               (demand){.kind = DEMAND_ZERO, .from = v});
}

static void find_demands(function *f, demands *to, LLVMValueRef v)
{
  LLVMValueRef high, low;
  uint32_t count;
  if (is_operation(v, LLVMICmp)) demand_of_comparison(f, to, v);
  if (LLVMTypeOf(v) != f->word) return;
  if (is_operation(v, LLVMZExt) && is_operation(LLVMGetOperand(v, 0), LLVMICmp))
    demand_of_less(f, to, v);
  if (is_operation(v, LLVMOr)) demand_of_or(f, to, v);
  demand_product(f, to, v);
  if (is_funnel(v, &high, &low, &count) && high != low)
    add_demand(f, to, low, high, (demand){.kind = DEMAND_SHIFTED, .from = v, .amount = 32 - count});
}

/* The store in front of this one, if nothing between them touches memory. */
static LLVMValueRef store_before(const function *f, LLVMValueRef store)
{
  LLVMValueRef v = LLVMGetPreviousInstruction(store);
  for (; v; v = LLVMGetPreviousInstruction(v)) {
    if (is_operation(v, LLVMLoad) || is_operation(v, LLVMCall)) return NULL;
    if (!is_operation(v, LLVMStore)) continue;
    return LLVMTypeOf(LLVMGetOperand(v, 0)) == f->word ? v : NULL;
  }
  return NULL;
}

/* Demands a store of a known pair for the stores of both its halves. `taken`: the last store of the
 * last such demand. */
static void demand_of_store(function *f, demands *to, LLVMValueRef store, LLVMValueRef *taken)
{
  if (!is_operation(store, LLVMStore) || LLVMTypeOf(LLVMGetOperand(store, 0)) != f->word) return;
  LLVMValueRef before = store_before(f, store);
  if (!before || before == *taken) return;
  bool up = are_consecutive(LLVMGetOperand(before, 1), LLVMGetOperand(store, 1));
  LLVMValueRef low = up ? before : store, high = up ? store : before;
  if (!up && !are_consecutive(LLVMGetOperand(low, 1), LLVMGetOperand(high, 1))) return;
  uint32_t pair = pair_map_find(&f->d.by_halves, LLVMGetOperand(low, 0), LLVMGetOperand(high, 0));
  if (pair == UINT32_MAX) return;
  *taken = store;
  pop_push(to->list, to->count, to->capacity,
           (demand){.kind = DEMAND_STORE, .pair = (int32_t)pair, .from = store, .other = before});
}

static void build_store(function *f, const demand *own, LLVMValueRef whole)
{
  bool up = are_consecutive(LLVMGetOperand(own->other, 1), LLVMGetOperand(own->from, 1));
  LLVMPositionBuilderBefore(f->b, own->from);
  LLVMValueRef place = LLVMGetOperand(up ? own->other : own->from, 1);
  LLVMSetAlignment(LLVMBuildStore(f->b, whole, place), 4);
}

static void meet(function *f, const demand *own)
{
  const word_pair *p = &f->d.pairs[own->pair];
  if (own->kind == DEMAND_HALVES) {
    replace_halves(f, p);
    return;
  }
  uint32_t place = place_of(f, own->from);
  if (own->kind == DEMAND_SHIFTED) {
    replace_word(f, own->from, p->whole, own->amount, place);
    return;
  }
  if (own->kind == DEMAND_STORE) {
    build_store(f, own, p->whole);
    return;
  }
  if (is_replaced(f, own->from)) return;
  build_behind(f, place);
  if (own->kind == DEMAND_ZERO) {
    LLVMIntPredicate how = LLVMGetICmpPredicate(own->from);
    replace(f, own->from, LLVMBuildICmp(f->b, how, p->whole, number(f, 0), ""), place);
    return;
  }
  LLVMValueRef bound = extend(f, LLVMZExt, own->bound);
  LLVMValueRef greater = LLVMBuildICmp(f->b, LLVMIntUGT, p->whole, bound, "");
  replace(f, own->from, LLVMBuildZExt(f->b, greater, f->word, ""), place);
}

static void join(function *f, const demands *all)
{
  f->replaced = pop_xcalloc(f->num_places, sizeof *f->replaced);
  for (unsigned round = 0; round < 2;
       round++) /* sums first: they show which half is the high one */
    for (size_t i = 0; i < all->count; i++)
      if (f->d.pairs[all->list[i].pair].profitable &&
          (all->list[i].kind == DEMAND_HALVES) == !round)
        build(f, all->list[i].pair);
  for (size_t i = 0; i < all->count; i++)
    if (f->d.pairs[all->list[i].pair].profitable) meet(f, &all->list[i]);
  for (size_t i = 0; i < f->d.num_pairs; i++) replace_halves(f, &f->d.pairs[i]);
  for (size_t i = 0; i < all->count; i++) {
    const demand *own = &all->list[i];
    if (own->kind != DEMAND_STORE || !f->d.pairs[own->pair].profitable) continue;
    LLVMInstructionEraseFromParent(own->from); /* from here on nothing is built at places */
    LLVMInstructionEraseFromParent(own->other);
  }
  free(f->replaced);
}

static void join_in_function(LLVMValueRef of, LLVMBuilderRef b)
{
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(of));
  function f = {
      .b = b, .word = LLVMInt32TypeInContext(context), .whole = LLVMInt64TypeInContext(context)};
  demands all = {0};
  visit_blocks(&f, LLVMGetEntryBasicBlock(of));
  number_instructions(&f);
  for (size_t i = 0; i < f.num_places; i++) find_demands(&f, &all, f.places[i].instruction);
  if (all.count) {
    LLVMValueRef taken = NULL;
    for (size_t i = 0; i < f.num_places; i++)
      demand_of_store(&f, &all, f.places[i].instruction, &taken);
    if (!f.dominator) find_dominators(&f);
    find_profitable(&f);
    join(&f, &all);
  }
  free(all.list);
  free(f.places);
  free(f.numbers.entries);
  free(f.blocks);
  free(f.dominator);
  free(f.d.pairs);
  free(f.d.by_halves.entries);
  free(f.d.terms);
  free(f.d.high_addends);
}

void double_words_join(LLVMModuleRef module)
{
  LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (LLVMGetFirstBasicBlock(f)) join_in_function(f, b);
  LLVMDisposeBuilder(b);
}
