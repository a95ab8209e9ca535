/* The host linker's module: links host objects through ORC, and finds addresses. LLVM's errors are
 * returned as texts.
 *
 * An object is linked when a symbol of it is looked up for the first time. A definition generator
 * asks the caller for symbols that no object defines, one at a time. */
#include "base/llvm/fatal_handlers.h"
#include "cpu/host_linker.h"
#include "host_linker_contract.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct linked_objects {
  LLVMOrcLLJITRef jit;
  uintptr_t (*find)(const char *name);
  char *reported; /* LLVM's first report: the lookup's own error tells less */
};

/* The text of `error`, which is consumed. */
static char *text_of(LLVMErrorRef error)
{
  char *message = LLVMGetErrorMessage(error), *text = pop_xstrdup(message);
  LLVMDisposeErrorMessage(message);
  return text;
}

static void report(void *context, LLVMErrorRef error)
{
  linked_objects *linked = context;
  char *text = text_of(error);
  if (linked->reported)
    free(text);
  else
    linked->reported = text;
}

/* The text of `error`, with LLVM's report if there is one, which is used once. */
static char *explain(linked_objects *linked, LLVMErrorRef error)
{
  char *text = text_of(error);
  if (!linked->reported) return text;
  char *both = pop_xasprintf("%s: %s", text, linked->reported);
  free(text);
  free(linked->reported);
  linked->reported = NULL;
  return both;
}

static LLVMErrorRef define_missing(LLVMOrcDefinitionGeneratorRef generator, void *context,
                                   LLVMOrcLookupStateRef *state, LLVMOrcLookupKind kind,
                                   LLVMOrcJITDylibRef library, LLVMOrcJITDylibLookupFlags flags,
                                   LLVMOrcCLookupSet names, size_t count)
{
  (void)generator;
  (void)state;
  (void)kind;
  (void)flags;
  const linked_objects *linked = context;
  LLVMOrcCSymbolMapPair *pairs = pop_xcalloc(count + 1, sizeof *pairs);
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    uintptr_t address = linked->find(LLVMOrcSymbolStringPoolEntryStr(names[i].Name));
    if (!address) continue;
    LLVMOrcRetainSymbolStringPoolEntry(names[i].Name);
    pairs[found++] = (LLVMOrcCSymbolMapPair){
        .Name = names[i].Name,
        .Sym = {.Address = address, .Flags = {.GenericFlags = LLVMJITSymbolGenericFlagsExported}}};
  }
  LLVMErrorRef error =
      found ? LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs, found)) : NULL;
  free(pairs);
  return error;
}

static LLVMErrorRef add_objects(linked_objects *linked, const host_object *objects, size_t count)
{
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(linked->jit);
  for (size_t i = 0; i < count; i++) {
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        objects[i].bytes, objects[i].size, objects[i].name);
    if (!buffer) return LLVMCreateStringError(HOST_LINKER_NO_MEMORY);
    LLVMErrorRef error = LLVMOrcLLJITAddObjectFile(linked->jit, library, buffer);
    if (error) return error;
  }
  LLVMOrcJITDylibAddGenerator(
      library, LLVMOrcCreateCustomCAPIDefinitionGenerator(define_missing, linked, NULL));
  return NULL;
}

static void destroy(linked_objects *linked)
{
  if (!linked) return;
  LLVMErrorRef error = linked->jit ? LLVMOrcDisposeLLJIT(linked->jit) : NULL;
  if (error) LLVMConsumeError(error);
  free(linked->reported);
  free(linked);
}

static linked_objects *link_objects(const host_object *objects, size_t count,
                                    uintptr_t (*find)(const char *name), char **error)
{
  LLVMInitializeNativeTarget();
  linked_objects *linked = pop_xcalloc(1, sizeof *linked);
  linked->find = find;
  LLVMErrorRef raised = LLVMOrcCreateLLJIT(&linked->jit, NULL);
  if (!raised) {
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(linked->jit), report,
                                            linked);
    raised = add_objects(linked, objects, count);
  }
  if (!raised) return linked;
  *error = explain(linked, raised);
  destroy(linked);
  return NULL;
}

static uintptr_t find_address(linked_objects *linked, const char *symbol, char **error)
{
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef raised = LLVMOrcLLJITLookup(linked->jit, &address, symbol);
  if (!raised) return (uintptr_t)address;
  *error = explain(linked, raised);
  return 0;
}

static void forget(char *error)
{
  free(error);
}

extern const host_linker_interface host_linker_module;
const host_linker_interface host_linker_module = {.contract = POPULUS_HOST_LINKER_CONTRACT,
                                                  .set_fatal_handler = llvm_set_fatal_handler,
                                                  .prepare_thread = llvm_prepare_thread,
                                                  .link = link_objects,
                                                  .address = find_address,
                                                  .destroy = destroy,
                                                  .forget = forget};
