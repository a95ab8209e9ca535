/* The back ends that libclang registers when it starts, and never uses: it generates no code. In the
 * LLVM that popc-reflect has of its own (CMakeLists.txt) there are none. */
#define DEFINE(name)                                                                               \
  void LLVMInitialize##name(void);                                                                 \
  void LLVMInitialize##name(void) {}

#define LLVM_TARGET(name)                                                                          \
  DEFINE(name##TargetInfo)                                                                         \
  DEFINE(name##Target)                                                                             \
  DEFINE(name##TargetMC)
#include <llvm/Config/Targets.def>

#define LLVM_ASM_PRINTER(name) DEFINE(name##AsmPrinter)
#include <llvm/Config/AsmPrinters.def>

#define LLVM_ASM_PARSER(name) DEFINE(name##AsmParser)
#include <llvm/Config/AsmParsers.def>
