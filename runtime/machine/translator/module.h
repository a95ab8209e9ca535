/* Interface of the files that compile units to native code and link it: module.c calls the
 * others. */
#ifndef TRANSLATOR_MODULE_H
#define TRANSLATOR_MODULE_H

#include "machine/translate.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

/* host_features.c: the processor's features that code may use, as LLVM writes them; to be freed.
 * NULL: see `error`. */
char *host_features(char **error);

/* With POPULUS_TRANSLATOR_EFFORT=least in the environment all passes over LLVM's code run, but
 * register allocation and instruction scheduling are the simplest. So code is made in a third of
 * the time; it is for code that hardly runs. */
bool host_effort(LLVMCodeGenOptLevel *effort, char **error);

/* lift_module.c */

/* Target triple and data layout, as LLVM writes them. */
typedef struct module_kind {
  const char *triple, *layout;
} module_kind;

/* The unit as LLVM IR. Its first function is called `name` + ZEROS. */
LLVMModuleRef lift_module(LLVMContextRef context, const module_kind *kind, const code_unit *unit,
                          const char *name);

/* optimise.c: sets `error`, to NULL if there is none. `throttle`, if not NULL, is called between
 * passes. */
void module_optimise(LLVMModuleRef module, LLVMTargetMachineRef target, void (*throttle)(void),
                     LLVMErrorRef *error);

/* object_place.c */

/* The function's name ends with eight zeros, which linking replaces by digits that no other has. */
#define ZEROS "_00000000"

/* Behind these words an object has its numbers (lift_number), which linking writes. An object that
 * has the words twice, because they are constants of the tile code, is not linked. */
enum { MARK_WORDS = 4 };
extern const uint32_t object_numbers_mark[MARK_WORDS];

/* The name of a function that is linked as number `number`; to be freed. */
char *object_name(const char *name, uint32_t number);

/* A copy of the object for this place, with its function renamed to `full_name`. NULL: the object
 * has no numbers, or has the mark twice. */
LLVMMemoryBufferRef object_place(const uint8_t *bytes, size_t size, const char *name,
                                 const char *full_name, const code_place *place);

/* shrink.c */
void shrink_llvm(void);

#endif
