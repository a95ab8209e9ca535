/* Turns the chosen instructions into pairs: doubles for LLVM, and inline assembly that
 * computes them.
 *
 *   %s = fmul <2 x float> %a, %b
 *   %s = call double asm ".insn r 0x77, 0, 2, $0, $1, $2"(double %a', double %b')
 *
 * The instructions are PACKED and PAIR_FUNCTIONS of isa.h. 0x77 is OP-P, the opcode that RISC-V
 * reserves for packed arithmetic. */
#include "pairs.h"

#include <populus/arena.h>
#include <populus/gp.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOATS, HALVES, SPECIAL, OF_FLOATS = 4, OF_HALVES };   /* funct3 */
enum { PAIR_OF_WORDS, SECOND_WORD, WORD_OF_TWO, FIRST_WORD }; /* funct7 of SPECIAL */

static LLVMTypeRef single(const pairs *p)
{
  return LLVMFloatTypeInContext(p->context);
}

static LLVMTypeRef wide(const pairs *p)
{
  return LLVMDoubleTypeInContext(p->context);
}

static LLVMTypeRef integer(const pairs *p, unsigned bits)
{
  return LLVMIntTypeInContext(p->context, bits);
}

/* ---- where instructions go ---- */

static void position_before(const pairs *p, LLVMValueRef i)
{
  LLVMPositionBuilderBefore(p->builder, i);
}

static void position_behind(const pairs *p, LLVMValueRef i)
{
  LLVMValueRef next = LLVMGetNextInstruction(i);
  while (LLVMIsAPHINode(i) && LLVMIsAPHINode(next)) next = LLVMGetNextInstruction(next);
  position_before(p, next);
}

static void position_at_entry(const pairs *p)
{
  LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(p->function));
  while (LLVMIsAAllocaInst(i)) i = LLVMGetNextInstruction(i);
  position_before(p, i);
}

/* ---- assembly ---- */

static void add_pure_attributes(const pairs *p, LLVMValueRef call)
{
  /* The value 0 of `memory` means no access. */
  static const char *const attributes[] = {"memory", "nounwind", "willreturn"};
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
    unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(p->context, kind, 0));
  }
}

/* One instruction from one or two registers to another. */
static LLVMValueRef assembly(const pairs *p, LLVMTypeRef type, const char *text,
                             LLVMValueRef *operands, unsigned count)
{
  static const char constraints[] = "=f,f,f";
  assert(count == 1 || count == 2);
  LLVMTypeRef types[2];
  for (unsigned i = 0; i < count; ++i) types[i] = LLVMTypeOf(operands[i]);
  LLVMTypeRef signature = LLVMFunctionType(type, types, count, false);
  LLVMValueRef code =
      LLVMGetInlineAsm(signature, text, strlen(text), constraints, strlen("=f") + 2 * count, false,
                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(p->builder, signature, code, operands, count, "");
  add_pure_attributes(p, call);
  return call;
}

static LLVMValueRef packed(const pairs *p, LLVMTypeRef type, int funct3, int funct7, LLVMValueRef a,
                           LLVMValueRef b)
{
  char text[48];
  snprintf(text, sizeof text, ".insn r 0x77, %d, %d, $0, $1, $2", funct3, funct7);
  return assembly(p, type, text, (LLVMValueRef[]){a, b}, 2);
}

/* ---- from elements and to them ---- */

static LLVMValueRef element(const pairs *p, LLVMValueRef vector, unsigned i)
{
  LLVMValueRef index = LLVMConstInt(integer(p, 32), i, false);
  LLVMValueRef e = LLVMBuildExtractElement(p->builder, vector, index, "");
  return LLVMIsUndef(e) ? LLVMConstNull(LLVMTypeOf(e)) : e;
}

static LLVMValueRef pair_of_elements(const pairs *p, LLVMValueRef vector)
{
  LLVMValueRef words[2];
  bool halves = pairs_is_halves(LLVMTypeOf(vector));
  for (unsigned i = 0; i < 2; ++i)
    words[i] = !halves ? element(p, vector, i)
                       : packed(p, single(p), SPECIAL, WORD_OF_TWO, element(p, vector, 2 * i),
                                element(p, vector, 2 * i + 1));
  return packed(p, wide(p), SPECIAL, PAIR_OF_WORDS, words[0], words[1]);
}

static LLVMValueRef put(const pairs *p, LLVMValueRef vector, LLVMValueRef e, unsigned i)
{
  return LLVMBuildInsertElement(p->builder, vector, e, LLVMConstInt(integer(p, 32), i, false), "");
}

static LLVMValueRef put_halves(const pairs *p, LLVMValueRef vector, LLVMValueRef word, unsigned at)
{
  LLVMTypeRef half = LLVMHalfTypeInContext(p->context);
  LLVMValueRef bits = LLVMBuildBitCast(p->builder, word, integer(p, 32), "");
  for (unsigned i = 0; i < 2; ++i) {
    if (i) bits = LLVMBuildLShr(p->builder, bits, LLVMConstInt(integer(p, 32), 16, false), "");
    LLVMValueRef one = LLVMBuildTrunc(p->builder, bits, integer(p, 16), "");
    vector = put(p, vector, LLVMBuildBitCast(p->builder, one, half, ""), at + i);
  }
  return vector;
}

static LLVMValueRef word(const pairs *p, LLVMValueRef pair, unsigned i)
{
  static const int moves[] = {FIRST_WORD, SECOND_WORD};
  char text[48];
  snprintf(text, sizeof text, ".insn r 0x77, %d, %d, $0, $1, f0", SPECIAL, moves[i]);
  return assembly(p, single(p), text, &pair, 1);
}

static LLVMValueRef vector_of_pair(const pairs *p, LLVMValueRef pair, LLVMTypeRef type)
{
  LLVMValueRef vector = LLVMGetPoison(type), words[2];
  for (unsigned i = 0; i < 2; ++i) words[i] = word(p, pair, i);
  for (unsigned i = 0; i < 2; ++i)
    vector = pairs_is_floats(type) ? put(p, vector, words[i], i)
                                   : put_halves(p, vector, words[i], 2 * i);
  return vector;
}

/* The pair of any vector. It is made at the start of the function for constants and arguments, and
 * right after the definition for others. */
static LLVMValueRef pair_of(pairs *p, LLVMValueRef vector)
{
  pair_value *v = pairs_get(p, vector);
  if (v->pair) return v->pair;
  assert(!v->chosen);
  if (LLVMIsAInstruction(vector))
    position_behind(p, vector);
  else
    position_at_entry(p);
  v->pair = pair_of_elements(p, vector);
  return v->pair;
}

/* ---- the instructions ---- */

static void copy_metadata(const pairs *p, LLVMValueRef from, LLVMValueRef to)
{
  static const char *const names[] = {"alias.scope", "noalias"};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    unsigned kind = LLVMGetMDKindIDInContext(p->context, names[k], (unsigned)strlen(names[k]));
    LLVMValueRef data = LLVMGetMetadata(from, kind);
    if (data) LLVMSetMetadata(to, kind, data);
  }
}

