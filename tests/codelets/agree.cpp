// What tile and host must compute alike to the last bit: tests/unit/cpu/agree.c runs each vertex on both.
//
// Every vertex turns 64 words into 64 words. Of the mathematical functions there are those whose
// result is exact or correctly rounded (sqrt, fma, rounding, taking numbers apart): of others two
// libraries may give different last bits. Which NaN comes out is left to the processor: all are
// written as one. Conversions that C leaves undefined are kept away by clamping first.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <poplar/QuarterFloat.hpp>
#include <poplar/Vertex.hpp>

using namespace poplar;

class Words : public Vertex
{
public:
  Input<Vector<unsigned>> in;
  Output<Vector<unsigned>> out;

  unsigned word(unsigned i) const { return in[i % in.size()]; }
};

template <typename To, typename From> static To bits_as(From from)
{
  static_assert(sizeof(To) == sizeof from, "another size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

static float to_float(unsigned word)
{
  return bits_as<float>(word);
}
static half to_half(unsigned word)
{
  return bits_as<half>(static_cast<unsigned short>(word));
}
static double to_double(unsigned high, unsigned low)
{
  return bits_as<double>(static_cast<unsigned long long>(high) << 32 | low);
}

static unsigned fold(unsigned long long x)
{
  return static_cast<unsigned>(x ^ x >> 32);
}
static unsigned fold(float x)
{
  return x != x ? 0x7fc00000u : bits_as<unsigned>(x);
}
static unsigned fold(half x)
{
  return x != x ? 0x7e00u : bits_as<unsigned short>(x);
}
static unsigned fold(double x)
{
  return x != x ? 0x7ff80000u : fold(bits_as<unsigned long long>(x) * 0x9e3779b97f4a7c15u);
}

static unsigned mix(unsigned a, unsigned b)
{
  return (a ^ b) * 0x01000193u + (a >> 15);
}

// ---- integers ----

class Unsigned32 : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      unsigned a = word(i), b = word(i + 1);
      out[i] =
          mix(a + b * 3, mix(b ? a / b : 1, b ? a % b : 2)) + (a << (b & 31)) + (a >> (b & 31));
    }
    return true;
  }
};

class Signed32 : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      int a = static_cast<int>(word(i)), b = static_cast<int>(word(i + 1) | 1);
      if (b == -1) b = 7;
      out[i] = mix(static_cast<unsigned>(a / b), static_cast<unsigned>(a % b)) +
               static_cast<unsigned>(a >> (i & 31)) + static_cast<unsigned>(a < b);
    }
    return true;
  }
};

class Unsigned64 : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      unsigned long long a = static_cast<unsigned long long>(word(i)) << 32 | word(i + 1);
      unsigned long long b = static_cast<unsigned long long>(word(i + 2)) << (i % 33) | 1;
      out[i] = mix(fold(a * b), mix(fold(a / b), fold(a % b))) + fold(a << (b & 63)) +
               fold(a >> (b & 63)) + (a < b);
    }
    return true;
  }
};

class Signed64 : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      long long a = static_cast<int>(word(i)), b = static_cast<int>(word(i + 1));
      long long product = a * b, divisor = b ? b : 3;
      out[i] = mix(fold(static_cast<unsigned long long>(product)),
                   fold(static_cast<unsigned long long>((product + a) / divisor))) +
               fold(static_cast<unsigned long long>(product % divisor)) +
               fold(static_cast<unsigned long long>(product >> (i & 63)));
    }
    return true;
  }
};

class Bits : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      unsigned a = word(i), turn = i & 31;
      unsigned rotated = a << turn | a >> (-turn & 31);
      out[i] = mix(rotated, __builtin_bswap32(a)) +
               static_cast<unsigned>(__builtin_popcount(a)) * 5 +
               (a ? static_cast<unsigned>(__builtin_clz(a) * 64 + __builtin_ctz(a)) : 99);
    }
    return true;
  }
};

