/* The translator's module: compiles units to native code, through LLVM's optimiser and ORC.
 *
 * LLVM's errors are returned as texts. Code is made for the host's own processor. */
#include "module.h"
#include "base/llvm/fatal_handlers.h"
#include "translator_contract.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/blake3.h>
#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct translator {
  LLVMTargetMachineRef target;
  LLVMOrcLLJITRef jit;
  char *triple;
  char *features; /* of the host's processor */
  char *layout;
  char *identity;
  LLVMCodeGenOptLevel effort;
  uint32_t num_linked;
};

/* The text of `error`, which is consumed. */
static char *text_of(LLVMErrorRef error)
{
  char *message = LLVMGetErrorMessage(error), *text = pop_xstrdup(message);
  LLVMDisposeErrorMessage(message);
  return text;
}

static bool failed(LLVMErrorRef raised, char **error)
{
  if (raised) *error = text_of(raised);
  return raised != NULL;
}

static LLVMTargetMachineRef make_machine(const translator *t, char **error)
{
  LLVMTargetRef target;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(t->triple, &target, &message)) {
    *error = pop_xstrdup(message);
    LLVMDisposeMessage(message);
    return NULL;
  }
  char *cpu = LLVMGetHostCPUName();
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      target, t->triple, cpu, t->features, t->effort, LLVMRelocPIC, LLVMCodeModelSmall);
  LLVMDisposeMessage(cpu);
  return machine;
}

/* Division of 128 bits, from the C compiler's library: LLVM uses it for final values of loops. */
__extension__ typedef __int128 wide;
wide __udivti3(wide a, wide b);
wide __umodti3(wide a, wide b);
wide __divti3(wide a, wide b);
wide __modti3(wide a, wide b);

/* Helpers of native code by name. */
typedef union helper_address {
  uint32_t (*access)(translated_frame *, uint32_t, uint32_t, uint32_t);
  uint64_t (*more_time)(translated_frame *);
  translated_code (*find)(translated_frame *, uint32_t);
  uint32_t (*value)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
  uint64_t (*copy)(translated_frame *, uint32_t, uint32_t, uint32_t, int64_t);
  wide (*divide)(wide, wide);
  uintptr_t address;
} helper_address;

enum { NUM_HELPERS = 9 };

static LLVMErrorRef define_helpers(LLVMOrcLLJITRef jit, const translator_helpers *helpers)
{
  static const char *const names[NUM_HELPERS] = {"tile_access", "tile_more_time", "tile_find",
                                                 "tile_value",  "tile_copy",      "__udivti3",
                                                 "__umodti3",   "__divti3",       "__modti3"};
  helper_address addresses[NUM_HELPERS] = {
      {.access = helpers->access}, {.more_time = helpers->more_time},
      {.find = helpers->find},     {.value = helpers->value},
      {.copy = helpers->copy},     {.divide = __udivti3},
      {.divide = __umodti3},       {.divide = __divti3},
      {.divide = __modti3}};
  LLVMOrcCSymbolMapPair pairs[NUM_HELPERS];
  for (unsigned i = 0; i < NUM_HELPERS; i++)
    pairs[i] = (LLVMOrcCSymbolMapPair){
        .Name = LLVMOrcLLJITMangleAndIntern(jit, names[i]),
        .Sym = {.Address = addresses[i].address,
                .Flags = {.GenericFlags = LLVMJITSymbolGenericFlagsExported |
                                          LLVMJITSymbolGenericFlagsCallable}}};
  return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                               LLVMOrcAbsoluteSymbols(pairs, NUM_HELPERS));
}

/* For functions that the code generator calls by itself: memcpy, memset. */
static LLVMErrorRef define_process(LLVMOrcLLJITRef jit)
{
  LLVMOrcDefinitionGeneratorRef generator;
  LLVMErrorRef error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
      &generator, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL);
  if (!error) LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
  return error;
}

static bool start_jit(translator *t, const translator_helpers *helpers, char **error)
{
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMTargetMachineRef machine = make_machine(t, error);
  if (!machine) {
    LLVMOrcDisposeLLJITBuilder(builder);
    return false;
  }
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
      builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  if (failed(LLVMOrcCreateLLJIT(&t->jit, builder), error)) return false;
  t->layout = pop_xstrdup(LLVMOrcLLJITGetDataLayoutStr(t->jit));
  return !failed(define_helpers(t->jit, helpers), error) && !failed(define_process(t->jit), error);
}

static void destroy(translator *t)
{
  if (!t) return;
  LLVMErrorRef error = t->jit ? LLVMOrcDisposeLLJIT(t->jit) : NULL;
  if (error) LLVMConsumeError(error);
  if (t->target) LLVMDisposeTargetMachine(t->target);
  if (t->triple) LLVMDisposeMessage(t->triple);
  free(t->features);
  free(t->layout);
  free(t->identity);
  free(t);
}

static char *describe(const translator *t)
{
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  char *cpu = LLVMGetHostCPUName();
  char *text = pop_xasprintf("LLVM %u.%u.%u %s %s %s%s", major, minor, patch, t->triple, cpu,
                             t->features, t->effort == LLVMCodeGenLevelNone ? " least" : "");
  LLVMDisposeMessage(cpu);
  return text;
}

static const char *identity(const translator *t)
{
  return t->identity;
}

/* Two options of LLVM. Epilogue vectorisation: the remainder behind vectors of 16 elements is done
 * in shorter vectors; loops on tiles are so short that this should begin at 8 (14 x 14 x 14 points
 * of a stencil: 1.67 of the host's time without, 1.35 with). Superword vectorisation (SLP): it
 * begins with pairs that hardly pay and then are in the way of fours, so its threshold is higher
 * (four sums of products in a loop that is unrolled: 2.6 of the host's time without, 1.9 with).
 * Only LLVM's command line has these options; they hold for the whole process. */
