/* The second line of defence around native code.
 *
 * Native code tests every access before it makes it. Should a test ever be wrong, the access goes to the host's
 * memory at an offset of 32 bits from the tile's: memory.c sees to it that nothing of the host's is there, and nothing at
 * all next to the tile. What strays there is a SIGSEGV, which a handler of ours turns into a
 * MACHINE_FAULT_INTERNAL of that tile.
 *
 *   run_tile --guard_call--> sigsetjmp -> native code -> SIGSEGV -> handler -> siglongjmp -> the fault
 *
 * Every other SIGSEGV goes to the handler that was there before, or ends the process as ever. */
#ifndef MACHINE_GUARD_H
#define MACHINE_GUARD_H

#include "state.h"

/* From now on the process has the handler; before anything native runs. Only the first call does something. */
void guard_install(void);

/* run(argument, number), which runs the tile `t`, and its result. If its native code strays, the tile has stopped with
 * STOP_FAULT and a fault MACHINE_FAULT_INTERNAL, and the result is 0. */
uint64_t guard_call(machine *m, tile *t, uint64_t (*run)(void *, uint32_t), void *argument,
                    uint32_t number);

/* Native code is about to run for this context, of the thread's guard_call. */
void guard_note(const context *c);

#endif
