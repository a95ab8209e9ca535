/* Kernels for the comparison of engines with the host: one, chosen by -DKERNEL=<name>, ROUNDS times.
 *
 * It is built in four ways, with the same results to the bit:
 *   host                 prints its checksum
 *   -DCODELET            by popc, for the CPU device: a vertex that writes its checksum
 *   -DLINUX              for qemu-riscv32: exit(checksum)
 *   -DTILE               for the software IPU: worker 0 runs it, the supervisor reports the
 *                        checksum to the host, and again for each answer
 *
 * Working sets fit a tile: at most 128 KiB; with -DSMALL next to nothing. */
#ifdef CODELET
#include <populus/vertex.h>
#endif

typedef unsigned word;

#ifdef SMALL
enum { FLOATS = 128, SIDE = 16, KEYS = 64, HALVES = 64, BYTES = 64 };
enum { ROWS = 4, COLUMNS = 8, ESCAPE = 16 };
#else
enum { FLOATS = 8192, SIDE = 128, KEYS = 4096, HALVES = 8192, BYTES = 8192 };
enum { ROWS = 16, COLUMNS = 32, ESCAPE = 100 };
#endif

static float a[2 * FLOATS], b[2 * FLOATS];
static word keys[KEYS], sorted[KEYS];
static _Float16 h[HALVES], g[HALVES];
static word crc_table[256];
static unsigned char bytes[BYTES];

static word next_random(word x)
{
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ x << 5;
}

static void fill(void)
{
  word x = 1;
  for (int i = 0; i < 2 * FLOATS; i++) {
    x = next_random(x);
    a[i] = (float)(x & 1023) - 500.0f;
    b[i] = (float)(x >> 22) / 64.0f;
  }
  for (int i = 0; i < HALVES; i++) {
    x = next_random(x);
    h[i] = (_Float16)((float)(x & 255) / 64.0f);
    g[i] = (_Float16)((float)(x >> 24) / 256.0f);
  }
  for (int i = 0; i < BYTES; i++) bytes[i] = (unsigned char)(x = next_random(x));
  for (word i = 0; i < 256; i++) {
    word c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
    crc_table[i] = c;
  }
}

/* Each is compiled as a function of its own, as a codelet is. */
#define KERNEL_FUNCTION __attribute__((noinline)) static word

KERNEL_FUNCTION dot(word seed)
{
  float sum = (float)(seed & 15);
  for (int i = 0; i < FLOATS; i++) sum += a[i] * b[i];
  return (word)(int)(sum * 1e-3f);
}

KERNEL_FUNCTION dot4(word seed)
{
  float s0 = (float)(seed & 15), s1 = 0, s2 = 0, s3 = 0;
  for (int i = 0; i < FLOATS; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  return (word)(int)((s0 + s1 + s2 + s3) * 1e-3f);
}

KERNEL_FUNCTION stencil(word seed)
{
  float *from = seed & 1 ? a : b, *to = seed & 1 ? b : a;
  for (int y = 1; y < SIDE - 1; y++)
    for (int x = 1; x < SIDE - 1; x++) {
      const float *at = from + y * SIDE + x;
      to[y * SIDE + x] = 0.2f * (at[0] + at[-1] + at[1] + at[-SIDE] + at[SIDE]);
    }
  return (word)(int)to[SIDE + 1 + seed % SIDE];
}

KERNEL_FUNCTION sort(word seed)
{
  word x = seed | 1, count[256];
  for (int i = 0; i < KEYS; i++) keys[i] = x = next_random(x);
  for (int gap = KEYS / 2; gap > 64; gap /= 2) /* shell sort, the coarse half */
    for (int i = gap; i < KEYS; i++) {
      word key = keys[i];
      int j = i;
      for (; j >= gap && keys[j - gap] > key; j -= gap) keys[j] = keys[j - gap];
      keys[j] = key;
    }
  for (int shift = 0; shift < 32; shift += 8) { /* radix sort */
    word *from = shift & 8 ? sorted : keys, *to = shift & 8 ? keys : sorted, sum = 0;
    for (int i = 0; i < 256; i++) count[i] = 0;
    for (int i = 0; i < KEYS; i++) count[from[i] >> shift & 255]++;
    for (int i = 0; i < 256; i++) {
      word n = count[i];
      count[i] = sum;
      sum += n;
    }
    for (int i = 0; i < KEYS; i++) to[count[from[i] >> shift & 255]++] = from[i];
  }
  return keys[seed % KEYS];
}

KERNEL_FUNCTION add_relu(word seed)
{
  float bias = (float)(seed & 15) - 8.0f;
  for (int i = 0; i < 2 * FLOATS; i++) {
    float value = a[i] + bias;
    b[i] = value > 0 ? value : 0;
  }
  return (word)(int)b[seed % FLOATS];
}

KERNEL_FUNCTION half_saxpy(word seed)
{
  _Float16 factor = (_Float16)(float)(seed & 3);
  for (int i = 0; i < HALVES; i++) g[i] = factor * h[i] - g[i];
  return (word)(int)(float)g[seed % HALVES];
}

KERNEL_FUNCTION mandelbrot(word seed)
{
  word total = 0;
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < COLUMNS; x++) {
      float cr = (float)x / 16.0f - 1.5f, ci = (float)y / 8.0f - 1.0f, re = 0, im = 0;
      word n = 0;
      for (; n < ESCAPE + (seed & 1) && re * re + im * im < 4.0f; n++) {
        float next = re * re - im * im + cr;
        im = 2.0f * re * im + ci;
        re = next;
      }
      total += n;
    }
  return total;
}