static void set_options(void)
{
  static const char *const options[] = {"translator", "-epilogue-vectorization-minimum-VF=8",
                                        "-slp-threshold=4"};
  LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, NULL);
}

static translator *create(const translator_helpers *helpers, char **error)
{
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  set_options();
  translator *t = pop_xcalloc(1, sizeof *t);
  t->triple = LLVMGetDefaultTargetTriple();
  t->features = host_features(error);
  if (t->features && host_effort(&t->effort, error)) t->target = make_machine(t, error);
  if (t->target) t->identity = describe(t);
  if (t->target && start_jit(t, helpers, error)) return t;
  destroy(t);
  return NULL;
}

static bool verify(LLVMModuleRef module, char **error)
{
  char *message = NULL;
  bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
  if (broken) *error = pop_xstrdup(message);
  LLVMDisposeMessage(message);
  return !broken;
}

static bool optimise(const translator *t, LLVMModuleRef module, void (*throttle)(void),
                     char **error)
{
  LLVMErrorRef raised;
  module_optimise(module, t->target, throttle, &raised);
  return !failed(raised, error);
}

static void show(LLVMModuleRef module, const char *stage)
{
  const char *wanted = secure_getenv("POPULUS_TRANSLATOR_DUMP");
  if (!wanted || strcmp(wanted, stage) != 0) return;
  char *text = LLVMPrintModuleToString(module);
  fputs(text, stderr);
  LLVMDisposeMessage(text);
}

/* The machine code as an object file; NULL: see `error`. */
static LLVMMemoryBufferRef generate(const translator *t, const code_unit *unit, const char *name,
                                    void (*throttle)(void), char **error)
{
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = lift_module(context, &(module_kind){t->triple, t->layout}, unit, name);
  LLVMMemoryBufferRef object = NULL;
  show(module, "lift");
  if (verify(module, error) && optimise(t, module, throttle, error)) {
    show(module, "optimise");
    if (throttle) throttle();
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(t->target, module, LLVMObjectFile, &message, &object)) {
      *error = pop_xstrdup(message);
      LLVMDisposeMessage(message);
      object = NULL;
    }
  }
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return object;
}

static uint8_t *compile(translator *t, const code_unit *unit, const char *name,
                        void (*throttle)(void), size_t *size, char **error)
{
  LLVMMemoryBufferRef object = generate(t, unit, name, throttle, error);
  if (!object) return NULL;
  *size = LLVMGetBufferSize(object);
  uint8_t *bytes = pop_xmalloc(*size);
  memcpy(bytes, LLVMGetBufferStart(object), *size);
  LLVMDisposeMemoryBuffer(object);
  return bytes;
}

/* Linked code, with what frees it. */
struct translated_object {
  LLVMOrcResourceTrackerRef tracker;
};

static void discard(translated_object *object)
{
  LLVMErrorRef error = LLVMOrcResourceTrackerRemove(object->tracker);
  if (error) LLVMConsumeError(error);
  LLVMOrcReleaseResourceTracker(object->tracker);
  free(object);
}

static translated_code link_at(translator *t, const uint8_t *bytes, size_t size, const char *name,
                               const char *full_name, const code_place *place,
                               translated_object **object, char **error)
{
  LLVMMemoryBufferRef buffer = object_place(bytes, size, name, full_name, place);
  if (!buffer) {
    *error = pop_xstrdup("its numbers' place cannot be told from constants of the code");
    return NULL;
  }
  LLVMOrcResourceTrackerRef tracker =
      LLVMOrcJITDylibCreateResourceTracker(LLVMOrcLLJITGetMainJITDylib(t->jit));
  LLVMOrcExecutorAddress address = 0;
  *object = pop_xcalloc(1, sizeof **object);
  (*object)->tracker = tracker;
  if (failed(LLVMOrcLLJITAddObjectFileWithRT(t->jit, tracker, buffer), error) ||
      failed(LLVMOrcLLJITLookup(t->jit, &address, full_name), error)) {
    discard(*object);
    *object = NULL;
    return NULL;
  }
  union {
    uintptr_t address;
    translated_code code;
  } entry = {.address = (uintptr_t)address};
  return entry.code;
}

static translated_code link_object(translator *t, const uint8_t *bytes, size_t size,
                                   const char *name, const code_place *place,
                                   translated_object **object, char **error)
{
  char *full_name = object_name(name, ++t->num_linked);
  translated_code code = link_at(t, bytes, size, name, full_name, place, object, error);
  free(full_name);
  return code;
}

static void digest(const void *bytes, size_t size, uint8_t digest[TRANSLATOR_DIGEST_BYTES])
{
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init(&hasher);
  llvm_blake3_hasher_update(&hasher, bytes, size);
  llvm_blake3_hasher_finalize(&hasher, digest, TRANSLATOR_DIGEST_BYTES);
}

static void forget(char *error)
{
  free(error);
}

extern const translator_interface translator_module;
const translator_interface translator_module = {.contract = POPULUS_TRANSLATOR_CONTRACT,
                                                .set_fatal_handler = llvm_set_fatal_handler,
                                                .prepare_thread = llvm_prepare_thread,
                                                .create = create,
                                                .identity = identity,
                                                .compile = compile,
                                                .link = link_object,
                                                .discard = discard,
                                                .digest = digest,
                                                .forget = forget,
                                                .shrink = shrink_llvm,
                                                .destroy = destroy};
