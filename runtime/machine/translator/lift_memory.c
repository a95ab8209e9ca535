/* Loads and stores.
 *
 * An access is legal if it is aligned and in a window; starts and sizes of windows are multiples of
 * 4. One comparison tests both: the offset in the window is rotated right by the logarithm of the
 * size, so that an unaligned offset becomes huge. The unit's windows come first, because their
 * bounds are constants; then those of the frame. Stores have three windows: writable, stack and
 * other. A guess decides which one is tried first (likely_pointers.c). If no window holds the
 * access, translated_access is called, which knows all rules. If it refuses, the interpreter
 * executes the access again and reports the fault. A window of stores lies in that of loads
 * (translate.c), so a test of stores serves loads, too. */
#include "isa/integer.h"
#include "lift.h"

/* A load or store that is being lifted. */
typedef struct access {
  const code_op *op;
  bool store, by_sp; /* by_sp: a store */
  uint32_t bytes;
  LLVMTypeRef type;
} access;

static LLVMTypeRef integer_type(const lift *l, uint32_t bytes)
{
  return bytes == 1   ? l->type.i8
         : bytes == 2 ? l->type.i16
         : bytes == 4 ? l->type.i32
                      : l->type.i64;
}

static LLVMValueRef both_words(lift *l, uint32_t r)
{
  LLVMValueRef low = LLVMBuildZExt(l->b, lift_f_bits(l, r), l->type.i64, "");
  LLVMValueRef high = LLVMBuildZExt(l->b, lift_f_bits(l, r + NUM_REGISTERS), l->type.i64, "");
  return LLVMBuildOr(l->b, low, LLVMBuildShl(l->b, high, lift_constant64(l, 32), ""), "");
}

static LLVMValueRef value_to_store(lift *l, const code_op *op, uint32_t bytes)
{
  if (op->id == OP_FSD) return both_words(l, op->rs2);
  bool from_f = op->id == OP_FSW || op->id == OP_FSH;
  LLVMValueRef value = from_f ? lift_f_bits(l, op->rs2) : lift_x(l, op->rs2);
  return bytes < 4 ? LLVMBuildTrunc(l->b, value, integer_type(l, bytes), "") : value;
}

/* Builds the load or store; a load is its value. The value to store is computed behind the test. So
 * stores that share one test have their values in one block, and LLVM can make a vector of them. */
static LLVMValueRef build_access(lift *l, const access *a, LLVMValueRef place)
{
  LLVMValueRef done = a->store ? LLVMBuildStore(l->b, value_to_store(l, a->op, a->bytes), place)
                               : LLVMBuildLoad2(l->b, a->type, place, "");
  LLVMSetAlignment(done, isa_access_align(a->bytes));
  return done;
}

static LLVMValueRef at_frame_memory(lift *l, LLVMValueRef offset)
{
  return LLVMBuildGEP2(l->b, l->type.i8, l->memory, &offset, 1, "");
}

/* `bytes` bytes that must be legal: one access, or all that a test covers. */
typedef struct range {
  LLVMValueRef start;
  uint32_t bytes, align; /* bytes: a multiple of align */
  bool store, by_sp, guess_stack, guess_data;
} range;

/* The last place where the range may begin is `bytes - align` before the last legal place of an
 * `align`. */
static LLVMValueRef in_window(lift *l, const range *r, LLVMValueRef start, LLVMValueRef size)
{
  LLVMValueRef offset = LLVMBuildSub(l->b, r->start, start, "");
  if (r->bytes > r->align)
    size = lift_intrinsic(l, "llvm.usub.sat", &l->type.i32, 1,
                          (LLVMValueRef[]){size, lift_constant(l, r->bytes - r->align)}, 2);
  if (r->align == 1) return LLVMBuildICmp(l->b, LLVMIntULT, offset, size, "");
  LLVMValueRef log = lift_constant(l, r->align / 2);
  LLVMValueRef rotated =
      lift_intrinsic(l, "llvm.fshr", &l->type.i32, 1, (LLVMValueRef[]){offset, offset, log}, 3);
  return LLVMBuildICmp(l->b, LLVMIntULT, rotated, LLVMBuildLShr(l->b, size, log, ""), "");
}

