/* The second line of defence around native code.
 *
 * Native code tests every access. If a test is ever wrong, the access goes to the host's memory at
 * an offset of 32 bits from the tile's. memory.c makes sure that nothing else of the host is there,
 * and nothing at all next to the tile. Such an access is a SIGSEGV, which this handler turns into a
 * MACHINE_FAULT_INTERNAL of the tile.
 *
 *   run_tile --guard_call--> sigsetjmp -> native code -> SIGSEGV
 *   -> handler -> siglongjmp -> the fault
 *
 * Every other SIGSEGV goes to the handler that was there before, or ends the process as usual. */
#ifndef MACHINE_GUARD_H
#define MACHINE_GUARD_H

#include "state.h"

/* Installs the handler, before any native code runs. Only the first call has an effect. */
void guard_install(void);

/* Calls run(argument, number), which runs the tile `t`, and returns its result. If native code
 * strays, the tile has stopped with STOP_FAULT and a MACHINE_FAULT_INTERNAL, and the result is
 * 0. */
uint64_t guard_call(machine *m, tile *t, uint64_t (*run)(void *, uint32_t), void *argument,
                    uint32_t number);

/* Native code is about to run for this context, in the thread's innermost guard_call. NULL: it has
 * returned. */
void guard_set_running(const context *c);

#endif
