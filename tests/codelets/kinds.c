/* Vertices of every kind in C; kinds.cpp holds the same, and what C does not have. */
#include <populus/vertex.h>

typedef struct {
  INOUT(VECTOR(unsigned)) x;
} MultiAdd;

/* Each worker adds its number + 1 to its share of x. */
MULTI_COMPUTE(MultiAdd)
{
  for (unsigned i = worker; i < vertex->x.size; i += NUM_WORKERS) vertex->x.data[i] += worker + 1;
  return true;
}

typedef struct {
  INOUT(VECTOR(unsigned)) x;
  unsigned k;
} WorkerAdd;

COMPUTE(WorkerAdd)
{
  for (unsigned i = 0; i < vertex->x.size; ++i) vertex->x.data[i] += vertex->k;
  return true;
}

typedef struct {
  INOUT(VECTOR(unsigned)) x;
  unsigned k;
} SupervisorAdd;

SUPERVISOR_COMPUTE(SupervisorAdd)
{
  for (unsigned i = 0; i < vertex->x.size; ++i) vertex->x.data[i] += vertex->k;
  return true;
}

static _Thread_local volatile unsigned counter = 100;

typedef struct {
  OUTPUT(VECTOR(unsigned)) out;
} SupervisorContext;

SUPERVISOR_COMPUTE(SupervisorContext)
{
  _Alignas(16) volatile unsigned local[4] = {1, 2, 3, 4};
  vertex->out.data[0] = (uintptr_t)local % 16;
  vertex->out.data[1] = ++counter;
  vertex->out.data[2] = local[3];
  return true;
}

typedef struct {
  OUTPUT(VECTOR(unsigned)) out;
} MultiContext;

MULTI_COMPUTE(MultiContext)
{
  counter += worker;
  vertex->out.data[worker] = counter;
  return true;
}

typedef struct {
  INOUT(VECTOR(unsigned)) x;
} MultiTrap;

MULTI_COMPUTE(MultiTrap)
{
  if (worker == 3) __builtin_trap();
  return true;
}

typedef struct {
  INOUT(VECTOR(unsigned)) x;
} SupervisorTrap;

SUPERVISOR_COMPUTE(SupervisorTrap)
{
  __builtin_trap();
}
