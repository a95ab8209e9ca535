// Codelets in C++: a class derived from poplar::Vertex with fields and a function compute().
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

// Codelets use memcpy, uint16_t and size_t without asking for them.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <poplar/HalfFloat.hpp>
#include <poplar/InOutTypes.hpp>

namespace poplar
{

class Vertex
{
}; // runs on one worker

} // namespace poplar

#endif
