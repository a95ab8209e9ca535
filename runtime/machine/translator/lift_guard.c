/* Loop versioning. The guard in front of a counted loop chooses between its two copies. It computes
 * the trip count, and tests whether there is time for all iterations and whether all accesses are
 * in bounds. These checks are hoisted from the loop: the fast copy has none. (loops.c finds the
 * loops.) */
#include "lift.h"

#include <llvm-c/DebugInfo.h>

/* Up to this trip count the rest of the guard does not pay. The weights are in instructions of the
 * host, about: the guard 20, and 6 for each group of accesses; an iteration of the plain copy 2
 * more than one of the fast copy, and 3 for each access. (The guard has become shorter since, but
 * 12 and 5 were no faster.) Loops with a single access (memset's bytes in front of and behind its
 * words) get the least value, because LLVM makes too much of a plain copy that it knows to run so
 * few iterations. */
static uint32_t min_profitable_trip_count(const counted_loop *loop)
{
  uint32_t few = (20 + 6 * loop->num_groups) / (2 + 3 * loop->num_accesses);
  enum { LEAST = 2, MOST = 5 }; /* the fast copy needs an iteration in front of its last one */
  if (loop->num_accesses < 2) return LEAST;
  return few < LEAST ? LEAST : few > MOST ? MOST : few;
}

LLVMValueRef lift_affine(lift *l, const affine *a)
{
  LLVMValueRef sum = lift_constant(l, a->constant);
  for (unsigned i = 0; i < a->num_terms; i++) {
    LLVMValueRef coefficient = lift_constant(l, a->coefficient[i]);
    uint16_t symbol = a->symbol[i];
    LLVMValueRef value =
        symbol < NUM_REGISTERS ? lift_x(l, symbol) : l->invariants[symbol - FIRST_INVARIANT];
    sum = LLVMBuildAdd(l->b, sum, LLVMBuildMul(l->b, value, coefficient, ""), "");
  }
  return sum;
}

static LLVMValueRef both(lift *l, LLVMValueRef a, LLVMValueRef b)
{
  return LLVMBuildAnd(l->b, a, b, "");
}

/* The guard's conditions. Most of them ask whether a < b; the difference a - b has the sign bit
 * then. So the host subtracts, ands the differences and branches once. */
typedef struct conditions {
  LLVMValueRef legal, below; /* below: negative if all comparisons hold */
} conditions;

static conditions no_conditions(const lift *l)
{
  return (conditions){.legal = LLVMConstInt(l->type.i1, 1, 0),
                      .below = LLVMConstInt(l->type.i64, UINT64_MAX, 1)};
}

static void require(lift *l, conditions *c, LLVMValueRef legal)
{
  c->legal = both(l, c->legal, legal);
}

/* A number that is negative. */
static void require_negative(lift *l, conditions *c, LLVMValueRef number)
{
  c->below = LLVMBuildAnd(l->b, c->below, number, "");
}

/* a < b, of numbers whose difference has 64 bits. */
static void require_below(lift *l, conditions *c, LLVMValueRef a, LLVMValueRef b)
{
  require_negative(l, c, LLVMBuildSub(l->b, a, b, ""));
}

static LLVMValueRef conditions_hold(lift *l, const conditions *c)
{
  return both(l, c->legal, lift_compare(l, LLVMIntSLT, c->below, lift_constant64(l, 0)));
}

/* Trip count - 1 of a loop that ends when counter == bound. The difference must be a multiple of
 * the step; it is taken modulo 2^32. */
static LLVMValueRef backedges_until_equal(lift *l, const loop_exit *e, conditions *c)
{
  LLVMValueRef counter = lift_affine(l, &e->counter), bound = lift_affine(l, &e->bound);
  bool up = e->step > 0;
  LLVMValueRef step = lift_constant(l, (uint32_t)(up ? e->step : -e->step));
  LLVMValueRef distance =
      up ? LLVMBuildSub(l->b, bound, counter, "") : LLVMBuildSub(l->b, counter, bound, "");
  LLVMValueRef rest = LLVMBuildURem(l->b, distance, step, "");
  require(l, c, lift_compare(l, LLVMIntEQ, rest, lift_constant(l, 0)));
  /* Not an exact division: an inexact one would give poison, and the guard branches on the
   * result. */
  return LLVMBuildZExt(l->b, LLVMBuildUDiv(l->b, distance, step, ""), l->type.i64, "");
}