class Narrow : public Words
{
  struct Fields {
    unsigned a : 5;
    int b : 11;
    unsigned c : 16;
  };

public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      unsigned a = word(i);
      auto c = static_cast<char>(a);
      auto s = static_cast<short>(a >> 3);
      auto u = static_cast<unsigned char>(c * s);
      Fields f = {a & 31, s >> 5, a >> 16};
      f.b += c;
      f.c = static_cast<unsigned>(f.c + u) & 0xffff;
      out[i] = mix(static_cast<unsigned>(c) + u, static_cast<unsigned>(f.b) + f.c * 32 + f.a);
    }
    return true;
  }
};

// ---- floating point ----

class FloatArithmetic : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      float a = to_float(word(i)), b = to_float(word(i + 1)), c = to_float(word(i + 2));
      out[i] = mix(fold(a + b), mix(fold(a - b), mix(fold(a * b), fold(a / b)))) + fold(a * b + c);
    }
    return true;
  }
};

class FloatCompare : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      float a = to_float(word(i)), b = to_float(word(i + 1));
      unsigned all = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 |
                     (a >= b) << 5 | !(a < b) << 6 | std::isnan(a) << 7 | std::isinf(a) << 8 |
                     std::signbit(a) << 9 | std::isnormal(a) << 10;
      out[i] = mix(all, fold(a < b ? a : b)) + fold(std::fabs(a)) + fold(std::copysign(b, a));
    }
    return true;
  }
};

class FloatRounding : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      // Halves and quarters, then anything.
      float a = i % 2 ? to_float(word(i)) : static_cast<float>(static_cast<short>(word(i))) / 4;
      out[i] = mix(fold(std::floor(a)), fold(std::ceil(a))) + fold(std::trunc(a)) * 3 +
               fold(std::rint(a)) * 5 + fold(std::round(a)) * 7;
    }
    return true;
  }
};

class SquareRootAndFma : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      float a = to_float(word(i)), b = to_float(word(i + 1)), c = to_float(word(i + 2));
      out[i] = mix(fold(std::sqrt(std::fabs(a))), fold(std::fma(a, b, c))) + fold(std::sqrt(a)) +
               fold(std::fma(a, a, -(a * a)));
    }
    return true;
  }
};

class FloatParts : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      float a = to_float(word(i)), b = to_float(word(i + 1)), whole = 0;
      int exponent = 0;
      float fraction = std::isfinite(a) ? std::frexp(a, &exponent) : 0.0f;
      float rest = std::modf(a, &whole);
      out[i] = mix(fold(fraction) + static_cast<unsigned>(exponent), mix(fold(rest), fold(whole))) +
               fold(std::ldexp(b, static_cast<int>(i) - 32)) * 3 + fold(std::fmod(a, b)) * 5 +
               fold(std::nextafter(a, b)) * 7;
    }
    return true;
  }
};

class DoubleArithmetic : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      double a = to_double(word(i), word(i + 1)), b = to_float(word(i + 2));
      out[i] = mix(mix(fold(a + b), fold(a - b)), mix(fold(a * b), fold(b / a))) +
               fold(std::sqrt(std::fabs(a))) + fold(static_cast<float>(a)) + (a < b);
    }
    return true;
  }
};

class HalfArithmetic : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      half a = to_half(word(i)), b = to_half(word(i) >> 16), c = to_half(word(i + 1));
      half sum = a;
      for (unsigned k = 0; k < 4; ++k) sum += b * to_half(word(i + k));
      out[i] = mix(fold(static_cast<half>(a * b + c)), fold(static_cast<half>(a / b - c))) +
               fold(sum) * 3 + (a < b) + fold(static_cast<half>(-a));
    }
    return true;
  }
};

class HalfConversions : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      half h = to_half(word(i));
      float f = to_float(word(i));
      double d = to_double(0x3f000000u ^ (word(i) & 0x81ffffffu), word(i + 1));
      half small = std::isfinite(static_cast<float>(h)) ? h : static_cast<half>(1);
      out[i] = mix(fold(static_cast<half>(f)), fold(static_cast<float>(h))) +
               fold(static_cast<half>(d)) * 3 + static_cast<unsigned>(static_cast<int>(small)) +
               fold(static_cast<half>(static_cast<int>(word(i) % 131072) - 65536)) * 5;
    }
    return true;
  }
};

