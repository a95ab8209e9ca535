/*
 * populus/workers.h. A worker starts in the stub that the graph compiler has made. The stub finds
 * the worker's stack and then calls the functions of a list: (function, state), (function, state),
 * ..., 0. The list here has one entry; it belongs to the worker until the worker has exited.
 */
#include <populus/workers.h>

void *populus_worker_stub;

static struct {
  populus_worker_function function;
  void *state;
  unsigned end;
} calls[POPULUS_NUM_WORKERS];

/* tile.run has the worker's number in the instruction. */
#define RUN(number)                                                                                \
  __asm__ volatile(".insn r 0x2b, 0, 2, x" #number ", %0, %1"                                      \
                   :                                                                               \
                   : "r"(populus_worker_stub), "r"(&calls[number])                                 \
                   : "memory")

static void put_call(unsigned worker, populus_worker_function function, void *state)
{
  calls[worker].function = function;
  calls[worker].state = state;
}

void populus_start_worker(unsigned worker, populus_worker_function function, void *state)
{
  if (worker >= POPULUS_NUM_WORKERS) __builtin_trap();
  put_call(worker, function, state);
  switch (worker) {
  case 0:
    RUN(0);
    break;
  case 1:
    RUN(1);
    break;
  case 2:
    RUN(2);
    break;
  case 3:
    RUN(3);
    break;
  case 4:
    RUN(4);
    break;
  default:
    RUN(5);
    break;
  }
}

void *populus_worker_state(void)
{
  return calls[populus_worker_number()].state;
}

void populus_start_workers(populus_worker_function function, void *state)
{
  for (unsigned worker = 0; worker < POPULUS_NUM_WORKERS; ++worker)
    put_call(worker, function, state);
  RUN(0);
  RUN(1);
  RUN(2);
  RUN(3);
  RUN(4);
  RUN(5);
}
