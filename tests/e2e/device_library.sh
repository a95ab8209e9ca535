# A program that uses the device library compiles with the flags of libcodelet/device/README.md and
# links without an undefined symbol. One that needs a heap has an undefined symbol that names it.
# The first program then runs under qemu-riscv32 (which knows zfh), and its results are checked.
set -eu

device=$POPULUS_DATA_DIR/device
flags="--target=riscv32-unknown-elf -march=rv32imf_zfh_zba_zbb -mabi=ilp32f -mno-relax -mcmodel=medlow -fno-pic
  -mllvm -disable-constant-hoisting
  -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-math-errno
  -ffp-contract=off -nostdinc++ -nostdlibinc -O2 -Wall -Wextra -Werror"

# Both builds compile the same sources, as did earlier runs. ccache, if installed, keeps the
# objects.
ccache=$(command -v ccache) || ccache=

compile() { # <source> <object> [option]...
  source=$1 object=$2
  shift 2
  # shellcheck disable=SC2086 # words
  $ccache clang-19 $flags "$@" -isystem "$device/include/c++/v1" -isystem "$device/include" -c "$source" -o "$object"
}

relocatable() { # <object> <output>
  ld.lld-19 -r -m elf32lriscv --gc-sections --force-group-allocation -u run "$1" \
    "$device/lib/libdevice.a" "$device/lib/libc.a" "$device/lib/libgcc.a" -o "$2"
}

cat >library.cpp <<'EOF'
#include <algorithm>
#include <array>
#include <bitset>
#include <cassert>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

template <class T> static bool sorts()
{
  static T values[100];
  unsigned state = 1;
  for (T &value : values) value = T((state = state * 1664525 + 1013904223) >> 8 & 0x7f);
  std::sort(values, values + 100);
  bool plain = std::is_sorted(values, values + 100);
  std::sort(values, values + 100, std::greater<T>());
  std::stable_sort(values, values + 100);
  return plain && std::is_sorted(values, values + 100);
}

// memset and memcpy of 0 to 40 bytes, from all places in a word to all, and nothing around.
static bool sets_and_copies()
{
  static unsigned char from[48], to[48];
  for (unsigned i = 0; i < sizeof from; ++i) from[i] = (unsigned char)(i * 37 + 1);
  void *(*volatile set)(void *, int, size_t) = std::memset;
  void *(*volatile copy)(void *, const void *, size_t) = std::memcpy;
  for (unsigned at = 0; at < 4; ++at)
    for (unsigned source = 0; source < 4; ++source)
      for (unsigned size = 0; size <= 40; ++size) {
        if (set(to, 0x1a5, sizeof to) != to || copy(to + at, from + source, size) != to + at) return false;
        for (unsigned i = 0; i < sizeof to; ++i)
          if (to[i] != (i >= at && i < at + size ? from[i - at + source] : 0xa5)) return false;
        if (set(to + at, -2, size) != to + at) return false;
        for (unsigned i = 0; i < sizeof to; ++i)
          if (to[i] != (i >= at && i < at + size ? 0xfe : 0xa5)) return false;
      }
  return true;
}

// memcmp of strings that differ in one byte, or not at all.
static bool compares()
{
  alignas(4) static unsigned char x[24], y[24];
  int (*volatile compare)(const void *, const void *, size_t) = std::memcmp;
  for (unsigned i = 0; i < sizeof x; ++i) x[i] = y[i] = (unsigned char)(i * 53 + 120);
  for (unsigned at = 0; at < 4; ++at)
    for (unsigned size = 0; size <= 18; ++size)
      for (unsigned i = 0; i < sizeof x; ++i) {
        y[i] = (unsigned char)(x[i] + 100); /* some are less */
        int is = compare(x + at, y + at, size);
        bool differs = i >= at && i < at + size;
        if (differs ? (x[i] < y[i] ? is >= 0 : is <= 0) : is != 0) return false;
        if (at == 0 && (compare(x + 1, x + 2, size) < 0) != (size > 0 && x[1] < x[2])) return false;
        y[i] = x[i];
      }
  return true;
}

struct Base {
  virtual int number() const = 0;
  virtual int none() const = delete;
};
struct Derived : Base {
  int number() const override { return 7; }
  int none() const override = delete;
};

static bool near(double is, double wanted) { return std::abs(is - wanted) <= 1e-6 * std::abs(wanted); }

extern "C" uint64_t __udivdi3(uint64_t, uint64_t), __umoddi3(uint64_t, uint64_t);
extern "C" int64_t __divdi3(int64_t, int64_t), __moddi3(int64_t, int64_t);

