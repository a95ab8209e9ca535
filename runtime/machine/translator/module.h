/* What the files share that make native code of units and link it: module.c calls the others. */
#ifndef TRANSLATOR_MODULE_H
#define TRANSLATOR_MODULE_H

#include "machine/translate.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

/* host_features.c: what code may use: the processor's features, as LLVM writes them, to be freed; NULL: see `error`. */
char *host_features(char **error);

/* With POPULUS_TRANSLATOR_EFFORT=least in the environment, code goes through all passes over LLVM's code, but registers and
 * the order of instructions are given as they come: it is made in a third of the time, for code that hardly runs. */
bool host_effort(LLVMCodeGenOptLevel *effort, char **error);

/* lift_module.c */

/* As LLVM writes them. */
typedef struct module_kind {
  const char *triple, *layout;
} module_kind;

/* The unit as LLVM's code. Its first function has the name, and ZEROS behind that. */
LLVMModuleRef lift_module(LLVMContextRef context, const module_kind *kind, const code_unit *unit,
                          const char *name);

/* optimise.c: sets `error`, to NULL if there is none. `breathe`, if not NULL, is called now and then. */
void module_optimise(LLVMModuleRef module, LLVMTargetMachineRef target, void (*breathe)(void),
                     LLVMErrorRef *error);

/* object_place.c */

/* The function's name ends with eight zeros, which linking replaces by digits that no other has. */
#define ZEROS "_00000000"

/* Behind these words an object has its numbers (lift_number), which linking writes. An object that has the words twice, because
 * tile code has these constants, is not linked. */
enum { MARK_WORDS = 4 };
extern const uint32_t object_numbers_mark[MARK_WORDS];

/* What a function is called that has been linked as number `number`; to be freed. */
char *object_name(const char *name, uint32_t number);

/* A copy of the object for that place: `full_name` is its function's name there. NULL: it has no numbers, or twice. */
LLVMMemoryBufferRef object_place(const uint8_t *bytes, size_t size, const char *name,
                                 const char *full_name, const code_place *place);

/* shrink.c */
void shrink_llvm(void);

#endif
