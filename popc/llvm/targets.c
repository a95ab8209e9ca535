/* Empty initializers of the back ends that libclang registers at its start and never uses, as it
 * generates no code. The LLVM that popc-reflect loads (CMakeLists.txt) has no back ends. */
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