static LLVMValueRef make_load(const pairs *p, LLVMValueRef i)
{
  LLVMValueRef load = LLVMBuildLoad2(p->builder, wide(p), LLVMGetOperand(i, 0), "");
  LLVMSetAlignment(load, LLVMGetAlignment(i));
  copy_metadata(p, i, load);
  return load;
}

static LLVMValueRef make_function(pairs *p, LLVMValueRef i, int function, LLVMValueRef of)
{
  static const char needs[] = "\n.pushsection " POP_GP_NEEDS_SECTION ",\"\",@progbits\n"
                              ".asciz \"" POP_GP_NEEDS_FUNCTIONS "\"\n"
                              ".popsection";
  char text[sizeof needs + 48];
  LLVMValueRef pair = pair_of(p, of);
  position_before(p, i);
  snprintf(text, sizeof text, ".insn r 0x77, %d, %d, $0, $1, f0%s",
           pairs_is_halves(LLVMTypeOf(i)) ? OF_HALVES : OF_FLOATS, function, needs);
  return assembly(p, wide(p), text, &pair, 1);
}

/* A word of an operand of `i`, which is a pair or not. */
static LLVMValueRef operand_word(const pairs *p, LLVMValueRef i, unsigned operand, unsigned k)
{
  LLVMValueRef vector = LLVMGetOperand(i, operand);
  const pair_value *v = pairs_find(p, vector);
  return v && v->pair ? word(p, v->pair, k) : element(p, vector, k);
}

static LLVMValueRef root(const pairs *p, LLVMValueRef of)
{
  LLVMTypeRef type = single(p);
  unsigned id = LLVMLookupIntrinsicID("llvm.sqrt", strlen("llvm.sqrt"));
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(LLVMGetGlobalParent(p->function), id, &type, 1);
  return LLVMBuildCall2(p->builder, LLVMFunctionType(type, &type, 1, false), f, &of, 1, "");
}

static LLVMValueRef make_by_words(const pairs *p, LLVMValueRef i)
{
  LLVMValueRef words[2];
  position_before(p, i);
  for (unsigned k = 0; k < 2; ++k) {
    LLVMValueRef x = operand_word(p, i, 0, k);
    words[k] = LLVMIsACallInst(i) ? root(p, x)
                                  : LLVMBuildFDiv(p->builder, x, operand_word(p, i, 1, k), "");
  }
  return packed(p, wide(p), SPECIAL, PAIR_OF_WORDS, words[0], words[1]);
}