/* No window holds the range: branches to `inside` if the machine says that it is legal; else the
 * interpreter goes on. */
static void ask_machine(lift *l, const range *r, LLVMBasicBlockRef inside)
{
  uint32_t how = r->bytes | r->align << ACCESS_ALIGN_SHIFT;
  if (r->store) how |= ACCESS_STORE;
  if (r->by_sp) how |= ACCESS_BY_SP;
  LLVMValueRef arguments[] = {l->frame, r->start, lift_constant(l, how), lift_x(l, 2)};
  LLVMValueRef helper = l->access[!l->own->by_context];
  LLVMValueRef legal = LLVMBuildCall2(l->b, l->type.access, helper, arguments, 4, "");
  LLVMSetInstructionCallConv(legal, LLVMGetFunctionCallConv(helper));
  LLVMBasicBlockRef refused = lift_new_block(l, "refused");
  LLVMValueRef none = lift_constant(l, 0);
  lift_likely(l, LLVMBuildICmp(l->b, LLVMIntNE, legal, none, ""), inside, refused);
  LLVMPositionBuilderAtEnd(l->b, refused);
  lift_leave_here(l);
}

/* Tests a window of the frame. Its bounds are loaded here, because it comes behind tests that
 * hardly ever fail. */
static LLVMValueRef in_frame_window(lift *l, const range *r, size_t start, size_t bytes)
{
  return in_window(l, r, lift_frame_word(l, start), lift_frame_word(l, bytes));
}