/* Trip count - 1 of a loop that ends when the counter has passed the bound. The counter must pass
 * it before it wraps around, and in front of the first iteration it must not be past it by more
 * than a step. LLVM can see that the result is less than 2^32, so it vectorises better. */
static LLVMValueRef backedges_until_passed(lift *l, const loop_exit *e, conditions *c)
{
  bool up = e->step > 0, is_signed = e->test == LOOP_SIGNED;
  LLVMOpcode extend = is_signed ? LLVMSExt : LLVMZExt;
  LLVMTypeRef i64 = l->type.i64;
  LLVMValueRef counter = LLVMBuildCast(l->b, extend, lift_affine(l, &e->counter), i64, "");
  LLVMValueRef bound = LLVMBuildCast(l->b, extend, lift_affine(l, &e->bound), i64, "");
  uint64_t step = (uint64_t)(up ? (int64_t)e->step : -(int64_t)e->step);
  /* the counter ends at most this far past the bound */
  uint64_t beyond = e->or_equal ? step : step - 1;
  int64_t most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? INT32_MIN : 0;
  if (beyond && up)
    require_below(l, c, bound, lift_constant64(l, (uint64_t)most - beyond + 1));
  else if (beyond)
    require_below(l, c, lift_constant64(l, (uint64_t)least + beyond - 1), bound);
  LLVMValueRef distance =
      up ? LLVMBuildSub(l->b, bound, counter, "") : LLVMBuildSub(l->b, counter, bound, "");
  distance = LLVMBuildAdd(l->b, distance, lift_constant64(l, beyond), "");
  require_below(l, c, lift_constant64(l, UINT64_MAX), distance);
  LLVMValueRef low = LLVMBuildTrunc(l->b, distance, l->type.i32, "");
  LLVMValueRef backedges = LLVMBuildUDiv(l->b, low, lift_constant(l, (uint32_t)step), "");
  return LLVMBuildZExt(l->b, backedges, i64, "");
}

/* Trip count - 1 of the loop: the least of its exits. */
static LLVMValueRef count_backedges(lift *l, const counted_loop *loop, conditions *c)
{
  LLVMValueRef least = NULL;
  for (uint32_t i = 0; i < loop->num_exits; i++) {
    const loop_exit *e = &loop->exits[i];
    LLVMValueRef backedges = e->test == LOOP_NOT_EQUAL ? backedges_until_equal(l, e, c)
                                                       : backedges_until_passed(l, e, c);
    least = least ? lift_intrinsic(l, "llvm.umin", &l->type.i64, 1,
                                   (LLVMValueRef[]){least, backedges}, 2)
                  : backedges;
  }
  return least;
}

/* A window of tile memory; start and size are multiples of 4. */
typedef struct window_values {
  LLVMValueRef start, bytes;
} window_values;

static window_values readable_window(const lift *l)
{
  return (window_values){l->readable_start, l->readable_bytes};
}

static window_values stack_window(const lift *l)
{
  return (window_values){l->stack_start, l->stack_bytes};
}

/* The window around the last store that was in no other window. It changes now and then, so it is
 * loaded here. */
static window_values other_window(lift *l)
{
  return (window_values){lift_frame_word(l, offsetof(translated_frame, other_start)),
                         lift_frame_word(l, offsetof(translated_frame, other_bytes))};
}

/* The window that the group's stores probably go to (likely_pointers.c). */
static window_values likely_window(lift *l, const counted_loop *loop, const access_group *g)
{
  likely_pointers likely = l->block_pointers[loop->header];
  uint32_t registers = 0;
  for (unsigned i = 0; i < g->base.num_terms; i++)
    if (g->base.symbol[i] < NUM_REGISTERS) registers |= 1u << g->base.symbol[i];
  if (g->by_sp || likely.stack & registers) return stack_window(l);
  if (likely.data & registers) return other_window(l);
  return (window_values){l->writable_start, l->writable_bytes};
}

