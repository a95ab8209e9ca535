// Layouts of vectors in a vertex, for estimates of its cycles (FieldData::getProfilerVectorLayout).
// Codelets choose theirs from poplar/VectorTypes.hpp.
#ifndef POPLAR_VECTORLAYOUT_HPP
#define POPLAR_VECTORLAYOUT_HPP

namespace poplar
{
namespace layout
{

enum class Vector { NotAVector, Span, ShortSpan, OnePtr, ScaledPtr32, ScaledPtr64, ScaledPtr128 };
enum class VectorList {
  NotAVector,
  OnePtr,
  ScaledPtr32,
  ScaledPtr64,
  ScaledPtr128,
  DeltaN,
  DeltaNElements
};

} // namespace layout
} // namespace poplar

#endif
