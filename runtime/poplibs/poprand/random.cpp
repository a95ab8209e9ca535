// Random numbers: populus/poprand.h. `runs` are the positions of `out`'s elements in the whole
// tensor: the begin and end of each run, in order.
#include <cmath>
#include <ipu_builtins.h>
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace poprand
{

enum class Kind { UNIFORM, NORMAL, TRUNCATED_NORMAL, BERNOULLI };

// Philox4x32-10: four words for each counter and key.
class Philox
{
  unsigned key[2], counter[4], words[4], left = 0;

  static unsigned high(unsigned a, unsigned b)
  {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
  }
  void round(unsigned k0, unsigned k1)
  {
    constexpr unsigned M0 = 0xd2511f53, M1 = 0xcd9e8d57;
    unsigned h0 = high(M0, words[0]), l0 = M0 * words[0];
    unsigned h1 = high(M1, words[2]), l1 = M1 * words[2];
    words[0] = h1 ^ words[1] ^ k0;
    words[1] = l1;
    words[2] = h0 ^ words[3] ^ k1;
    words[3] = l0;
  }
  void fill()
  {
    constexpr unsigned W0 = 0x9e3779b9, W1 = 0xbb67ae85, ROUNDS = 10;
    for (unsigned i = 0; i < 4; ++i) words[i] = counter[i];
    for (unsigned i = 0; i < ROUNDS; ++i) round(key[0] + i * W0, key[1] + i * W1);
    ++counter[1];
    left = 4;
  }

public:
  // The generator of one element.
  Philox(const unsigned *seed, unsigned modifier, unsigned element)
      : key{seed[0], seed[1]}, counter{element, 0, modifier, 0}
  {
  }
  unsigned next()
  {
    if (left == 0) fill();
    return words[--left];
  }
};

// The worker's hardware generator. The host has none: it increments a counter and mixes it
// (splitmix64: Steele, Lea and Flood, 2014).
struct Hardware {
#ifdef __riscv
  unsigned next() { return __builtin_ipu_urand32(); }
#else
  unsigned next()
  {
    static unsigned long long counter;
    constexpr unsigned long long step = 0x9e3779b97f4a7c15;
    unsigned long long x = __atomic_add_fetch(&counter, step, __ATOMIC_RELAXED);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return static_cast<unsigned>((x ^ x >> 31) >> 32);
  }
#endif
};

template <typename Source> float unit(Source &source) // [0, 1)
{
  return float(source.next() >> 8) * 0x1p-24f;
}
template <typename Source> float normal(Source &source)
{
  float radius = std::sqrt(-2 * std::log(1 - unit(source)));
  return radius * std::cos(6.2831853f * unit(source));
}

struct Parameters {
  float a, b, c;
};

template <Kind kind, typename T, typename Source> T draw(Source source, const Parameters &p)
{
  if constexpr (kind == Kind::BERNOULLI) {
    return static_cast<T>(unit(source) < p.a ? 1 : 0);
  } else if constexpr (kind == Kind::UNIFORM) {
    float x = p.a + unit(source) * (p.b - p.a);
    const T value = static_cast<T>(x); // either may have been rounded up to b
    return static_cast<float>(value) < p.b ? value : static_cast<T>(p.a);
  } else {
    float x = normal(source);
    if (kind == Kind::TRUNCATED_NORMAL)
      while (std::fabs(x) > p.c) x = normal(source);
    return static_cast<T>(p.a + p.b * x);
  }
}
// Integers of a range of up to 2^32, equally likely to within 2^-32.
template <typename Source> int drawInteger(Source source, int lowest, unsigned range)
{
  unsigned word = source.next();
  unsigned long long product = static_cast<unsigned long long>(word) * range;
  return static_cast<int>(static_cast<unsigned>(lowest) +
                          (range ? static_cast<unsigned>(product >> 32) : word));
}

// Calls give(position in out, position in the tensor) for the worker's elements.
template <typename Runs, typename Give>
void share(const Runs &runs, unsigned worker, unsigned workers, Give give)
{
  unsigned begin = 0, position = worker; // begin of the run in out; the worker's next position
  for (unsigned r = 0; r < runs.size(); r += 2) {
    unsigned first = runs[r], end = begin + (runs[r + 1] - first);
    for (; position < end; position += workers) give(position, first + (position - begin));
    begin = end;
  }
}

template <Kind kind, typename T> class Draw : public MultiVertex
{
public:
  Input<Vector<unsigned>> runs;
  Input<Vector<unsigned>> seed;
  Output<Vector<T>> out;
  unsigned modifier;
  bool seeded;
  float a, b, c;

  bool compute(unsigned worker)
  {
    Parameters p = {a, b, c};
    share(runs, worker, numWorkers(), [&](unsigned at, unsigned element) {
      out[at] = seeded ? draw<kind, T>(Philox(&seed[0], modifier, element), p)
                       : draw<kind, T>(Hardware(), p);
    });
    return true;
  }
};
template class Draw<Kind::UNIFORM, float>;
template class Draw<Kind::UNIFORM, half>;
template class Draw<Kind::NORMAL, float>;
template class Draw<Kind::NORMAL, half>;
template class Draw<Kind::TRUNCATED_NORMAL, float>;
template class Draw<Kind::TRUNCATED_NORMAL, half>;
template class Draw<Kind::BERNOULLI, float>;
template class Draw<Kind::BERNOULLI, half>;
template class Draw<Kind::BERNOULLI, int>;

class DrawInteger : public MultiVertex
{
public:
  Input<Vector<unsigned>> runs;
  Input<Vector<unsigned>> seed;
  Output<Vector<int>> out;
  unsigned modifier;
  bool seeded;
  int lowest;
  unsigned range; // 0: 2^32

  bool compute(unsigned worker)
  {
    share(runs, worker, numWorkers(), [&](unsigned at, unsigned element) {
      out[at] = seeded ? drawInteger(Philox(&seed[0], modifier, element), lowest, range)
                       : drawInteger(Hardware(), lowest, range);
    });
    return true;
  }
};

template <typename T> class Dropout : public MultiVertex
{
public:
  Input<Vector<unsigned>> runs;
  Input<Vector<unsigned>> seed;
  Input<Vector<T>> in;
  Output<Vector<T>> out;
  unsigned modifier;
  bool seeded;
  float a, scale; // a: the probability to keep

  bool compute(unsigned worker)
  {
    Parameters p = {a, 0, 0};
    share(runs, worker, numWorkers(), [&](unsigned at, unsigned element) {
      float keep = seeded ? draw<Kind::BERNOULLI, float>(Philox(&seed[0], modifier, element), p)
                          : draw<Kind::BERNOULLI, float>(Hardware(), p);
      out[at] = static_cast<T>(keep != 0 ? float(in[at]) * scale : 0.0f);
    });
    return true;
  }
};
template class Dropout<float>;
template class Dropout<half>;

// Seeds for the generators of a tile's workers, four words each.
class Seeds : public Vertex
{
public:
  Input<Vector<unsigned>> seed;
  Output<Vector<unsigned>> out;
  unsigned modifier, first; // position of the tile's first word among those of all tiles

  bool compute()
  {
    for (unsigned i = 0; i < out.size(); i += 4) {
      Philox source(&seed[0], modifier, first + i);
      for (unsigned k = 0; k < 4; ++k) out[i + k] = source.next() | (k == 0); // never all zero
    }
    return true;
  }
};

} // namespace poprand
