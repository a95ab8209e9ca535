// Vertices of every kind, in the shapes that public codelets have. kinds.c holds some of them in C.
#include <poplar/Vertex.hpp>

using namespace poplar;

static constexpr auto ONE_PTR = VectorLayout::ONE_PTR;

// ---- kinds ----

// Each worker adds its number + 1 to its share of x.
class MultiAdd : public MultiVertex
{
public:
  InOut<Vector<unsigned>> x;

  bool compute(unsigned workerId)
  {
    for (unsigned i = workerId; i < x.size(); i += numWorkers()) x[i] += workerId + 1;
    return true;
  }
};

class WorkerAdd : public Vertex
{
public:
  InOut<Vector<unsigned>> x;
  unsigned k;

  bool compute()
  {
    for (unsigned &v : x) v += k;
    return true;
  }
};

class SupervisorAdd : public SupervisorVertex
{
public:
  InOut<Vector<unsigned>> x;
  unsigned k;

  __attribute__((target("supervisor"))) bool compute()
  {
    for (unsigned &v : x) v += k;
    return true;
  }
};

// Where a vertex finds its stack and what is each context's own.
thread_local unsigned counter = 100;

class SupervisorContext : public SupervisorVertex
{
public:
  Output<Vector<unsigned>> out;

  void compute()
  {
    alignas(16) volatile unsigned local[4] = {1, 2, 3, 4};
    out[0] = reinterpret_cast<uintptr_t>(local) % 16;
    out[1] = ++counter;
    out[2] = local[3];
  }
};

class MultiContext : public MultiVertex
{
public:
  Output<Vector<unsigned>> out;

  void compute(unsigned wid)
  {
    counter += wid;
    out[wid] = counter;
  }
};

// Faults.

class MultiTrap : public MultiVertex
{
public:
  InOut<Vector<unsigned>> x;
  bool compute(unsigned wid)
  {
    if (wid == 3) __builtin_trap();
    return true;
  }
};

class SupervisorTrap : public SupervisorVertex
{
public:
  InOut<Vector<unsigned>> x;
  void compute() { __builtin_trap(); }
};

// ---- results ----

struct VoidResult : Vertex {
  Output<unsigned> out;
  void compute() { *out = 11; }
};

struct TrailingResult : Vertex {
  Output<unsigned> out;
  auto compute() -> bool
  {
    *out = 12;
    return true;
  }
};

struct DeducedResult : MultiVertex {
  Output<Vector<unsigned, ONE_PTR>> out;
  auto compute(unsigned wid) { out[wid] = 13; }
};

// A constructor is declared, never defined and never called.
class NoFields : public SupervisorVertex
{
public:
  NoFields();
  static const unsigned limit = 4;
  static unsigned calls;
  bool compute() { return ++calls < limit; }
};
unsigned NoFields::calls;

// ---- templates ----

enum class Where { HERE, THERE };

template <typename T> constexpr bool onSupervisor()
{
  return sizeof(T) == 4;
}

namespace outer
{
namespace inner
{

enum class Op { ADD = 3, SUBTRACT };

// The kind depends on a parameter.
template <typename T, bool fast> class Fill : public SupervisorVertexIf<onSupervisor<T>() && fast>
{
public:
  Fill();
  Output<Vector<T>> out;
  T k;

  bool compute()
  {
    for (unsigned i = 0; i < out.size(); ++i) out[i] = k;
    return true;
  }
};
template class Fill<float, true>;
template class Fill<float, false>;
template class Fill<unsigned short, true>;

template <Op op, typename T, int n> class Apply : public MultiVertex
{
public:
  InOut<Vector<T, ONE_PTR>> x;
  const unsigned size;

  bool compute(unsigned wid)
  {
    for (unsigned i = wid; i < size; i += numWorkers()) x[i] += op == Op::ADD ? n : -n;
    return true;
  }
};
template class Apply<Op::ADD, unsigned, 5>;
template class Apply<Op::SUBTRACT, int, -2>;

// The arguments are the primary template's, whichever specialization they choose.
template <typename T, Op op> class Chosen : public Vertex
{
public:
  Output<T> out;
  bool compute() { return *out == static_cast<T>(op); }
};
template <typename T> class Chosen<T, Op::SUBTRACT> : public Vertex
{
public:
  Output<T> out;
  bool compute() { return *out == 0; }
};
template class Chosen<int, Op::ADD>;
template class Chosen<int, Op::SUBTRACT>;
template class Chosen<int, static_cast<Op>(7)>;

// A parameter whose type is another parameter.
template <typename T, T value> class Typed : public Vertex
{
public:
  Output<T> out;
  bool compute()
  {
    *out = value;
    return true;
  }
};
template class Typed<bool, true>;
template class Typed<char, 'a'>;
template class Typed<unsigned char, 200>;
template class Typed<unsigned short, 65535>;
template class Typed<Op, Op::SUBTRACT>;

} // namespace inner

// The base class, and with it the kind, is a parameter; compute() is overloaded and deduced.
template <class Base, typename T> class Based : public Base
{
public:
  Output<T> out;

  auto compute() { *out = 20; }
  auto compute(unsigned wid)
  {
    if (wid == 5) *out = 21;
    return true;
  }
};
template class Based<Vertex, unsigned long long>;
template class Based<MultiVertex, unsigned>;

} // namespace outer
