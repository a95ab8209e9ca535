/* The vertices of tutorial 7 as a program of the form of kernels.c: compute sets of one tile,
 * ROUNDS times. It is linked with the object that popc made of them.
 *
 * 47 dot products of segments of 143 elements and 7 sums are the work of one of 1,472 tiles for a
 * matrix of 10000 x 1000. */
typedef struct {
  const float *data;
  unsigned size;
} span;

typedef struct {
  span a, b;
  float *out;
} dot_product;

typedef struct {
  span in;
  float *out;
} sum;

_Bool __runCodelet_DotProductVertex(void *state);
_Bool __runCodelet_ReduceVertex(void *state);

enum { DOT_PRODUCTS = 47, SEGMENT = 143, SUMS = 7, SPLIT = 7 };

static float matrix[DOT_PRODUCTS][SEGMENT], input[SEGMENT], partials[DOT_PRODUCTS], sums[SUMS];

static void multiply(void)
{
  for (unsigned i = 0; i < DOT_PRODUCTS; ++i) {
    dot_product vertex = {.a = {matrix[i], SEGMENT}, .b = {input, SEGMENT}, .out = &partials[i]};
    __runCodelet_DotProductVertex(&vertex);
  }
  for (unsigned i = 0; i < SUMS; ++i) {
    sum vertex = {.in = {&partials[i], SPLIT}, .out = &sums[i]};
    __runCodelet_ReduceVertex(&vertex);
  }
}

unsigned run(void)
{
  for (unsigned i = 0; i < SEGMENT; ++i)
    input[i] = (float)(i % 13) / 3; /* inexact: qemu is faster then */
  for (unsigned i = 0; i < DOT_PRODUCTS * SEGMENT; ++i)
    matrix[i / SEGMENT][i % SEGMENT] = (float)(i % 7);
  for (unsigned round = 0; round < ROUNDS; ++round) multiply();
  return (unsigned)sums[0];
}

static char stack[8192];

__attribute__((naked, noreturn)) void _start(void)
{
  __asm__("mv sp, %0\n call run\n li a7, 93\n ecall" ::"r"(stack + sizeof stack));
}