class HalfFunctions : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      half a = to_half(word(i)), b = to_half(word(i + 1));
      out[i] = mix(fold(std::sqrt(a)), fold(std::fabs(b))) + fold(std::floor(a)) * 3 +
               fold(a < b ? b : a);
    }
    return true;
  }
};

// All codes of both formats, with any scale; numbers that become quarters by rounding.
class Quarters : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      quarter_metadata from = unpackMetadata(static_cast<MetadataType>(word(i + 1)));
      quarter_metadata to = unpackMetadata(static_cast<MetadataType>(word(i + 1) >> 8));
      quarter code = {static_cast<unsigned char>(word(i) >> 4)};
      unsigned rounded = toQuarter(to_float(word(i)), to, i % 2 != 0).value;
      unsigned product = toQuarter(toFloat(code, from) * toHalf(code, to), from).value;
      out[i] = mix(fold(toFloat(code, from)), fold(toHalf(code, to))) + rounded + product * 3 +
               toQuarter(code, from, to).value * 5 + packMetadata(from) * 7;
    }
    return true;
  }
};

// ---- conversions ----

// Saturating, in the order that C defines: clamp, then convert.
template <typename To> static To saturate(float value, float low, float high)
{
  if (!(value > low)) return static_cast<To>(low); // also NaN
  if (value > high) return static_cast<To>(high);
  return static_cast<To>(value);
}

class Saturate : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      float a = to_float(word(i));
      out[i] = mix(static_cast<unsigned>(saturate<signed char>(a, -128, 127)),
                   static_cast<unsigned>(saturate<int>(a, -0x1p31f, 0x1.fffffep30f))) +
               saturate<unsigned>(a, 0, 0x1.fffffep31f) * 3 +
               fold(static_cast<unsigned long long>(saturate<long long>(a, -0x1p63f, 0x1p62f))) +
               fold(saturate<unsigned long long>(a, 0, 0x1p63f)) +
               saturate<unsigned short>(a * 0x1p-20f, 0, 65535);
    }
    return true;
  }
};

class ToFloat : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      unsigned a = word(i);
      unsigned long long wide =
          (static_cast<unsigned long long>(a) << 32 | word(i + 1)) >> (i & 63);
      out[i] = mix(fold(static_cast<float>(a)), fold(static_cast<float>(static_cast<int>(a)))) +
               fold(static_cast<float>(wide)) * 3 + fold(static_cast<double>(wide)) * 5 +
               fold(static_cast<float>(static_cast<long long>(wide))) * 7;
    }
    return true;
  }
};

// ---- control, memory ----

class SwitchTable : public Words
{
  static unsigned step(unsigned op, unsigned x)
  {
    switch (op % 11) {
    case 0:
      return x + 17;
    case 1:
      return x * 5;
    case 2:
      return x ^ 0xff00ff;
    case 3:
      return x >> 3;
    case 4:
      return ~x;
    case 5:
      return x - op;
    case 6:
      return x << 7 | x >> 25;
    case 7:
      return x & 0x7fffffff;
    case 8:
      return x | op;
    case 9:
      return x / 3;
    default:
      return x % 1000003;
    }
  }

public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      unsigned x = word(i);
      for (unsigned k = 0; k < 16; ++k) x = step(word(i + k) >> (x & 15), x);
      out[i] = x;
    }
    return true;
  }
};

class NestedLoops : public Words
{
public:
  bool compute()
  {
    constexpr unsigned N = 8;
    for (unsigned row = 0; row < N; ++row) {
      for (unsigned column = 0; column < N; ++column) {
        float sum = 0;
        for (unsigned k = 0; k < N; ++k)
          sum += static_cast<float>(static_cast<short>(in[row * N + k])) *
                 (static_cast<float>(static_cast<short>(in[k * N + column])) / 3);
        out[row * N + column] = fold(sum);
      }
    }
    return true;
  }
};

class Sorted : public Words
{
  struct Pair {
    int key;
    unsigned place;
  };

public:
  bool compute()
  {
    Pair pairs[64];
    unsigned n = out.size() < 64 ? out.size() : 64;
    for (unsigned i = 0; i < n; ++i) pairs[i] = {static_cast<int>(word(i)) % 40, i};
    for (unsigned i = 1; i < n; ++i) { // stable
      Pair p = pairs[i];
      unsigned k = i;
      for (; k && p.key < pairs[k - 1].key; --k) pairs[k] = pairs[k - 1];
      pairs[k] = p;
    }
    for (unsigned i = 0; i < n; ++i)
      out[i] = static_cast<unsigned>(pairs[i].key) << 8 | pairs[i].place;
    return true;
  }
};

