// Estimates of what vertices take: VertexPerfEstimate, PerfEstimateFunc.
#ifndef POPLAR_PERFESTIMATEFUNC_HPP
#define POPLAR_PERFESTIMATEFUNC_HPP

#include <poplar/VertexIntrospector.hpp>

#endif