KERNEL_FUNCTION crc(word seed)
{
  word sum = ~seed, state = 0;
  for (word i = 0; i < BYTES; i++) {
    sum = sum >> 8 ^ crc_table[(sum ^ bytes[i]) & 255];
    if (bytes[i] > 200)
      state = 0;
    else if (state < 7 && (bytes[i] & 1))
      state++;
  }
  return sum + state;
}

#ifdef TILE
enum { CALLS = 4096 };

__attribute__((naked)) static void empty_vertex(void)
{
  __asm__("ret");
}

/* Calls of an empty vertex, as the worker's stub makes them. */
KERNEL_FUNCTION calls(word seed)
{
  for (word i = 0; i < CALLS; i++) {
    register void (*entry)(void) __asm__("t0") = empty_vertex;
    register word state __asm__("t1") = i;
    __asm__ volatile(".word 0x0c62802b" /* tile.call t0, t1 */
                     : "+r"(entry), "+r"(state)::"ra", "a0", "memory");
  }
  return seed;
}
#endif

static word run(void)
{
  word sum = 0;
  fill();
  for (word round = 0; round < ROUNDS; round++) sum = sum * 31 + KERNEL(sum + round);
  return sum;
}

#ifdef TILE
static char stacks[2][4096];
static word result;

__attribute__((used, noreturn)) static void worker(void)
{
  result = run();
  __asm__ volatile(".word 0x0800002b" ::: "memory"); /* tile.exit */
  __builtin_unreachable();
}

__attribute__((naked, noreturn)) static void start_worker(void)
{
  __asm__("mv sp, %0\n j worker" ::"r"(stacks[0] + sizeof stacks[0]));
}

__attribute__((used, noreturn)) static void supervisor(void)
{
  for (;;) {
    register void (*entry)(void) __asm__("t0") = start_worker;
    __asm__ volatile(".word 0x0402802b\n .word 0x0600002b" ::"r"(entry) : "memory"); /* run, wait */
    register word report __asm__("a0") = result;
    __asm__ volatile(".word 0x0205052b" : "+r"(report)::"memory"); /* tile.hostsync a0, a0 */
  }
}

__attribute__((naked, noreturn)) void _start(void)
{
  __asm__("mv sp, %0\n j supervisor" ::"r"(stacks[1] + sizeof stacks[1]));
}
#elif defined LINUX
static char stack[4096];

__attribute__((used)) static word program(void)
{
  return run();
}

__attribute__((naked, noreturn)) void _start(void)
{
  __asm__("mv sp, %0\n call program\n li a7, 93\n ecall" ::"r"(stack + sizeof stack));
}
#elif defined CODELET
typedef struct {
  OUTPUT(unsigned) sum;
} Kernel;

COMPUTE(Kernel)
{
  *vertex->sum = run();
  return true;
}
#else
int printf(const char *format, ...);

int main(void)
{
  printf("%u\n", run());
  return 0;
}
#endif