#define IN_FRAME_WINDOW(l, r, name)                                                                \
  in_frame_window(l, r, offsetof(translated_frame, name##_start),                                  \
                  offsetof(translated_frame, name##_bytes))

/* Branches to `inside` if the condition holds; else goes on here. */
static void likely_inside(lift *l, LLVMValueRef condition, LLVMBasicBlockRef inside)
{
  LLVMBasicBlockRef other = lift_new_block(l, "other");
  lift_likely(l, condition, inside, other);
  LLVMPositionBuilderAtEnd(l->b, other);
}

/* Like in_window, with bounds that linking writes. A moved window always has room for the range. */
static LLVMValueRef in_moved_window(lift *l, const range *r)
{
  uint32_t log = r->align / 2, window = r->store ? NUMBER_WRITABLE : NUMBER_READABLE;
  LLVMValueRef offset = LLVMBuildSub(l->b, r->start, lift_number(l, window), "");
  LLVMValueRef limit = LLVMBuildSub(l->b, lift_number(l, window + 1 + log),
                                    lift_constant(l, (r->bytes - r->align) >> log), "");
  if (log)
    offset = lift_intrinsic(l, "llvm.fshr", &l->type.i32, 1,
                            (LLVMValueRef[]){offset, offset, lift_constant(l, log)}, 3);
  return LLVMBuildICmp(l->b, LLVMIntULT, offset, limit, "");
}

/* Branches to `inside` if the unit's window, whose bounds are constants, holds the range; else goes
 * on here. */
static void try_unit_window(lift *l, const range *r, code_window w, LLVMBasicBlockRef inside)
{
  if (w.bytes < r->bytes) return;
  if (r->store ? l->unit->writable_is_moved : l->unit->readable_is_moved) {
    likely_inside(l, in_moved_window(l, r), inside);
    return;
  }
  likely_inside(l, in_window(l, r, lift_constant(l, w.start), lift_constant(l, w.bytes)), inside);
}

/* Branches to `inside` where a window holds the range, else to `slow`. */
static void find_window(lift *l, const range *r, LLVMBasicBlockRef inside, LLVMBasicBlockRef slow)
{
  if (!r->store) {
    try_unit_window(l, r, l->unit->readable, inside);
    lift_likely(l, IN_FRAME_WINDOW(l, r, readable), inside, slow);
    return;
  }
  if (r->by_sp) {
    lift_likely(l, in_window(l, r, l->stack_start, l->stack_bytes), inside, slow);
    return;
  }
  if (r->guess_stack) likely_inside(l, in_window(l, r, l->stack_start, l->stack_bytes), inside);
  if (r->guess_data) likely_inside(l, IN_FRAME_WINDOW(l, r, other), inside);
  try_unit_window(l, r, l->unit->writable, inside);
  if (!r->guess_stack) likely_inside(l, IN_FRAME_WINDOW(l, r, stack), inside);
  if (r->guess_data) {
    lift_likely(l, IN_FRAME_WINDOW(l, r, writable), inside, slow);
    return;
  }
  likely_inside(l, IN_FRAME_WINDOW(l, r, writable), inside);
  lift_likely(l, IN_FRAME_WINDOW(l, r, other), inside, slow);
}

static LLVMValueRef address_of(lift *l, const code_op *op)
{
  return LLVMBuildAdd(l->b, lift_x(l, op->rs1), lift_constant(l, (uint32_t)op->imm), "address");
}

static LLVMValueRef build_access_at(lift *l, const access *a, LLVMValueRef address)
{
  return build_access(l, a, at_frame_memory(l, LLVMBuildZExt(l->b, address, l->type.i64, "")));
}

/* Tests the range; it is legal in the code that follows. */
static void test_range(lift *l, const range *r)
{
  LLVMBasicBlockRef inside = lift_new_block(l, "inside"), slow = lift_new_block(l, "slow");
  find_window(l, r, inside, slow);
  LLVMPositionBuilderAtEnd(l->b, slow);
  ask_machine(l, r, inside);
  LLVMPositionBuilderAtEnd(l->b, inside);
}

/* What the operation tests, for itself and others. */
static range range_of_test(const access_check *check, const access *a)
{
  if (check->bytes)
    return (range){.bytes = check->bytes,
                   .align = check->align,
                   .store = check->store,
                   .by_sp = check->by_sp,
                   .guess_stack = check->guess_stack,
                   .guess_data = check->guess_data};
  return (range){.bytes = a->bytes,
                 .align = isa_access_align(a->bytes),
                 .store = a->store,
                 .by_sp = a->by_sp,
                 .guess_stack = check->guess_stack,
                 .guess_data = check->guess_data};
}

/* An access to an element (lift_index.c), and the range that it tests, which begins at `first` +
 * (index << log). */
typedef struct element_test {
  range r;
  table_element e; /* base: of the access */
  LLVMValueRef first;
} element_test;

/* The number of elements whose range lies in the unit's window; 0 if not even the first one does.
 * It is computed in units of the alignment, in which an unaligned offset becomes huge. `room` is
 * the size and one element more, less the range; so too large an offset leaves less than one
 * element. */
static LLVMValueRef count_elements(lift *l, const element_test *t)
{
  const range *r = &t->r;
  code_window w = r->store ? l->unit->writable : l->unit->readable;
  bool moved = r->store ? l->unit->writable_is_moved : l->unit->readable_is_moved;
  uint32_t number = r->store ? NUMBER_WRITABLE : NUMBER_READABLE, log = r->align / 2;
  LLVMValueRef start = moved ? lift_number(l, number) : lift_constant(l, w.start);
  LLVMValueRef size = moved ? lift_number(l, number + 1 + log) : lift_constant(l, w.bytes >> log);
  uint32_t more = (1u << t->e.log >> log) - (r->bytes >> log);
  LLVMValueRef room = LLVMBuildAdd(l->b, size, lift_constant(l, more), "");
  LLVMValueRef offset = LLVMBuildSub(l->b, t->first, start, "");
  if (log)
    offset = lift_intrinsic(l, "llvm.fshr", &l->type.i32, 1,
                            (LLVMValueRef[]){offset, offset, lift_constant(l, log)}, 3);
  LLVMValueRef left =
      lift_intrinsic(l, "llvm.usub.sat", &l->type.i32, 1, (LLVMValueRef[]){room, offset}, 2);
  return LLVMBuildLShr(l->b, left, lift_constant(l, t->e.log - log), "limit");
}

/* Tests the range of an element. Stores the access's address in `place`, and returns it as a
 * pointer: base plus index, so that the host's instruction adds the two. */
static LLVMValueRef test_element(lift *l, const element_test *t, LLVMValueRef address,
                                 LLVMValueRef place)
{
  LLVMValueRef slot = lift_new_slot(l, l->type.i64, "index");
  LLVMBasicBlockRef inside = lift_new_block(l, "element"), other = lift_new_block(l, "other");
  LLVMBuildStore(l->b, LLVMBuildZExt(l->b, t->e.index, l->type.i64, ""), slot);
  LLVMValueRef base = LLVMBuildZExt(l->b, t->e.base, l->type.i64, "");
  LLVMValueRef log = lift_constant64(l, t->e.log);
  lift_likely(l, lift_compare(l, LLVMIntULT, t->e.index, count_elements(l, t)), inside, other);
  LLVMPositionBuilderAtEnd(l->b, other);
  test_range(l, &t->r);
  LLVMValueRef distance =
      LLVMBuildSub(l->b, LLVMBuildZExt(l->b, address, l->type.i64, ""), base, "");
  LLVMBuildStore(l->b, LLVMBuildLShr(l->b, distance, log, ""), slot);
  LLVMBuildBr(l->b, inside);
  LLVMPositionBuilderAtEnd(l->b, inside);
  distance = LLVMBuildShl(l->b, LLVMBuildLoad2(l->b, l->type.i64, slot, ""), log, "");
  LLVMBuildStore(l->b, LLVMBuildAdd(l->b, base, distance, ""), place);
  return LLVMBuildGEP2(l->b, l->type.i8, at_frame_memory(l, base), &distance, 1, "");
}

/* The slot for the address of the access that this operation has tested. It may be wanted before it
 * is set, because blocks are not lifted in the order in which they run. */
static LLVMValueRef place_of(lift *l, uint32_t index)
{
  LLVMValueRef *place = &l->copy->places[index];
  if (!*place) *place = lift_new_slot(l, l->type.i64, "place");
  return *place;
}

/* Is the access to an element, and does one limit serve all elements (by their alignment)? */
static bool find_element(lift *l, const range *r, const access *a, element_test *t)
{
  code_window w = r->store ? l->unit->writable : l->unit->readable;
  if (r->by_sp || w.bytes < r->bytes) return false;
  *t = (element_test){.r = *r, .e = lift_element_at(l, a->op->rs1)};
  return t->e.base && t->e.log >= r->align / 2;
}

/* Tests the range and returns the access's place as a pointer. */
static LLVMValueRef tested_place(lift *l, const access *a, const access_check *check,
                                 LLVMValueRef place)
{
  LLVMValueRef address = address_of(l, a->op), from = lift_constant(l, (uint32_t)check->from);
  range r = range_of_test(check, a);
  element_test t;
  r.start = LLVMBuildAdd(l->b, address, from, "start");
  if (find_element(l, &r, a, &t)) {
    t.e.base = LLVMBuildAdd(l->b, t.e.base, lift_constant(l, (uint32_t)a->op->imm), "");
    t.first = LLVMBuildAdd(l->b, t.e.base, from, "");
    return test_element(l, &t, address, place);
  }
  LLVMBuildStore(l->b, LLVMBuildZExt(l->b, address, l->type.i64, ""), place);
  test_range(l, &r);
  return at_frame_memory(l, LLVMBuildLoad2(l->b, l->type.i64, place, "place"));
}

/* An access that another access's test covers is addressed from that access: the constant
 * difference becomes the displacement of the host's instruction, and LLVM sees when the same place
 * is loaded twice. */
static LLVMValueRef checked_access(lift *l, const access *a, uint32_t index)
{
  const access_check *check = &l->copy->checks[index];
  if (check->covered) {
    LLVMValueRef distance = LLVMConstInt(l->type.i64, (uint64_t)(int64_t)check->from, 1);
    LLVMValueRef first = LLVMBuildLoad2(l->b, l->type.i64, place_of(l, check->tested_by), "first");
    return build_access(
        l, a, LLVMBuildGEP2(l->b, l->type.i8, at_frame_memory(l, first), &distance, 1, ""));
  }
  return build_access(l, a, tested_place(l, a, check, place_of(l, index)));
}

/* In the fast copy of a loop: the place of an access that the guard has checked for all
 * iterations. */
static LLVMValueRef hoisted_place(lift *l, const hoisted_access *access)
{
  const access_group *group = &l->fast->groups[access->group];
  LLVMValueRef iteration = LLVMBuildLoad2(l->b, l->type.i64, l->iteration, "round");
  LLVMValueRef place = at_frame_memory(l, group->start);
  LLVMValueRef moved = LLVMBuildNSWMul(l->b, iteration, group->stride, "");
  place = LLVMBuildGEP2(l->b, l->type.i8, place, &moved, 1, "");
  LLVMValueRef offset =
      LLVMConstInt(l->type.i64, (uint64_t)((int64_t)access->offset - group->lowest), 1);
  return LLVMBuildGEP2(l->b, l->type.i8, place, &offset, 1, "");
}

static LLVMValueRef access_value(lift *l, const access *a)
{
  uint32_t index = l->op_index - l->unit->blocks[l->f->first_block].first_op;
  const hoisted_access *hoisted = l->fast ? &l->fast->accesses[index] : NULL;
  if (hoisted && hoisted->invariant != UNIT_NONE) return l->invariants[hoisted->invariant];
  if (!hoisted || hoisted->group == UNIT_NONE) return checked_access(l, a, index);
  LLVMValueRef done = hoisted->bounded ? build_access_at(l, a, address_of(l, a->op))
                                       : build_access(l, a, hoisted_place(l, hoisted));
  lift_mark_alias_scope(l, (uint32_t)hoisted->group, done);
  return done;
}

static void set_both_words(lift *l, uint32_t r, LLVMValueRef value)
{
  LLVMValueRef high = LLVMBuildLShr(l->b, value, lift_constant64(l, 32), "");
  lift_set_f_bits(l, r, LLVMBuildTrunc(l->b, value, l->type.i32, ""));
  lift_set_f_bits(l, r + NUM_REGISTERS, LLVMBuildTrunc(l->b, high, l->type.i32, ""));
}

static void load(lift *l, const code_op *op, LLVMValueRef value)
{
  bool is_signed = isa_extend((isa_op)op->id, 0xff80) >> 31;
  if (op->id == OP_FLH)
    lift_set_f_bits(l, op->rd, lift_box(l, value));
  else if (op->id == OP_FLD)
    set_both_words(l, op->rd, value);
  else if (op->id == OP_FLW)
    lift_set_f_bits(l, op->rd, value);
  else if (op->id == OP_LW)
    lift_set_x(l, op->rd, value);
  else
    lift_set_x(l, op->rd,
               LLVMBuildCast(l->b, is_signed ? LLVMSExt : LLVMZExt, value, l->type.i32, ""));
}

bool lift_memory(lift *l, const code_op *op)
{
  access a = {.op = op};
  if (!code_op_is_access(op, &a.store, &a.bytes)) return false;
  a.by_sp = a.store && op->rs1 == 2;
  a.type = integer_type(l, a.bytes);
  if (a.store && l->is_trial) return true;
  if (a.store) lift_flush_tests(l);
  LLVMValueRef value = access_value(l, &a);
  if (!a.store) load(l, op, value);
  return true;
}
