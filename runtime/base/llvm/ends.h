/* Where LLVM would end the process: see base/llvm_thread.h. A part of each module that is linked with LLVM. */
#ifndef BASE_LLVM_ENDS_H
#define BASE_LLVM_ENDS_H

/* From now on `give_up` is called, with a reason, where LLVM, the C++ library or (on this thread) arena.h has no memory, and
 * where LLVM finds something fatal. Where it returns, what would have happened happens. To be called on each of LLVM's threads before
 * anything of LLVM is. `give_up` may be called on any thread. */
typedef void (*give_up_function)(const char *why);
void llvm_ends_in(give_up_function give_up);

/* The C++ library keeps something for each thread that exit() asks for, and the dynamic linker ends the process with 127 if it has
 * no memory for that then: in a thread that may end the process, this gets it now. */
void llvm_ends_prepare_thread(void);

#endif
