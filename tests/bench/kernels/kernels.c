/* Kernels to measure instruction rates with: freestanding, one chosen by -DKERNEL=<name>, ROUNDS times.
 *
 * A program ends with the Linux system call exit(checksum). qemu-riscv32 carries it out, and the
 * software IPU stops there. Working sets are those of codelets, some 10 KiB. */
typedef unsigned word;

enum { COUNT = 2048 };

static word words[COUNT], more_words[COUNT];
static float floats[COUNT], more_floats[COUNT];
static _Float16 halves[COUNT], more_halves[COUNT];

static word next_random(word x)
{
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ x << 5;
}

static void fill(void)
{
  word x = 1;
  for (int i = 0; i < COUNT; i++) {
    x = next_random(x);
    words[i] = x;
    floats[i] = (float)(x & 1023) - 500.0f;
    more_floats[i] = (float)(x >> 22) / 64.0f;
    halves[i] = (_Float16)((float)(x & 255) / 64.0f);
    more_halves[i] = (_Float16)((float)(x >> 24) / 256.0f);
  }
}

/* Table-driven CRC-32 and a state machine: loads, shifts, branches. */
static word crc(word seed)
{
  for (word i = 0; i < 256; i++) {
    word c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
    more_words[i] = c;
  }
  word sum = ~seed, state = 0;
  const unsigned char *bytes = (const unsigned char *)words;
  for (word i = 0; i < sizeof words; i++) {
    sum = sum >> 8 ^ more_words[(sum ^ bytes[i]) & 255];
    if (bytes[i] > 200)
      state = 0;
    else if (state < 7 && (bytes[i] & 1))
      state++;
  }
  return sum + state;
}

/* Radix sort of words. */
static word sort(word seed)
{
  word *from = words, *to = more_words;
  words[0] = seed;
  for (int shift = 0; shift < 32; shift += 8) {
    word start[257];
    for (int i = 0; i < 257; i++) start[i] = 0;
    for (int i = 0; i < COUNT; i++) start[(from[i] >> shift & 255) + 1]++;
    for (int i = 0; i < 256; i++) start[i + 1] += start[i];
    for (int i = 0; i < COUNT; i++) to[start[from[i] >> shift & 255]++] = from[i];
    word *swap = from;
    from = to;
    to = swap;
  }
  return from[seed % COUNT];
}

/* Products modulo a prime: multiply, divide, compare. */
static word primes(word seed)
{
  word found = 0;
  for (word n = 3 + (seed & 1); n < 4000; n += 2) {
    word divisor = 3;
    while (divisor * divisor <= n && n % divisor) divisor += 2;
    found += divisor * divisor > n;
  }
  return found;
}

static word dot(word seed)
{
  float sum = (float)(seed & 15);
  for (int i = 0; i < COUNT; i++) sum += floats[i] * more_floats[i];
  return (word)(int)sum;
}

static word relu(word seed)
{
  floats[0] = (float)(seed & 15);
  for (int i = 0; i < COUNT; i++) {
    float value = floats[i] + more_floats[i];
    floats[i] = value > 0 ? value : -1.0f;
  }
  return (word)(int)floats[seed % COUNT];
}

static word mandel(word seed)
{
  word total = 0;
  for (int y = 0; y < 16; y++)
    for (int x = 0; x < 32; x++) {
      float cr = (float)x / 16.0f - 1.5f, ci = (float)y / 8.0f - 1.0f, a = 0, b = 0;
      word n = 0;
      for (; n < 100 + (seed & 1) && a * a + b * b < 4.0f; n++) {
        float next = a * a - b * b + cr;
        b = 2.0f * a * b + ci;
        a = next;
      }
      total += n;
    }
  return total;
}

static word half_saxpy(word seed)
{
  _Float16 factor = (_Float16)(float)(seed & 3);
  for (int i = 0; i < COUNT; i++) more_halves[i] = factor * halves[i] - more_halves[i];
  return (word)(int)(float)more_halves[seed % COUNT];
}

word run(void)
{
  word sum = 0;
  fill();
  for (word round = 0; round < ROUNDS; round++) sum = sum * 31 + KERNEL(sum + round);
  return sum;
}

static char stack[8192];

__attribute__((naked, noreturn)) void _start(void)
{
  __asm__("mv sp, %0\n call run\n li a7, 93\n ecall" ::"r"(stack + sizeof stack));
}