static uint32_t log_align(const access_group *g)
{
  return g->align / 2; /* of 1, 2, 4 */
}

/* Bytes in units of the group's alignment, in 64 bits. Rotated, so that an unaligned number becomes
 * huge. */
static LLVMValueRef in_units(lift *l, const access_group *g, LLVMValueRef bytes)
{
  LLVMValueRef log = lift_constant(l, log_align(g));
  if (log_align(g))
    bytes = lift_intrinsic(l, "llvm.fshr", &l->type.i32, 1, (LLVMValueRef[]){bytes, bytes, log}, 3);
  return LLVMBuildZExt(l->b, bytes, l->type.i64, "");
}

/* How far the group moves in `backedges` iterations, in units. A symbolic stride must go forwards
 * by less than 2^30 units an iteration. */
static LLVMValueRef distance_in_units(lift *l, const access_group *g, LLVMValueRef backedges,
                                      conditions *c)
{
  int64_t step = (int32_t)g->step.constant;
  if (!g->step.num_terms) {
    uint64_t distance = (uint64_t)(step < 0 ? -step : step) >> log_align(g);
    return LLVMBuildMul(l->b, backedges, lift_constant64(l, distance), "");
  }
  LLVMValueRef units = in_units(l, g, lift_affine(l, &g->step));
  require_below(l, c, units, lift_constant64(l, UINT64_C(1) << 30));
  return LLVMBuildMul(l->b, backedges, units, "");
}

/* Requires the group's whole range, in the first iteration and `backedges` others, to be aligned
 * and in the window. It tests the last unit of the range by its offset from the window's start. */
static void require_in_window(lift *l, const access_group *g, LLVMValueRef backedges,
                              window_values w, conditions *c)
{
  int64_t align = g->align;
  int64_t from = ((g->lowest - (int64_t)g->rest) & -align) + g->rest;
  LLVMValueRef start =
      LLVMBuildAdd(l->b, lift_affine(l, &g->base), lift_constant(l, (uint32_t)from), "");
  if (!g->step.num_terms && (int32_t)g->step.constant < 0) {
    LLVMValueRef distance = LLVMBuildMul(l->b, backedges, g->stride, "");
    start = LLVMBuildAdd(l->b, start, LLVMBuildTrunc(l->b, distance, l->type.i32, ""), "");
  }
  LLVMValueRef last = in_units(l, g, LLVMBuildSub(l->b, start, w.start, ""));
  last = LLVMBuildAdd(l->b, last, distance_in_units(l, g, backedges, c), "");
  if (g->scale) {
    LLVMValueRef limit = LLVMBuildZExt(l->b, lift_affine(l, &g->limit), l->type.i64, "");
    limit = LLVMBuildMul(l->b, limit, lift_constant64(l, g->scale >> log_align(g)), "");
    last = LLVMBuildAdd(l->b, last, limit, "");
  }
  uint64_t extent = (uint64_t)(g->highest - from + align - 1) >> log_align(g);
  last = LLVMBuildAdd(l->b, last, lift_constant64(l, extent - 1), "");
  LLVMValueRef size = LLVMBuildLShr(l->b, w.bytes, lift_constant(l, log_align(g)), "");
  require_below(l, c, last, LLVMBuildZExt(l->b, size, l->type.i64, ""));
}

/* Are [lowest, highest) of tile memory in the window? */
static LLVMValueRef range_in(lift *l, LLVMValueRef lowest, LLVMValueRef highest, window_values w)
{
  LLVMValueRef first = LLVMBuildZExt(l->b, w.start, l->type.i64, "");
  LLVMValueRef end = LLVMBuildAdd(l->b, first, LLVMBuildZExt(l->b, w.bytes, l->type.i64, ""), "");
  return both(l, lift_compare(l, LLVMIntSGE, lowest, first),
              lift_compare(l, LLVMIntSLE, highest, end));
}

