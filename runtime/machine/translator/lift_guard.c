/* Loop versioning. The guard in front of a counted loop chooses between two copies of it: it computes the
 * trip count, whether the cycle limit leaves time for it, and whether all accesses are in bounds. The checks
 * are hoisted into the guard: the fast copy has none. (loops.c finds the loops.) */
#include "lift.h"

#include <llvm-c/DebugInfo.h>

/* Rounds that the rest of the guard costs more than. In the host's instructions, about: the guard takes 20 and 6 for each group of accesses; a
 * round of the plain copy takes 2 more than one of the fast copy, and 3 for each access. With one access alone (bytes in front of and behind
 * what memset sets by words) LLVM makes too much of a plain copy that it knows to run so few rounds. */
static uint32_t few_rounds(const counted_loop *loop)
{
  uint32_t few = (20 + 6 * loop->num_groups) / (2 + 3 * loop->num_accesses);
  enum { LEAST = 2, MOST = 5 }; /* the fast copy needs one in front of its last */
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

/* Rounds of a loop that ends when counter == bound: the difference must be a multiple of the step,
 * and is modulo 2^32. */
static LLVMValueRef rounds_until_equal(lift *l, const loop_exit *e, LLVMValueRef *legal)
{
  LLVMValueRef counter = lift_affine(l, &e->counter), bound = lift_affine(l, &e->bound);
  bool up = e->step > 0;
  LLVMValueRef step = lift_constant(l, (uint32_t)(up ? e->step : -e->step));
  LLVMValueRef distance =
      up ? LLVMBuildSub(l->b, bound, counter, "") : LLVMBuildSub(l->b, counter, bound, "");
  LLVMValueRef rest = LLVMBuildURem(l->b, distance, step, "");
  *legal = lift_compare(l, LLVMIntEQ, rest, lift_constant(l, 0));
  /* Not an exact division: what is not exact would be poison, and the guard branches on what comes of it. */
  LLVMValueRef more = LLVMBuildZExt(l->b, LLVMBuildUDiv(l->b, distance, step, ""), l->type.i64, "");
  return LLVMBuildAdd(l->b, more, lift_constant64(l, 1), "");
}

/* Rounds of a loop that ends when the counter has passed the bound, which it must do before it wraps
 * around. In 64 bits. */
static LLVMValueRef rounds_until_passed(lift *l, const loop_exit *e, LLVMValueRef *legal)
{
  bool up = e->step > 0, is_signed = e->test == LOOP_SIGNED;
  LLVMOpcode extend = is_signed ? LLVMSExt : LLVMZExt;
  LLVMTypeRef i64 = l->type.i64;
  LLVMValueRef counter = LLVMBuildCast(l->b, extend, lift_affine(l, &e->counter), i64, "");
  LLVMValueRef bound = LLVMBuildCast(l->b, extend, lift_affine(l, &e->bound), i64, "");
  uint64_t step = (uint64_t)(up ? (int64_t)e->step : -(int64_t)e->step);
  int64_t most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? INT32_MIN : 0;
  LLVMValueRef last = up ? LLVMBuildAdd(l->b, bound, lift_constant64(l, step), "")
                         : LLVMBuildSub(l->b, bound, lift_constant64(l, step), "");
  *legal = lift_compare(l, up ? LLVMIntSLE : LLVMIntSGE, last,
                        lift_constant64(l, (uint64_t)(up ? most : least)));
  LLVMValueRef distance =
      up ? LLVMBuildSub(l->b, bound, counter, "") : LLVMBuildSub(l->b, counter, bound, "");
  LLVMValueRef some =
      lift_compare(l, e->or_equal ? LLVMIntSGE : LLVMIntSGT, distance, lift_constant64(l, 0));
  LLVMValueRef shifted =
      LLVMBuildAdd(l->b, distance, lift_constant64(l, e->or_equal ? step : step - 1), "");
  LLVMValueRef more = LLVMBuildUDiv(l->b, shifted, lift_constant64(l, step), "");
  more = LLVMBuildSelect(l->b, some, more, lift_constant64(l, 0), "");
  return LLVMBuildAdd(l->b, more, lift_constant64(l, 1), "");
}

/* Rounds of the loop, the one in which it ends included: the least that an exit allows. */
static LLVMValueRef count_rounds(lift *l, const counted_loop *loop, LLVMValueRef *legal)
{
  LLVMValueRef least = NULL;
  *legal = LLVMConstInt(l->type.i1, 1, 0);
  for (uint32_t i = 0; i < loop->num_exits; i++) {
    const loop_exit *e = &loop->exits[i];
    LLVMValueRef known, rounds = e->test == LOOP_NOT_EQUAL ? rounds_until_equal(l, e, &known)
                                                           : rounds_until_passed(l, e, &known);
    *legal = both(l, *legal, known);
    least =
        least ? lift_intrinsic(l, "llvm.umin", &l->type.i64, 1, (LLVMValueRef[]){least, rounds}, 2)
              : rounds;
  }
  return least;
}

/* Are [lowest, highest) of tile memory in the window? */
static LLVMValueRef range_in(lift *l, LLVMValueRef lowest, LLVMValueRef highest, LLVMValueRef start,
                             LLVMValueRef bytes)
{
  LLVMValueRef first = LLVMBuildZExt(l->b, start, l->type.i64, "");
  LLVMValueRef end = LLVMBuildAdd(l->b, first, LLVMBuildZExt(l->b, bytes, l->type.i64, ""), "");
  return both(l, lift_compare(l, LLVMIntSGE, lowest, first),
              lift_compare(l, LLVMIntSLE, highest, end));
}

/* Sets by how much the group moves in a round. Is that a multiple of its alignment? (As there is time for all rounds, their
 * way has 64 bits.) */
static LLVMValueRef stride_legal(lift *l, access_group *g)
{
  LLVMValueRef step = lift_affine(l, &g->step);
  g->stride = LLVMBuildSExt(l->b, step, l->type.i64, "stride");
  if (!g->step.num_terms) return LLVMConstInt(l->type.i1, 1, 0); /* loops.c has seen to it */
  LLVMValueRef low_bits = LLVMBuildAnd(l->b, step, lift_constant(l, g->align - 1), "");
  return lift_compare(l, LLVMIntEQ, low_bits, lift_constant(l, 0));
}

/* The starts of the first and of the last round, so that the lower one comes first. */
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

/* Is the range in a window of stores? That of the last store in none of the others is another one now and then: it is loaded here. */
static LLVMValueRef stores_legal(lift *l, const access_group *g, LLVMValueRef lowest,
                                 LLVMValueRef highest)
{
  LLVMValueRef in_stack = range_in(l, lowest, highest, l->stack_start, l->stack_bytes);
  if (g->by_sp) return in_stack;
  LLVMValueRef in_window = range_in(l, lowest, highest, l->writable_start, l->writable_bytes);
  LLVMValueRef start = lift_frame_word(l, offsetof(translated_frame, other_start));
  LLVMValueRef bytes = lift_frame_word(l, offsetof(translated_frame, other_bytes));
  LLVMValueRef in_other = range_in(l, lowest, highest, start, bytes);
  return LLVMBuildOr(l->b, in_window, LLVMBuildOr(l->b, in_stack, in_other, ""), "");
}

/* Is everything that the group touches in `rounds` rounds legal? Also sets where it starts. */
static LLVMValueRef group_legal(lift *l, access_group *g, LLVMValueRef rounds)
{
  LLVMValueRef base = lift_affine(l, &g->base);
  LLVMValueRef aligned = LLVMBuildAdd(l->b, base, lift_constant(l, g->rest), "");
  LLVMValueRef low_bits = LLVMBuildAnd(l->b, aligned, lift_constant(l, g->align - 1), "");
  LLVMValueRef legal = lift_compare(l, LLVMIntEQ, low_bits, lift_constant(l, 0));
  LLVMValueRef start = LLVMBuildAdd(l->b, base, lift_constant(l, (uint32_t)g->lowest), "");
  g->start = LLVMBuildZExt(l->b, start, l->type.i64, "");
  legal = both(l, legal, stride_legal(l, g));
  LLVMValueRef more = LLVMBuildSub(l->b, rounds, lift_constant64(l, 1), "");
  LLVMValueRef way = LLVMBuildMul(l->b, more, g->stride, "");
  LLVMValueRef lowest = g->start, highest = LLVMBuildAdd(l->b, g->start, way, "");
  put_in_order(l, g, &lowest, &highest);
  uint64_t extent = (uint64_t)((int64_t)g->highest - g->lowest);
  highest = LLVMBuildAdd(l->b, highest, lift_constant64(l, extent), "");
  if (g->scale) {
    LLVMValueRef limit = LLVMBuildZExt(l->b, lift_affine(l, &g->limit), l->type.i64, "");
    limit = LLVMBuildMul(l->b, limit, lift_constant64(l, g->scale), "");
    highest = LLVMBuildAdd(l->b, highest, limit, "");
  }
  g->from = lowest;
  g->to = highest;
  if (g->load)
    legal = both(l, legal, range_in(l, lowest, highest, l->readable_start, l->readable_bytes));
  return g->store ? both(l, legal, stores_legal(l, g, lowest, highest)) : legal;
}

/* The word that the load gets, if it is legal to load it; else any word. */
static LLVMValueRef load_invariant(lift *l, const loop_invariant *it, LLVMValueRef *legal)
{
  LLVMValueRef address = lift_affine(l, &it->a);
  LLVMValueRef low_bits = LLVMBuildAnd(l->b, address, lift_constant(l, 3), "");
  LLVMValueRef start = LLVMBuildZExt(l->b, address, l->type.i64, "");
  LLVMValueRef end = LLVMBuildAdd(l->b, start, lift_constant64(l, 4), "");
  LLVMValueRef fits = both(l, lift_compare(l, LLVMIntEQ, low_bits, lift_constant(l, 0)),
                           range_in(l, start, end, l->readable_start, l->readable_bytes));
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

/* Do registers that are taken to stay begin as what each round leaves? */
static LLVMValueRef returned_hold(lift *l, const counted_loop *loop)
{
  LLVMValueRef hold = LLVMConstInt(l->type.i1, 1, 0);
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (loop->returned[r].known)
      hold = both(l, hold,
                  lift_compare(l, LLVMIntEQ, lift_x(l, r), lift_affine(l, &loop->returned[r])));
  return hold;
}

/* Does no store of the loop touch what the guard has loaded? */
static LLVMValueRef invariants_stay(lift *l, const counted_loop *loop)
{
  LLVMValueRef stay = LLVMConstInt(l->type.i1, 1, 0);
  for (uint32_t i = 0; i < loop->num_invariants; i++) {
    if (!loop->invariants[i].load) continue;
    LLVMValueRef address = lift_affine(l, &loop->invariants[i].a);
    LLVMValueRef start = LLVMBuildZExt(l->b, address, l->type.i64, "");
    LLVMValueRef end = LLVMBuildAdd(l->b, start, lift_constant64(l, 4), "");
    for (uint32_t g = 0; g < loop->num_groups; g++) {
      const access_group *group = &loop->groups[g];
      if (!group->store) continue;
      LLVMValueRef below = lift_compare(l, LLVMIntSLE, end, group->from);
      LLVMValueRef above = lift_compare(l, LLVMIntSGE, start, group->to);
      stay = both(l, stay, LLVMBuildOr(l->b, below, above, ""));
    }
  }
  return stay;
}

/* The constant, in a register: nothing that LLVM knows. As a constant it would be the masked operand of an AVX-512 blend, in
 * memory; if the host has not mapped that page, as a machine that is itself a guest may find at any time, each such blend
 * takes some 600 ns, for good: with no lane masked in, nothing faults, and so nothing maps the page. */
static LLVMValueRef hidden_constant(lift *l, uint32_t value)
{
  static const char constraints[] = "=r,0";
  LLVMTypeRef type = LLVMFunctionType(l->type.i32, &l->type.i32, 1, 0);
  LLVMValueRef same = LLVMGetInlineAsm(type, "", 0, constraints, sizeof constraints - 1, 0, 0,
                                       LLVMInlineAsmDialectATT, 0);
  LLVMValueRef constant = lift_constant(l, value);
  return LLVMBuildCall2(l->b, type, same, &constant, 1, "");
}

/* So few rounds are done in the plain copy before the rest of the guard is. */
static void need_several(lift *l, const counted_loop *loop, LLVMValueRef rounds,
                         LLVMBasicBlockRef plain)
{
  LLVMBasicBlockRef several = lift_new_block(l, "several");
  LLVMValueRef few = lift_constant64(l, few_rounds(loop));
  LLVMBuildCondBr(l->b, lift_compare(l, LLVMIntUGT, rounds, few), several, plain);
  lift_at_end(l, several);
}

/* In front of a counted loop: goes on with the fast copy or with the plain one. */
void lift_guard(lift *l, counted_loop *loop, LLVMValueRef *before_last)
{
  LLVMBasicBlockRef several = lift_new_block(l, "guarded");
  LLVMValueRef loaded = make_invariants(l, loop), legal, rounds;
  rounds = count_rounds(l, loop, &legal);
  legal = both(l, legal, both(l, loaded, returned_hold(l, loop)));
  need_several(l, loop, rounds, l->plain.starts[loop->header]);
  LLVMValueRef needed = LLVMBuildMul(l->b, rounds, lift_constant64(l, loop->worst_slots), "");
  legal = both(l, legal, lift_compare(l, LLVMIntSLE, needed, lift_slots_left(l)));
  for (uint32_t i = 0; i < loop->num_groups; i++)
    legal = both(l, legal, group_legal(l, &loop->groups[i], rounds));
  legal = both(l, legal, invariants_stay(l, loop));
  legal = both(l, legal, lift_groups_apart(l, loop));
  lift_likely(l, legal, several, l->plain.starts[loop->header]);
  lift_at_end(l, several);
  l->nan = hidden_constant(l, 0x7fc00000);
  l->half_nan = LLVMBuildTrunc(l->b, hidden_constant(l, 0x7e00), l->type.i16, "");
  LLVMBuildStore(l->b, lift_constant64(l, 0), l->round);
  lift_begin_ways(l, loop);
  *before_last = LLVMBuildSub(l->b, rounds, lift_constant64(l, 1), "");
  LLVMValueRef twice = LLVMBuildZExt(l->b, lift_last_repeats(l, loop), l->type.i64, "");
  l->rounds = LLVMBuildAdd(l->b, *before_last, twice, "");
  LLVMBuildBr(l->b, l->fast_copy.starts[loop->header]);
}

/* To the branch that goes round a loop: LLVM vectorises it, but does several vectors at a time only by
 * leaving as many times more rounds to scalar code; and loops on tiles are short. (A stencil with rows
 * of 126: 1.01 instead of 1.39 of the host's time; 16,384 sums: 0.67 instead of 0.64.) */
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
