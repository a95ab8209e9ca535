// Codelets in C++: a class derived from poplar::Vertex, MultiVertex or SupervisorVertex, with
// fields and a function compute().
//
//     #include <poplar/Vertex.hpp>
//
//     class SumVertex : public poplar::Vertex {
//     public:
//       poplar::Input<poplar::Vector<float>> in;
//       poplar::Output<float> out;
//       bool compute() { ... }
//     };
#ifndef POPLAR_VERTEX_HPP
#define POPLAR_VERTEX_HPP

#ifndef __cplusplus
#error "in C a vertex is a struct and a function, of <populus/vertex.h>"
#endif

// Codelets use memcpy, uint16_t and size_t without including their headers.
#include <populus/std_names.h>

#include <poplar/HalfFloat.hpp>
#include <poplar/InOutTypes.hpp>
#include <poplar/QuarterFloat.hpp>

namespace poplar
{

class VertexBase
{
};

// compute() runs on one worker.
class Vertex : public VertexBase
{
};

// compute(unsigned workerId) runs on all workers of the tile at once, each with its number.
class MultiVertex : public VertexBase
{
public:
  static constexpr unsigned numWorkers() { return 6; }
};

// compute() runs on the supervisor, while no worker of the tile does.
class SupervisorVertex : public VertexBase
{
public:
  static constexpr unsigned numWorkers() { return 6; }
};

namespace populus_detail
{

template <bool onSupervisor> struct VertexIf {
  using type = Vertex;
};
template <> struct VertexIf<true> {
  using type = SupervisorVertex;
};

} // namespace populus_detail

template <bool onSupervisor>
using SupervisorVertexIf = typename populus_detail::VertexIf<onSupervisor>::type;

} // namespace poplar

#endif