/* Are address and stride multiples of the alignment? */
static LLVMValueRef is_aligned(lift *l, const access_group *g)
{
  LLVMValueRef bits = LLVMBuildAdd(l->b, lift_affine(l, &g->base), lift_constant(l, g->rest), "");
  if (g->step.num_terms)
    bits = LLVMBuildOr(l->b, bits, lift_affine(l, &g->step),
                       ""); /* loop_accesses.c checks constant ones */
  LLVMValueRef low_bits = LLVMBuildAnd(l->b, bits, lift_constant(l, g->align - 1), "");
  return lift_compare(l, LLVMIntEQ, low_bits, lift_constant(l, 0));
}

/* Orders the addresses of the first and of the last iteration: the lower one first. */
static void put_in_order(lift *l, const access_group *g, LLVMValueRef *first, LLVMValueRef *last)
{
  LLVMValueRef ends[] = {*first, *last};
  if (g->step.num_terms) {
    *first = lift_intrinsic(l, "llvm.smin", &l->type.i64, 1, ends, 2);
    *last = lift_intrinsic(l, "llvm.smax", &l->type.i64, 1, ends, 2);
  } else if ((int32_t)g->step.constant < 0) {
    *first = ends[1];
    *last = ends[0];
  }
}

/* Sets the group's start, its stride, and its range over the first iteration and `backedges`
 * others. (There is time for all iterations, so 64 bits are enough for the distance.) */
static void find_ends(lift *l, access_group *g, LLVMValueRef backedges)
{
  LLVMValueRef lowest = lift_constant(l, (uint32_t)g->lowest);
  LLVMValueRef start = LLVMBuildAdd(l->b, lift_affine(l, &g->base), lowest, "");
  g->start = LLVMBuildZExt(l->b, start, l->type.i64, "");
  g->stride = LLVMBuildSExt(l->b, lift_affine(l, &g->step), l->type.i64, "stride");
  LLVMValueRef distance = LLVMBuildMul(l->b, backedges, g->stride, "");
  g->from = g->start;
  g->to = LLVMBuildAdd(l->b, g->start, distance, "");
  put_in_order(l, g, &g->from, &g->to);
  uint64_t extent = (uint64_t)((int64_t)g->highest - g->lowest);
  g->to = LLVMBuildAdd(l->b, g->to, lift_constant64(l, extent), "");
  if (!g->scale) return;
  LLVMValueRef limit = LLVMBuildZExt(l->b, lift_affine(l, &g->limit), l->type.i64, "");
  limit = LLVMBuildMul(l->b, limit, lift_constant64(l, g->scale), "");
  g->to = LLVMBuildAdd(l->b, g->to, limit, "");
}

/* Does the first test guess: which of several windows the group is in, or the sign of its
 * stride? */
static bool is_guess(const access_group *g)
{
  return g->step.num_terms || (g->store && !g->by_sp);
}

/* The group's full test: any window, any sign of the stride. */
static LLVMValueRef group_legal(lift *l, const access_group *g)
{
  LLVMValueRef aligned = is_aligned(l, g);
  if (!g->store) return both(l, aligned, range_in(l, g->from, g->to, readable_window(l)));
  LLVMValueRef in_stack = range_in(l, g->from, g->to, stack_window(l));
  if (g->by_sp) return both(l, aligned, in_stack);
  window_values writable = {l->writable_start, l->writable_bytes};
  LLVMValueRef in_writable = range_in(l, g->from, g->to, writable);
  LLVMValueRef in_other = range_in(l, g->from, g->to, other_window(l));
  return both(l, aligned,
              LLVMBuildOr(l->b, in_writable, LLVMBuildOr(l->b, in_stack, in_other, ""), ""));
}

