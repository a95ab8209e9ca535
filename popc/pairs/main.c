/* popc-pairs: the program that popc runs between clang's optimizer and its code generator, for
 * sources that may have vectors or divide 64-bit integers.
 *
 *   popc-pairs [divisions] <bitcode >bitcode
 *
 * It is a program of its own so that a crash of LLVM, or its lack of memory, does not end popc or
 * popc's host. Its input is bitcode of the LLVM that it is linked with, or of an older one.
 *
 * Exit status: 0 done; STATUS_AT_FAULT, this LLVM cannot read the bitcode or would not take it
 * back, and standard error says why.
 */
#include "../compile_internal.h"
#include "pairs.h"

#include <populus/gp.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *doing, const char *why)
{
  fprintf(stderr, "popc-pairs: cannot %s: %s\n", doing, why ? why : "no reason is known");
  return STATUS_AT_FAULT;
}

/* Removes duplicate extractions and insertions of elements, and dead operands of functions. */
static int tidy(LLVMModuleRef module)
{
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, "function(early-cse,dce)", NULL, options);
  LLVMDisposePassBuilderOptions(options);
  return error ? fail("optimise", LLVMGetErrorMessage(error)) : 0;
}

static void say_what_it_needs(LLVMModuleRef module)
{
  static const char text[] = ".pushsection " POP_GP_NEEDS_SECTION ",\"\",@progbits\n"
                             ".asciz \"" POP_GP_NEEDS_PACKED "\"\n"
                             ".popsection\n";
  LLVMAppendModuleInlineAsm(module, text, sizeof text - 1);
}

static int transform(bool divisions_only)
{
  char *message = NULL;
  LLVMMemoryBufferRef bitcode;
  LLVMModuleRef module;
  if (LLVMCreateMemoryBufferWithSTDIN(&bitcode, &message)) return fail("read bitcode", message);
  if (LLVMParseBitcode2(bitcode, &module))
    return fail("read bitcode", "it is not of this LLVM, or damaged");
  bool divides = pairs_divide(module), packs = !divisions_only && pairs_transform(module);
  if (divides || packs) {
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
      return fail("use what it made", message);
    int status = tidy(module);
    if (status) return status;
  }
  if (packs) say_what_it_needs(module);
  LLVMErrorRef error = divisions_only ? NULL : pairs_count_loops(module);
  if (error) return fail("count loops", LLVMGetErrorMessage(error));
  if (LLVMWriteBitcodeToFD(module, STDOUT_FILENO, false, false)) return fail("write bitcode", NULL);
  return 0;
}

/* AddressSanitizer calls it, if present: what LLVM keeps until the process ends is no leak
 * of ours. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "detect_leaks=0";
}

/* The process ends without freeing that, which would only take time. */
int main(int argc, char **argv)
{
  limits limits = popc_get_limits();
  popc_limit(RLIMIT_AS, popc_mapped_bytes() + limits.memory_bytes);
  _exit(transform(argc > 1 && strcmp(argv[1], POPC_PAIRS_DIVISIONS) == 0));
}
