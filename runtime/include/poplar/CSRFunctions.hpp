// How workers compute with floating-point numbers: populus/registers.h.
#ifndef POPLAR_CSRFUNCTIONS_HPP
#define POPLAR_CSRFUNCTIONS_HPP

#include <poplar/detail/Registers.hpp>

namespace poplar
{

struct FloatingPointBehaviour {
  bool inv = true, div0 = true,
       oflo = true;  // faults: invalid operations, divisions by zero, overflows
  bool esr = true;   // stochastic rounding
  bool nanoo = true; // a half that is too large is NaN

  FloatingPointBehaviour() = default;
  FloatingPointBehaviour(bool invalid, bool divisionByZero, bool overflow, bool stochasticRounding,
                         bool nanOnOverflow)
      : inv(invalid), div0(divisionByZero), oflo(overflow), esr(stochasticRounding),
        nanoo(nanOnOverflow)
  {
  }
  std::uint32_t c() const
  {
    std::uint32_t bits = 0;
    if (inv) bits |= POP_FP_INVALID;
    if (div0) bits |= POP_FP_DIVISION_BY_ZERO;
    if (oflo) bits |= POP_FP_OVERFLOW;
    if (esr) bits |= POP_FP_STOCHASTIC_ROUNDING;
    if (nanoo) bits |= POP_FP_NAN_ON_OVERFLOW;
    return bits;
  }
};

inline void setFloatingPointBehaviour(Graph &graph, program::Sequence &prog,
                                      const FloatingPointBehaviour &behaviour,
                                      const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, false);
  pop_graph_set_floating_point_behaviour(graph.c(), call.program(), behaviour.c(), call.c());
  call.finish();
}
inline void setStochasticRounding(Graph &graph, program::Sequence &prog, bool enable,
                                  const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, false);
  pop_graph_set_stochastic_rounding(graph.c(), call.program(), enable, call.c());
  call.finish();
}

} // namespace poplar

#endif
