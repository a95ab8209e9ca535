// The floating-point behaviour of workers: populus/registers.h.
#ifndef POPLAR_CSRFUNCTIONS_HPP
#define POPLAR_CSRFUNCTIONS_HPP

#include <poplar/detail/Registers.hpp>

namespace poplar
{

struct FloatingPointBehaviour {
  bool inv = true, div0 = true,
       oflo = true;  // faults: invalid operations, divisions by zero, overflows
  bool esr = true;   // stochastic rounding
  bool nanoo = true; // a half that is too large is NaN, otherwise infinity

  FloatingPointBehaviour() = default;
  FloatingPointBehaviour(bool invalid, bool divisionByZero, bool overflow, bool stochasticRounding,
                         bool nanOnOverflow)
      : inv(invalid), div0(divisionByZero), oflo(overflow), esr(stochasticRounding),
        nanoo(nanOnOverflow)
  {
  }
  // The behaviours that are off here.
  FloatingPointBehaviour operator!() const
  {
    return FloatingPointBehaviour(!inv, !div0, !oflo, !esr, !nanoo);
  }
  FloatingPointBehaviour operator|(const FloatingPointBehaviour &b) const
  {
    return FloatingPointBehaviour(inv || b.inv, div0 || b.div0, oflo || b.oflo, esr || b.esr,
                                  nanoo || b.nanoo);
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
// Restores what getAndModifyFloatingPointBehaviour has returned.
inline void setFloatingPointBehaviour(Graph &graph, program::Sequence &prog,
                                      const Tensor &behaviour,
                                      const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, false);
  pop_graph_restore_floating_point_behaviour(graph.c(), call.program(),
                                             detail::check(behaviour.c()), call.c());
  call.finish();
}
// Switches `clear` off, then `set` on. Returns the previous behaviour: an element of
// UNSIGNED_INT for each tile.
inline Tensor getAndModifyFloatingPointBehaviour(Graph &graph, program::Sequence &prog,
                                                 const FloatingPointBehaviour &clear,
                                                 const FloatingPointBehaviour &set,
                                                 const DebugContext &debugContext = {})
{
  detail::RegisterCall call(graph, prog, debugContext, false);
  return call.finish(pop_graph_modify_floating_point_behaviour(graph.c(), call.program(), clear.c(),
                                                               set.c(), call.c()));
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
