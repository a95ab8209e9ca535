// Codelets that need stack in many ways: tests/unit/compiler/painted_stack.c compares what the analysis says of
// each with what it really touches. Every vertex works on the same two fields.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <poplar/StackSizeDefs.hpp>
#include <poplar/Vertex.hpp>
#include <print.h>

using namespace poplar;

#define NOINLINE __attribute__((noinline))

class Words : public Vertex
{
public:
  InOut<Vector<int>> words;
  Output<Vector<float>> floats;
};

struct NoStack : Words {
  bool compute()
  {
    floats[0] = static_cast<float>(words[0]);
    return true;
  }
};

// Frames of many sizes, through several levels.
template <unsigned size> NOINLINE int fill(int *words, unsigned count)
{
  std::array<int, size> copy;
  for (unsigned i = 0; i < size; ++i) copy[i] = words[(i * 7) % count];
  asm volatile("" : : "r"(copy.data()) : "memory");
  if constexpr (size > 3) copy[1] += fill<size / 2>(copy.data(), size);
  return copy[size - 1] + copy[1];
}

template <unsigned size> struct Frames : Words {
  bool compute()
  {
    words[0] = fill<size>(&words[0], words.size());
    return true;
  }
};
template struct Frames<3>;
template struct Frames<10>;
template struct Frames<100>;
template struct Frames<600>;

struct Aligned : Words {
  static NOINLINE void spread(int *words, unsigned count)
  {
    alignas(64) char bytes[100];
    for (unsigned i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<char>(words[i % count]);
    asm volatile("" : : "r"(bytes) : "memory");
    words[0] += bytes[3];
  }
  bool compute()
  {
    spread(&words[0], words.size());
    return true;
  }
};

struct Sort : Words {
  bool compute()
  {
    std::sort(words.begin(), words.end());
    return true;
  }
};

struct SortBackwards : Words {
  bool compute()
  {
    std::sort(words.begin(), words.end(), [](int a, int b) { return a > b; });
    return true;
  }
};

struct Merge : Words {
  bool compute()
  {
    std::inplace_merge(words.begin(), words.begin() + words.size() / 2, words.end());
    return true;
  }
};

extern "C" int stacks_compare(const void *a, const void *b)
{
  int x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}
DEF_FUNC_CALL_PTRS(qsort, stacks_compare);

struct QuickSort : Words {
  bool compute()
  {
    qsort(&words[0], words.size(), sizeof words[0], stacks_compare);
    return true;
  }
};

// Recursion whose depth is stated, with work in front of and behind the call.
extern "C" NOINLINE unsigned stacks_sum(const int *words, unsigned first, unsigned last)
{
  if (last - first == 1) return static_cast<unsigned>(words[first]);
  unsigned middle = first + (last - first) / 2;
  return 3 * stacks_sum(words, first, middle) + stacks_sum(words, middle, last);
}
DEF_RECURSION_LEVELS(9, stacks_sum); // of 256 words

struct Recursive : Words {
  bool compute()
  {
    words[0] = static_cast<int>(stacks_sum(&words[0], 0, std::min(words.size(), 256u)));
    return true;
  }
};

struct Switch : Words {
  static NOINLINE int step(int x)
  {
    switch (x & 7) {
    case 0:
      return fill<4>(&x, 1);
    case 1:
      return fill<16>(&x, 1);
    case 2:
      return x * 5;
    case 3:
      return fill<64>(&x, 1) - 3;
    case 4:
      return x / 3;
    case 5:
      return std::abs(x);
    default:
      return x + 1;
    }
  }
  bool compute()
  {
    for (auto &word : words) word = step(word);
    return true;
  }
};

struct Mathematics : Words {
  bool compute()
  {
    for (unsigned i = 0; i < floats.size(); ++i) {
      float x = static_cast<float>(words[i % words.size()]);
      floats[i] = std::sin(x) + std::exp(std::fmod(x, 10.0f)) + std::pow(std::fabs(x), 0.3f) +
                  std::lgamma(x);
    }
    return true;
  }
};

struct Doubles : Words {
  bool compute()
  {
    double x = words[0];
    floats[0] =
        static_cast<float>(std::sin(1e20 * x) + std::pow(std::fabs(x), 1.7) / std::tgamma(3.3));
    return true;
  }
};

struct Integers : Words {
  bool compute()
  {
    long long x = static_cast<long long>(words[0]) << 20;
    words[0] = static_cast<int>(x / (words[1] | 1) % 1000003);
    return true;
  }
};

struct Text : Words {
  bool compute()
  {
    char digits[] = "0x1p-3 and 271828";
    digits[3] = static_cast<char>('0' + (words[0] & 7));
    char *end;
    floats[0] = static_cast<float>(std::strtod(digits, &end));
    words[0] = static_cast<int>(std::strtol(end + 4, nullptr, 10));
    return true;
  }
};

struct Print : Words {
  bool compute()
  {
    printf("%d %f %s\n", words[0], 0.5, "text");
    return true;
  }
};

class Workers : public MultiVertex
{
public:
  InOut<Vector<int>> words;
  Output<Vector<float>> floats;
  bool compute(unsigned worker)
  {
    if (worker == 0) words[0] = fill<40>(&words[0], words.size());
    return true;
  }
};