// Returns the number of the first check that fails, 0 if none. Volatile: nothing is to be folded by the compiler.
extern "C" int run()
{
  volatile float two = 2, half_pi = 1.57079632679f;
  volatile double three = 3;
  volatile int64_t big = 1000000007000000009, small = -1000003;
  volatile uint64_t wide = 18446744073709551557u;

  if (!sorts<char>() || !sorts<signed char>() || !sorts<unsigned char>()) return 1;
  if (!sorts<short>() || !sorts<unsigned short>() || !sorts<int>() || !sorts<unsigned>()) return 2;
  if (!sorts<long>() || !sorts<unsigned long>() || !sorts<long long>() || !sorts<unsigned long long>()) return 3;
  if (!sorts<float>() || !sorts<double>() || !sorts<long double>()) return 4;

  if (!near(std::sqrt(two), 1.41421356) || !near(std::exp(two), 7.38905610) || !near(std::log(two), 0.693147181)) return 5;
  if (!near(std::sin(half_pi), 1) || !near(std::pow(two, 0.5f), 1.41421356) || !near(std::tanh(two), 0.964027580)) return 6;
  if (!near(std::erf(two), 0.995322265) || !near(std::fmod(7.5f, two), 1.5) || !near(std::round(-two / 3), -1)) return 7;
  if (!near(std::sqrt(three), 1.7320508075688772) || !near(std::exp(three), 20.085536923187668)) return 8;
  if (!near(three / 7 + three * three - 1, 8.428571428571429)) return 9;

  if (big / small != -999997007008 || big % small != 978985) return 10;
  if (wide / 10 != 1844674407370955155u || wide % 1000 != 557) return 11;
  if ((float)big != 1e18f || (int64_t)(three * 1e15) != 3000000000000000) return 12;

  // To single precision, where rounding begins: ties to even, what is just above them, the largest and the least.
  volatile int64_t tie = (1LL << 40) + (1LL << 16), above = tie + 1, odd = -((3LL << 40) + (3LL << 17)), least = INT64_MIN;
  if ((float)tie != 0x1p40f || (float)above != 0x1.000002p40f || (float)odd != -0x1.800004p41f || (float)least != -0x1p63f) return 19;
  volatile int64_t few = -3000000000, most = INT64_MAX;
  volatile uint64_t half_way = 0xffffff8000000000u, below = half_way - 1, all = ~0ull, exact = 0x80000000u;
  if ((float)few != -3e9f || (float)most != 0x1p63f || (float)half_way != 0x1p64f || (float)below != 0x1.fffffep63f) return 20;
  volatile float large = -0x1.fffffep62f, larger = 0x1.8p63f, few_and_half = -3e9f, negative = -1.5f, quarter = 0x1.8p31f;
  if ((int64_t)large != -0x7fffff8000000000 || (uint64_t)larger != 0xc000000000000000u || (int64_t)few_and_half != few) return 22;
  if ((int64_t)negative != -1 || (int64_t)quarter != 0xc0000000 || (uint64_t)quarter != 0xc0000000) return 23;
  if ((float)all != 0x1p64f || (float)exact != 0x1p31f || (float)small != -1000003.0f) return 21;

  // Quotients: of all sizes, where one more or less is wrong, by 0, of both signs.
  uint64_t random = 1;
  for (int round = 0; round < 2000; ++round) {
    uint64_t numbers[2];
    for (uint64_t &number : numbers) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      number = (random ^ random >> 29) >> (random >> 58);
    }
    uint64_t d = numbers[1] | 1, quotient = numbers[0] / d;
    volatile uint64_t multiple = quotient * d, just_below = multiple - 1, n = numbers[0], by = d;
    if (n % by != n - multiple || n % by >= d || multiple / by != quotient || (quotient && just_below / by != quotient - 1)) return 24;
    volatile int64_t a = (int64_t)numbers[0], b = -(int64_t)(d >> 1 | 1);
    if (a / b * b + a % b != a || (a % b < 0 ? -(a % b) : a % b) >= -b || (a % b != 0 && (a % b < 0) != (a < 0))) return 25;
  }
  // By 0, which the language leaves open and the tile's instructions for 32 bits do not.
  if (__udivdi3(wide, 0) != ~0ull || __umoddi3(wide, 0) != wide || __divdi3(small, 0) != -1 || __moddi3(small, 0) != small) return 26;
  if (least / -1 != least || least % -1 != 0 || all / all != 1 || all / 1 != all || (all - 1) / all != 0) return 27;

  volatile _Float16 tenth = (_Float16)0.1;
  if ((double)tenth != 0.0999755859375 || (_Float16)(three / 3e4) != (_Float16)1e-4f) return 13;
  if ((_Float16)big != (_Float16)INFINITY || (int64_t)(_Float16)(tenth * 1000) != 100) return 14;

  std::array<int, 5> numbers{1, 2, 3, 4, 5};
  if (std::accumulate(numbers.begin(), numbers.end(), 0) != 15 || std::numeric_limits<float>::max() != 3.40282347e38f) return 15;
  auto [a, b] = std::make_tuple(numbers[1], numbers[2]);
  std::swap(a, b);
  std::optional<int> none;
  if (a != 3 || none.value_or(4) != 4 || std::bitset<70>(7).count() != 3) return 16;

  char text[16];
  std::memset(text, 0, sizeof text);
  std::memcpy(text, "tile", 4);
  if (std::strlen(text) != 4 || std::string_view(text).find('l') != 2) return 17;
  if (!sets_and_copies()) return 28;
  if (!compares()) return 29;
  // Compilers compute truncf in place, unless it is called through a pointer.
  float (*volatile shorten)(float) = truncf;
  if (shorten(0x1.2a05f2p33f) != 0x1.2a05f2p33f || shorten(-2.75f) != -2 || shorten(0x1.fffffep22f) != 0x1.fffffcp22f) return 30;
  if (!std::signbit(shorten(-.5f)) || !std::isnan(shorten(NAN)) || shorten(-INFINITY) != -INFINITY) return 31;
  volatile float less_zero = -1e-20f, more = 3.5f, whole = -3;
  if (!near(std::lgamma(less_zero), 46.0517019) || !near(std::tgamma(less_zero), -1e20) || !near(std::lgamma(-less_zero), 46.0517019)) return 34;
  if (!near(std::lgamma(more), 1.20097360) || !near(std::tgamma(more), 3.32335097) || !std::isnan(std::tgamma(whole)) || std::lgamma(whole) != INFINITY) return 35;
  constexpr std::align_val_t aligned{32};
  if (operator new(96, aligned, std::nothrow) || operator new[](96, aligned, std::nothrow)) return 32;
  const Derived derived;
  const Base *volatile base = &derived;
  if (base->number() != 7) return 33;
  std::complex<float> z(two, 1);
  if (z * z != std::complex<float>(3, 4)) return 18;
  assert(a == 3);
  if (numbers.at((unsigned)a) != 4) std::abort();
  return 0;
}
EOF

