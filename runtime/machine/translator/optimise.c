/* LLVM's passes over the code of a unit. */
#include "double_words.h"
#include "lift.h"
#include "module.h"

#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

/* Superword vectorisation makes vectors of the halves of 64-bit integers, and of what else an integer function has in
 * pairs, and then spends more on getting them in and out (SipHash: 5.4 of the host's time, 2.0 without). It leaves
 * functions alone that may use no vector registers by themselves, so that is what these are said to be meanwhile. */
static const char keeps_scalars[] = "noimplicitfloat";

static void keep_scalars(LLVMModuleRef module, bool keep)
{
  unsigned kind = LLVMGetEnumAttributeKindForName(keeps_scalars, sizeof keeps_scalars - 1);
  LLVMAttributeIndex place = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (!LLVMGetStringAttributeAtIndex(f, place, LIFT_INTEGERS_ONLY, strlen(LIFT_INTEGERS_ONLY)))
      continue;
    if (keep)
      LLVMAddAttributeAtIndex(f, place,
                              LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0));
    else
      LLVMRemoveEnumAttributeAtIndex(f, place, kind);
  }
}

/* LLVM's own -O2 without inlining and with two changes, each measured (tests/bench/machine.sh):
 * superword vectorisation comes last, because in front of unrolling it makes pairs where four would
 * fit, or where none do; and passes that look for more facts about branches (jump threading,
 * correlated values) are left out, because the checks of accesses have nothing to give them. */
static const char *const passes[] = {
    "function<eager-inv>("
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg)",
    "function<eager-inv>("
    "adce,instcombine<no-verify-fixpoint>,simplifycfg,"
    "reassociate,loop-mssa(loop-instsimplify,loop-simplifycfg,licm<allowspeculation>),simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>"
    ")",
    "function<eager-inv>("
    "gvn,sccp,bdce,instcombine<no-verify-fixpoint>,adce,dse,loop-mssa(licm<allowspeculation>),"
    "simplifycfg,instcombine<no-verify-fixpoint>)",
    "function<eager-inv>("
    "loop-vectorize,loop-load-elim,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-unroll<O2>,"
    "instcombine<no-verify-fixpoint>)",
    "function<eager-inv>(slp-vectorizer)",
    "function<eager-inv>(loop-mssa(licm<allowspeculation>),div-rem-pairs,simplifycfg)"};
enum { NUM_PASSES = sizeof passes / sizeof *passes, SUPERWORDS = NUM_PASSES - 2 };
enum {
  WORDS = 1
}; /* in front of these words are values, constants are known, and nothing has been combined: what is lifted gets its final form */

void module_optimise(LLVMModuleRef module, LLVMTargetMachineRef target, void (*breathe)(void),
                     LLVMErrorRef *error)
{
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  *error = NULL;
  for (size_t i = 0; i < NUM_PASSES && !*error; i++) {
    if (breathe) breathe();
    if (i == WORDS) {
      double_words_join(module);
      picks_expand(module);
    }
    if (i >= SUPERWORDS) keep_scalars(module, i == SUPERWORDS);
    *error = LLVMRunPasses(module, passes[i], target, options);
  }
  LLVMDisposePassBuilderOptions(options);
}
