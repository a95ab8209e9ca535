/* How a supervisor vertex starts workers itself: several phases in one vertex, without a compute
 * set for each.
 *
 *     #include <populus/workers.h>
 *
 *     static bool halve(void *state, unsigned worker) { Halves *vertex = state; ... }
 *
 *     SUPERVISOR_COMPUTE(Halves)
 *     {
 *       for (unsigned phase = 0; phase < 10; ++phase) {
 *         populus_start_workers(halve, vertex);
 *         populus_wait_for_workers();
 *       }
 *       return true;
 *     }
 *
 * In C++ it is <ipu-thread-sync/ipu-thread-sync.hpp>, with member functions.
 *
 * Only the supervisor may start workers, and it must wait for them before the vertex returns.
 * Starting a worker that runs is a fault. This file must be included where the vertex's compute()
 * is. How much stack the started workers need is unknown. They get at least what the engine option
 * debug.workerStackSizeInBytes says, or 2,048 bytes without it. The supervisor sees what they write
 * after populus_wait_for_workers. On the host, a started worker has run when the starting function
 * returns.
 *
 * A worker's function may ask for the worker's number and state, and may end the worker. On the
 * host that is a fault: there a worker has only its arguments, and ends by returning.
 */
#ifndef POPULUS_WORKERS_H
#define POPULUS_WORKERS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { POPULUS_NUM_WORKERS = 6 };

/* A worker's function. The result is as that of compute(). */
typedef bool (*populus_worker_function)(void *state, unsigned worker);

#ifdef __IPU__

/* Starts the worker of this number, 0 to 5; all of them. */
void populus_start_worker(unsigned worker, populus_worker_function function, void *state);
void populus_start_workers(populus_worker_function function, void *state);

static __inline__ void populus_wait_for_workers(void)
{
  __asm__ volatile(".insn r 0x2b, 0, 3, x0, x0, x0" : : : "memory"); /* tile.wait */
}

static __inline__ unsigned populus_worker_number(void)
{
  unsigned number;
  __asm__ volatile(".insn r 0x2b, 0, 5, %0, x0, x0" : "=r"(number)); /* tile.context */
  return number;
}

/* For a worker that was started by these functions. */
void *populus_worker_state(void);

static __inline__ __attribute__((__noreturn__)) void populus_end_worker(void)
{
  __asm__ volatile(".insn r 0x2b, 0, 4, x0, x0, x0" : : : "memory"); /* tile.exit */
  __builtin_unreachable();
}

/* The fault TRAP with this value. */
static __inline__ __attribute__((__noreturn__)) void populus_trap(unsigned value)
{
  __asm__ volatile(".insn r 0x2b, 0, 9, x0, %0, x0" : : "r"(value)); /* tile.trap */
  __builtin_unreachable();
}

/* The entry of a supervisor gets the code that workers start with as an argument, and
 * keeps it here. */
extern void *populus_worker_stub;
#undef POPULUS_ENTER
#define POPULUS_ENTER(state, stub) (populus_worker_stub = (stub), (state))

#else

static __inline__ void populus_start_worker(unsigned worker, populus_worker_function function,
                                            void *state)
{
  function(state, worker);
}

static __inline__ void populus_start_workers(populus_worker_function function, void *state)
{
  for (unsigned worker = 0; worker < POPULUS_NUM_WORKERS; ++worker) function(state, worker);
}

static __inline__ void populus_wait_for_workers(void) {}

static __inline__ unsigned populus_worker_number(void)
{
  __builtin_trap();
}

static __inline__ void *populus_worker_state(void)
{
  __builtin_trap();
}

static __inline__ __attribute__((__noreturn__)) void populus_end_worker(void)
{
  __builtin_trap();
}

static __inline__ __attribute__((__noreturn__)) void populus_trap(unsigned value)
{
  (void)value;
  __builtin_trap();
}

#endif

#ifdef __cplusplus
}
#endif
#endif