for standard in 17 20 23; do
  compile library.cpp library.o -std=c++$standard
  relocatable library.o all.o
  undefined=$(llvm-nm-19 -u all.o)
  if [ -n "$undefined" ]; then
    echo "C++$standard: undefined: $undefined"
    exit 1
  fi
done

# binutils read lld's output without a complaint.
riscv64-unknown-elf-size all.o >size.txt 2>&1
[ "$(wc -l <size.txt)" -eq 2 ] || { cat size.txt; exit 1; }

cat >heap.cpp <<'EOF'
#include <vector>
extern "C" int run(int n)
{
  std::vector<int> numbers(n);
  return numbers[n - 1];
}
EOF
compile heap.cpp heap.o -std=c++17
relocatable heap.o all.o
[ "$(llvm-nm-19 -uC all.o | sed 's/^ *U //')" = "operator new(unsigned int)" ] ||
  { echo "std::vector: not the one undefined symbol that was expected"; llvm-nm-19 -uC all.o; exit 1; }

# Code in single precision only must not link additions of doubles, which are 9 KB.
cat >single.c <<'EOF'
#include <math.h>
float run(float x, long long n, unsigned long long m) { return sinf(x) + (float)n + (float)m + (float)(n - (long long)x) + (float)(m ^ (unsigned long long)x); }
EOF
compile single.c single.o
relocatable single.o all.o
if llvm-nm-19 all.o | grep -E '__(add|sub|mul)df3'; then
  echo "sinf, or a conversion of 64-bit integers, needs double precision"
  exit 1
fi

command -v qemu-riscv32 >/dev/null || { echo "no qemu-riscv32"; exit 77; }
cat >start.S <<'EOF'
  .globl _start
_start:
  call run
  li a7, 93 # exit
  ecall
EOF
compile library.cpp library.o -std=c++17
# qemu does not know the tile's own instructions. Their definition replaces the functions that are
# made of them.
# shellcheck disable=SC2086 # words
clang-19 $flags -I "$POPULUS_SOURCE_DIR/runtime" -isystem "$device/include" \
  -c "$POPULUS_SOURCE_DIR/tests/support/rv32/functions.c" -o functions.o
clang-19 --target=riscv32-unknown-elf -march=rv32imf_zfh -mabi=ilp32f -c start.S -o start.o
ld.lld-19 -m elf32lriscv --gc-sections start.o library.o functions.o \
  "$device/lib/libdevice.a" "$device/lib/libc.a" "$device/lib/libgcc.a" -o library
status=0
qemu-riscv32 -cpu rv32,Zfh=true,zba=true,zbb=true ./library || status=$?
[ "$status" -eq 0 ] || { echo "check $status failed"; exit 1; }
