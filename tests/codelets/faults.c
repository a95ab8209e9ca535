/* Codelets that do what a codelet must not do, one fault each; and those whose arithmetic looks like a
 * fault and has a defined result. tests/unit/engine/faults.c finds the line of a fault by its comment
 * "fault: <codelet>". */
#include <populus/vertex.h>

/* What every fault needs: a value that the compiler does not know, and data of its own. */
#define FAULT(Name)                                                                                \
  typedef struct {                                                                                 \
    INOUT(VECTOR(int)) x;                                                                          \
    unsigned value;                                                                                \
  } Name;                                                                                          \
  COMPUTE(Name)

/* Assembly is the tile's: the host's object has none. */
#ifdef __IPU__
#define TILE_ASM(...) __asm__ volatile(__VA_ARGS__)
#else
#define TILE_ASM(...) (void)0
#endif

#define AT(type, address) (*(volatile type *)(uintptr_t)(address))

/* ---- memory: `value` is an address ---- */

FAULT(LoadByte)
{
  vertex->x.data[0] = AT(char, vertex->value); /* fault: LoadByte */
  return true;
}

FAULT(LoadHalf)
{
  vertex->x.data[0] = AT(short, vertex->value); /* fault: LoadHalf */
  return true;
}

FAULT(LoadWord)
{
  vertex->x.data[0] = AT(int, vertex->value); /* fault: LoadWord */
  return true;
}

FAULT(LoadFloat)
{
  vertex->x.data[0] = (int)AT(float, vertex->value); /* fault: LoadFloat */
  return true;
}

FAULT(StoreByte)
{
  AT(char, vertex->value) = 85; /* fault: StoreByte */
  return true;
}

FAULT(StoreHalf)
{
  AT(short, vertex->value) = 85; /* fault: StoreHalf */
  return true;
}

FAULT(StoreWord)
{
  AT(int, vertex->value) = 85; /* fault: StoreWord */
  return true;
}

FAULT(StoreFloat)
{
  AT(float, vertex->value) = 85; /* fault: StoreFloat */
  return true;
}

FAULT(MisalignedInOwnData)
{
  AT(int, (uintptr_t)vertex->x.data + 2) = 85; /* fault: MisalignedInOwnData */
  return true;
}

FAULT(StoreToCode)
{
  AT(int, (uintptr_t)&__runCodelet_StoreToCode) = 0x13; /* fault: StoreToCode */
  return true;
}

/* As if a wild store had hit the state: the size of a vector is a billion. */
FAULT(LongVector)
{
  *(volatile unsigned *)&vertex->x.size = 1000000000;
  int sum = 0;
  for (unsigned i = 0; i < vertex->x.size; ++i)
    sum += AT(int, &vertex->x.data[i]); /* fault: LongVector */
  vertex->x.data[0] = sum;
  return true;
}

/* ---- stacks ---- */

static __attribute__((noinline)) int depth(volatile int *left)
{ /* fault: Recursion */
  volatile int frame[8];
  frame[0] = *left;
  if ((*left)-- == 0) return 1;
  return frame[0] + depth(left);
}

FAULT(Recursion)
{
  vertex->x.data[0] = 1000000;
  vertex->x.data[1] = depth(&vertex->x.data[0]);
  return true;
}

/* The stack of the worker after ours begins where ours ends. */
FAULT(StackOfAnother)
{
  AT(int, (uintptr_t)__builtin_frame_address(0) + 4) = 85; /* fault: StackOfAnother */
  return true;
}

/* ---- control ---- */

FAULT(Endless)
{
  for (;;) AT(int, vertex->x.data) = 85; /* fault: Endless */
  return true;
}

FAULT(Jump)
{
  ((void (*)(void))(uintptr_t)vertex->value)();
  return true;
}

FAULT(JumpToData)
{
  ((void (*)(void))(uintptr_t)vertex->x.data)();
  return true;
}

FAULT(JumpIntoAnInstruction)
{
  ((void (*)(void))((uintptr_t)&__runCodelet_JumpIntoAnInstruction + 2))();
  return true;
}

FAULT(NoInstruction)
{
  TILE_ASM(".word 0"); /* fault: NoInstruction */
  vertex->x.data[0] = 85;
  return true;
}

FAULT(Trap)
{
  __builtin_trap(); /* fault: Trap */
  return true;
}

/* Of the supervisor only: waits for the host. */
FAULT(HostSync)
{
  TILE_ASM(".word 0x0200002b"); /* fault: HostSync */
  vertex->x.data[0] = 85;
  return true;
}

/* An exchange instruction outside exchange code. */
FAULT(Send)
{
  TILE_ASM(".word 0x0600800b"); /* fault: Send */
  vertex->x.data[0] = 85;
  return true;
}

FAULT(MachineMode)
{
  TILE_ASM("csrw mstatus, zero"); /* fault: MachineMode */
  vertex->x.data[0] = 85;
  return true;
}

FAULT(EnvironmentCall)
{
  TILE_ASM("ecall"); /* fault: EnvironmentCall */
  vertex->x.data[0] = 85;
  return true;
}

/* ---- no faults ---- */

FAULT(Arithmetic)
{
  volatile int zero = 0, lowest = -2147483647 - 1, minus_one = -1, seven = 7, shift = 33;
  volatile float huge = 1e30f, nan = __builtin_nanf("");
  volatile half largest = (half)65504.0f;
  int *x = vertex->x.data;
  int quotient = 0, rest = 0, wrapped = 0, wrapped_rest = 0, shifted = 0;
  /* In assembly, because in C they are undefined. */
  TILE_ASM("div %0, %1, %2" : "=r"(quotient) : "r"(seven), "r"(zero));
  TILE_ASM("rem %0, %1, %2" : "=r"(rest) : "r"(seven), "r"(zero));
  TILE_ASM("div %0, %1, %2" : "=r"(wrapped) : "r"(lowest), "r"(minus_one));
  TILE_ASM("rem %0, %1, %2" : "=r"(wrapped_rest) : "r"(lowest), "r"(minus_one));
  TILE_ASM("sll %0, %1, %2" : "=r"(shifted) : "r"(seven), "r"(shift));
  x[0] = quotient;
  x[1] = rest;
  x[2] = wrapped;
  x[3] = wrapped_rest;
  x[4] = shifted;
  TILE_ASM("fcvt.w.s %0, %1, rtz" : "=r"(x[5]) : "f"(huge));
  TILE_ASM("fcvt.w.s %0, %1, rtz" : "=r"(x[6]) : "f"(nan));
  x[7] = (float)(half)(largest + largest) > 65504.0f; /* infinity */
  return true;
}

FAULT(ReturnsFalse)
{
  vertex->x.data[0] = 85;
  return false;
}