class Heap : public Words
{
public:
  bool compute()
  {
    unsigned *first = out.begin();
    for (unsigned i = 0; i < out.size(); ++i) first[i] = word(i);
    std::make_heap(first, first + out.size());
    std::pop_heap(first, first + out.size());
    std::sort_heap(first, first + out.size() - 1);
    std::reverse(first, first + 9);
    std::rotate(first, first + 5, first + out.size());
    return true;
  }
};

class Strings : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      char text[40], copy[40];
      std::memset(text, 0, sizeof text);
      for (unsigned k = 0; k < 32; ++k) text[k] = static_cast<char>('a' + (word(i + k) >> k) % 7);
      text[8 + word(i) % 25] = '\0';
      std::memcpy(copy, text, sizeof copy);
      std::memmove(copy + 3, copy, 20);
      const char *found = std::strchr(text, 'c');
      const char *pair = std::strstr(copy, "ab");
      int order = std::strcmp(text, copy), block = std::memcmp(text, copy, sizeof copy);
      out[i] = static_cast<unsigned>(std::strlen(text)) |
               (found ? static_cast<unsigned>(found - text) : 63u) << 6 |
               (pair ? static_cast<unsigned>(pair - copy) : 63u) << 12 |
               static_cast<unsigned>(order < 0) << 18 | static_cast<unsigned>(order > 0) << 19 |
               static_cast<unsigned>(block < 0) << 20 | static_cast<unsigned>(copy[22]) << 21;
    }
    return true;
  }
};

// Loops that are gone when the templates are instantiated.
template <typename T, T... Coefficients> static T horner(T x)
{
  T sum = 0;
  ((sum = sum * x + Coefficients), ...);
  return sum;
}

class Templates : public Words
{
public:
  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) {
      unsigned x = word(i);
      out[i] = mix(horner<unsigned, 3, 1, 4, 1, 5, 9>(x),
                   fold(horner<unsigned long long, 2, 7, 1, 8>(x))) +
               horner<unsigned short, 1, 2, 3>(static_cast<unsigned short>(x));
    }
    return true;
  }
};

class Crc : public Words
{
public:
  bool compute()
  {
    unsigned table[16], crc = ~0u;
    for (unsigned i = 0; i < 16; ++i) {
      table[i] = i;
      for (unsigned k = 0; k < 4; ++k)
        table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320u : table[i] >> 1;
    }
    for (unsigned i = 0; i < out.size(); ++i) {
      for (unsigned k = 0; k < 32; k += 4) crc = crc >> 4 ^ table[(crc ^ word(i) >> k) & 15];
      out[i] = ~crc;
    }
    return true;
  }
};

// Products of 64 bits by few constants, rotated, as hashes have them. (LLVM 19 loses the lower word of a constant that it has hoisted.)
class LaneHash : public Words
{
  static unsigned long long rotate(unsigned long long x, unsigned by)
  {
    return x << by | x >> (64 - by);
  }

public:
  bool compute()
  {
    const unsigned long long p1 = 0x9e3779b185ebca87u, p2 = 0xc2b2ae3d27d4eb4fu;
    unsigned long long lanes[4] = {p1 + p2, p2, 0, 0 - p1};
    for (unsigned i = 0; i + 8 <= out.size(); i += 8) {
      for (unsigned k = 0; k < 4; ++k) {
        unsigned long long next =
            static_cast<unsigned long long>(word(i + 2 * k + 1)) << 32 | word(i + 2 * k);
        lanes[k] = rotate(lanes[k] + next * p2, 31) * p1;
      }
    }
    unsigned long long hash =
        rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (unsigned k = 0; k < 4; ++k) hash = (hash ^ rotate(lanes[k] * p2, 31) * p1) * p1;
    for (unsigned i = 0; i < out.size(); ++i) out[i] = fold(hash + i);
    return true;
  }
};