/* The word that the load gets, if the load is legal; else any word. */
static LLVMValueRef load_invariant(lift *l, const loop_invariant *it, LLVMValueRef *legal)
{
  LLVMValueRef address = lift_affine(l, &it->a);
  access_group word = {.align = 4};
  LLVMValueRef unit = in_units(l, &word, LLVMBuildSub(l->b, address, l->readable_start, ""));
  LLVMValueRef size = LLVMBuildLShr(l->b, l->readable_bytes, lift_constant(l, 2), "");
  LLVMValueRef fits = lift_compare(l, LLVMIntULT, unit, LLVMBuildZExt(l->b, size, l->type.i64, ""));
  LLVMValueRef start = LLVMBuildZExt(l->b, address, l->type.i64, "");
  LLVMValueRef place = LLVMBuildGEP2(l->b, l->type.i8, l->memory, &start, 1, "");
  place = LLVMBuildSelect(l->b, fits, place, l->frame, "");
  *legal = both(l, *legal, fits);
  return LLVMBuildLoad2(l->b, l->type.i32, place, "invariant");
}

static LLVMValueRef make_invariants(lift *l, const counted_loop *loop)
{
  LLVMValueRef legal = LLVMConstInt(l->type.i1, 1, 0);
  for (uint32_t i = 0; i < loop->num_invariants; i++) {
    const loop_invariant *it = &loop->invariants[i];
    l->invariants[i] =
        it->load ? load_invariant(l, it, &legal)
                 : lift_integer_result(l, &it->op, lift_affine(l, &it->a), lift_affine(l, &it->b));
  }
  return legal;
}

/* Do the registers that are assumed to return have, at the entry, the value that each iteration
 * leaves in them? */
static LLVMValueRef restored_values_hold(lift *l, const counted_loop *loop)
{
  LLVMValueRef hold = LLVMConstInt(l->type.i1, 1, 0);
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (loop->restored[r].known)
      hold = both(l, hold,
                  lift_compare(l, LLVMIntEQ, lift_x(l, r), lift_affine(l, &loop->restored[r])));
  return hold;
}

/* No store of the loop touches what the guard has loaded. */
static void require_invariants_unclobbered(lift *l, const counted_loop *loop, conditions *c)
{
  for (uint32_t i = 0; i < loop->num_invariants; i++) {
    if (!loop->invariants[i].load) continue;
    LLVMValueRef start = lift_affine(l, &loop->invariants[i].a);
    start = LLVMBuildZExt(l->b, start, l->type.i64, "");
    access_group word = {.from = start, .to = LLVMBuildAdd(l->b, start, lift_constant64(l, 4), "")};
    for (uint32_t g = 0; g < loop->num_groups; g++)
      if (loop->groups[g].store)
        require_negative(l, c, lift_no_overlap(l, &word, &loop->groups[g]));
  }
}

/* The constant in a register, hidden from LLVM. LLVM would make a known constant the masked memory
 * operand of an AVX-512 blend. If the host has not mapped that page, which may happen at any time
 * to a host that is itself a virtual machine, each such blend takes some 600 ns, for good: it
 * selects no lane, so nothing faults, and nothing maps the page. */
static LLVMValueRef opaque_constant(lift *l, uint32_t value)
{
  static const char constraints[] = "=r,0";
  LLVMTypeRef type = LLVMFunctionType(l->type.i32, &l->type.i32, 1, 0);
  LLVMValueRef same = LLVMGetInlineAsm(type, "", 0, constraints, sizeof constraints - 1, 0, 0,
                                       LLVMInlineAsmDialectATT, 0);
  LLVMValueRef constant = lift_constant(l, value);
  return LLVMBuildCall2(l->b, type, same, &constant, 1, "");
}

/* Loops of few iterations go to the plain copy before the rest of the guard. */
static void require_several_iterations(lift *l, const counted_loop *loop, LLVMValueRef backedges,
                                       LLVMBasicBlockRef plain)
{
  LLVMBasicBlockRef several = lift_new_block(l, "several");
  LLVMValueRef few = lift_constant64(l, min_profitable_trip_count(loop));
  LLVMBuildCondBr(l->b, lift_compare(l, LLVMIntUGE, backedges, few), several, plain);
  lift_at_end(l, several);
}

/* Branches to `fast` if the conditions hold and all groups are legal in the first iteration and
 * `backedges` others; else to `plain`. (A window of stores lies in that of loads.) */
