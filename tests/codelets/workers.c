/* Supervisor vertices that start workers themselves. Their field `out` counts. */
#include <populus/vertex.h>
#include <populus/workers.h>

typedef struct {
  INOUT(int) out;
} OneAfterAnother;

static volatile int shared[NUM_WORKERS];

static bool add_number(void *state, unsigned worker)
{
  OneAfterAnother *vertex = state;
  volatile char stack_of_its_own[200];
  stack_of_its_own[worker] = (char)worker;
  *vertex->out += 1 + stack_of_its_own[worker];
  return true;
}

SUPERVISOR_COMPUTE(OneAfterAnother)
{
  for (unsigned worker = 0; worker < NUM_WORKERS; ++worker) {
    populus_start_worker(worker, add_number, vertex);
    populus_wait_for_workers();
  }
  return true; /* 1 + 2 + ... + 6 */
}

typedef struct {
  INOUT(int) out;
} AllAtOnce;

static bool add_shared(void *state, unsigned worker)
{
  (void)state;
  shared[worker] += (int)worker + 1;
  return true;
}

SUPERVISOR_COMPUTE(AllAtOnce)
{
  for (int phase = 0; phase < 100; ++phase) {
    populus_start_workers(add_shared, vertex);
    populus_wait_for_workers();
  }
  for (unsigned worker = 0; worker < NUM_WORKERS; ++worker) *vertex->out += shared[worker];
  return true; /* 2100 */
}

/* Faults. */
typedef struct {
  INOUT(int) out;
} Twice;

static bool slow(void *state, unsigned worker)
{
  (void)state;
  (void)worker;
  for (int i = 0; i < 1000; ++i) __asm__ volatile("");
  return true;
}

SUPERVISOR_COMPUTE(Twice)
{
  populus_start_worker(2, slow, vertex);
  populus_start_worker(2, slow, vertex);
  return true;
}

typedef struct {
  INOUT(int) out;
} WildWorker;

static bool wild(void *state, unsigned worker)
{
  (void)state;
  if (worker == 4) *(volatile int *)4 = 1;
  return true;
}

SUPERVISOR_COMPUTE(WildWorker)
{
  populus_start_workers(wild, vertex);
  populus_wait_for_workers();
  return true;
}
