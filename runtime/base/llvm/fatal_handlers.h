/* The points where LLVM would end the process: see base/llvm_thread.h. Linked into each module
 * that uses LLVM. */
#ifndef BASE_LLVM_FATAL_HANDLERS_H
#define BASE_LLVM_FATAL_HANDLERS_H

/* From now on `handler` is called, with a reason, when LLVM, the C++ library or (on this
 * thread) arena.h has no memory, and when LLVM meets a fatal error. If it returns, the original
 * handling follows. Call this on each of LLVM's threads before anything of LLVM. `handler` may
 * be called on any thread. */
typedef void (*llvm_fatal_handler)(const char *why);
void llvm_set_fatal_handler(llvm_fatal_handler handler);

/* The C++ library keeps data for each thread, which exit() asks for. Without memory for it at
 * that moment, the dynamic linker ends the process with 127. So a thread that may end the
 * process gets it now. */
void llvm_prepare_thread(void);

#endif