static void choose_copy(lift *l, counted_loop *loop, LLVMValueRef backedges, conditions sure,
                        LLVMBasicBlockRef fast, LLVMBasicBlockRef plain)
{
  conditions guess = no_conditions(l);
  bool guesses = false;
  for (uint32_t i = 0; i < loop->num_groups; i++) {
    access_group *g = &loop->groups[i];
    find_ends(l, g, backedges);
    window_values w = g->store ? likely_window(l, loop, g) : readable_window(l);
    require_in_window(l, g, backedges, w, is_guess(g) ? &guess : &sure);
    guesses = guesses || is_guess(g);
  }
  require_invariants_unclobbered(l, loop, &sure);
  require_negative(l, &sure, lift_groups_no_overlap(l, loop));
  LLVMValueRef known = sure.below;
  require_negative(l, &sure, guess.below);
  LLVMBasicBlockRef elsewhere = guesses ? lift_new_block(l, "elsewhere") : plain;
  lift_likely(l, conditions_hold(l, &sure), fast, elsewhere);
  if (!guesses) return;
  lift_at_end(l, elsewhere);
  sure.below = known;
  for (uint32_t i = 0; i < loop->num_groups; i++)
    if (is_guess(&loop->groups[i])) require(l, &sure, group_legal(l, &loop->groups[i]));
  lift_likely(l, conditions_hold(l, &sure), fast, plain);
}

void lift_guard(lift *l, counted_loop *loop, LLVMValueRef *before_last)
{
  LLVMBasicBlockRef several = lift_new_block(l, "guarded"), plain = l->plain.starts[loop->header];
  conditions asked = no_conditions(l);
  require(l, &asked, make_invariants(l, loop));
  LLVMValueRef backedges = count_backedges(l, loop, &asked);
  require(l, &asked, restored_values_hold(l, loop));
  require_several_iterations(l, loop, backedges, plain);
  LLVMValueRef num_iterations = LLVMBuildAdd(l->b, backedges, lift_constant64(l, 1), "");
  LLVMValueRef needed =
      LLVMBuildMul(l->b, num_iterations, lift_constant64(l, loop->worst_slots), "");
  require_below(l, &asked, needed,
                LLVMBuildAdd(l->b, lift_slots_left(l), lift_constant64(l, 1), ""));
  choose_copy(l, loop, backedges, asked, several, plain);
  lift_at_end(l, several);
  l->nan = opaque_constant(l, 0x7fc00000);
  l->half_nan = LLVMBuildTrunc(l->b, opaque_constant(l, 0x7e00), l->type.i16, "");
  LLVMBuildStore(l->b, lift_constant64(l, 0), l->iteration);
  lift_begin_path_times(l, loop);
  *before_last = backedges;
  LLVMValueRef twice = LLVMBuildZExt(l->b, lift_last_repeats(l, loop), l->type.i64, "");
  l->num_iterations = LLVMBuildAdd(l->b, *before_last, twice, "");
  LLVMBuildBr(l->b, l->fast_copy.starts[loop->header]);
}

/* For the backward branch of a loop: LLVM may vectorise it, but must not interleave several
 * vectors. Interleaving leaves that many times more iterations to scalar code, and loops on tiles
 * are short. (A stencil with rows of 126: 1.01 instead of 1.39 of the host's time; 16,384 sums:
 * 0.67 instead of 0.64.) */
void lift_keep_vectors_single(lift *l, LLVMValueRef branch)
{
  static const char name[] = "llvm.loop.interleave.count";
  LLVMContextRef c = l->context;
  LLVMMetadataRef count[] = {LLVMMDStringInContext2(c, name, sizeof name - 1),
                             LLVMValueAsMetadata(lift_constant(l, 1))};
  LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0); /* a loop's node begins with itself */
  LLVMMetadataRef node =
      LLVMMDNodeInContext2(c, (LLVMMetadataRef[]){self, LLVMMDNodeInContext2(c, count, 2)}, 2);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9),
                  LLVMMetadataAsValue(c, node));
  LLVMMetadataReplaceAllUsesWith(self, node);
}