/* The operands are made first, as making them moves the builder. */
static LLVMValueRef make(pairs *p, LLVMValueRef i)
{
  LLVMValueRef of = NULL;
  int operation = pairs_operation(i), function = pairs_function(i, &of);
  if (function >= 0) return make_function(p, i, function, of);
  if (operation < 0 && pairs_is_by_words(i)) return make_by_words(p, i);
  if (operation >= 0) {
    LLVMValueRef a = pair_of(p, LLVMGetOperand(i, 0)), b = pair_of(p, LLVMGetOperand(i, 1));
    position_before(p, i);
    return packed(p, wide(p), pairs_is_halves(LLVMTypeOf(i)) ? HALVES : FLOATS, operation, a, b);
  }
  if (LLVMIsASelectInst(i)) {
    LLVMValueRef a = pair_of(p, LLVMGetOperand(i, 1)), b = pair_of(p, LLVMGetOperand(i, 2));
    position_before(p, i);
    return LLVMBuildSelect(p->builder, LLVMGetOperand(i, 0), a, b, "");
  }
  if (LLVMIsAFreezeInst(i)) {
    LLVMValueRef a = pair_of(p, LLVMGetOperand(i, 0));
    position_before(p, i);
    return LLVMBuildFreeze(p->builder, a, "");
  }
  position_before(p, i);
  return LLVMIsAPHINode(i) ? LLVMBuildPhi(p->builder, wide(p), "") : make_load(p, i);
}

static void fill_phi(pairs *p, LLVMValueRef phi)
{
  LLVMValueRef pair = pairs_find(p, phi)->pair;
  unsigned count = LLVMCountIncoming(phi);
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef value = pair_of(p, LLVMGetIncomingValue(phi, i));
    LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
    LLVMAddIncoming(pair, &value, &block, 1);
  }
}

/* A user that is not chosen and still uses the vector; NULL: there is none left. */
static LLVMValueRef next_user(const pairs *p, LLVMValueRef i)
{
  LLVMUseRef use = LLVMGetFirstUse(i);
  while (use && pairs_is_chosen(p, LLVMGetUser(use))) use = LLVMGetNextUse(use);
  return use ? LLVMGetUser(use) : NULL;
}

static void set_operands(LLVMValueRef user, LLVMValueRef from, LLVMValueRef to)
{
  unsigned count = (unsigned)LLVMGetNumOperands(user);
  for (unsigned k = 0; k < count; ++k)
    if (LLVMGetOperand(user, k) == from) LLVMSetOperand(user, k, to);
}

/* Stores of the vector store the pair; other users that are not pairs get the elements. */
static void replace(pairs *p, LLVMValueRef i)
{
  LLVMValueRef pair = pairs_find(p, i)->pair, vector = NULL, user;
  while ((user = next_user(p, i))) {
    bool stores = pairs_is_wide_store(user);
    if (!stores && !vector) {
      position_behind(p, pair);
      vector = vector_of_pair(p, pair, LLVMTypeOf(i));
    }
    set_operands(user, i, stores ? pair : vector);
  }
}

static void add_feature(const pairs *p)
{
  static const char name[] = "target-features";
  unsigned length = 0;
  LLVMAttributeRef known =
      LLVMGetStringAttributeAtIndex(p->function, LLVMAttributeFunctionIndex, name, sizeof name - 1);
  const char *before = known ? LLVMGetStringAttributeValue(known, &length) : "";
  char *features = pop_xasprintf("%.*s%s+d", (int)length, before, length ? "," : "");
  LLVMAddAttributeAtIndex(p->function, LLVMAttributeFunctionIndex,
                          LLVMCreateStringAttribute(p->context, name, sizeof name - 1, features,
                                                    (unsigned)strlen(features)));
  free(features);
}

void pairs_rewrite(pairs *p)
{
  for (size_t k = 0; k < p->num_order; ++k) {
    LLVMValueRef pair = make(p, p->order[k]);
    pairs_get(p, p->order[k])->pair = pair;
  }
  for (size_t k = 0; k < p->num_order; ++k)
    if (LLVMIsAPHINode(p->order[k])) fill_phi(p, p->order[k]);
  for (size_t k = 0; k < p->num_order; ++k) replace(p, p->order[k]);
  for (size_t k = 0; k < p->num_order; ++k)
    LLVMReplaceAllUsesWith(p->order[k], LLVMGetPoison(LLVMTypeOf(p->order[k])));
  for (size_t k = 0; k < p->num_order; ++k) LLVMInstructionEraseFromParent(p->order[k]);
  add_feature(p);
}

static bool transform_function(LLVMValueRef function)
{
  pairs p = {.function = function, .context = LLVMGetModuleContext(LLVMGetGlobalParent(function))};
  bool changes = pairs_choose(&p);
  if (changes) {
    p.builder = LLVMCreateBuilderInContext(p.context);
    pairs_rewrite(&p);
    LLVMDisposeBuilder(p.builder);
  }
  free(p.blocks);
  free(p.order);
  free(p.values);
  return changes;
}

bool pairs_transform(LLVMModuleRef module)
{
  bool changed = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) changed |= transform_function(f);
  return changed;
}
