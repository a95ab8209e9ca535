/* LLVM's passes over the code of a unit. */
#include "double_words.h"
#include "lift.h"
#include "module.h"

#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

/* Superword vectorisation (SLP) makes vectors of the halves of 64-bit integers, and of other pairs
 * in an integer function, and then spends more on packing and unpacking them (SipHash: 5.4 of the
 * host's time, 2.0 without). It skips functions with noimplicitfloat, which may not use vector
 * registers by themselves. So integer functions get that attribute while it runs. */
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

/* LLVM's own -O2 without inlining and with two changes, each measured (tests/bench/machine.sh).
 * Superword vectorisation comes last, because in front of unrolling it makes pairs where fours
 * would fit, or where nothing does. Passes that look for more facts about branches (jump threading,
 * correlated values) are left out, because the checks of accesses give them nothing to find. */
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
  /* in front of this pass slots have become values and constants are known, but nothing has been
   * combined: joins double words and expands minima and maxima */
  WORDS = 1
};

void module_optimise(LLVMModuleRef module, LLVMTargetMachineRef target, void (*throttle)(void),
                     LLVMErrorRef *error)
{
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  *error = NULL;
  for (size_t i = 0; i < NUM_PASSES && !*error; i++) {
    if (throttle) throttle();
    if (i == WORDS) {
      double_words_join(module);
      min_max_expand(module);
    }
    if (i >= SUPERWORDS) keep_scalars(module, i == SUPERWORDS);
    *error = LLVMRunPasses(module, passes[i], target, options);
  }
  LLVMDisposePassBuilderOptions(options);
}
