// Workers that a supervisor vertex starts itself, with a member function of the vertex:
//
//     class Phases : public poplar::SupervisorVertex {
//     public:
//       poplar::InOut<poplar::Vector<float>> x;
//       bool work(unsigned worker);
//       bool compute()
//       {
//         for (int phase = 0; phase < 10; ++phase) ipu::syncAndStartOnAllWorkers<Phases, &Phases::work>(this);
//         ipu::syncAllWorkers();
//         return true;
//       }
//     };
//
// populus/workers.h has the rules.
#ifndef POPULUS_IPU_THREAD_SYNC_HPP
#define POPULUS_IPU_THREAD_SYNC_HPP

#include <populus/workers.h>

namespace ipu
{

namespace populus_detail
{

template <typename V, bool (V::*function)(unsigned)> bool work(void *vertex, unsigned worker)
{
  return (static_cast<V *>(vertex)->*function)(worker);
}

} // namespace populus_detail

// The workers must have been waited for.
template <typename V, bool (V::*function)(unsigned)> inline void startOnAllWorkers(V *vertex)
{
  populus_start_workers(populus_detail::work<V, function>, vertex);
}

// Waits until all workers have done what they were started for.
inline void syncAllWorkers()
{
  populus_wait_for_workers();
}

template <typename V, bool (V::*function)(unsigned)> inline void syncAndStartOnAllWorkers(V *vertex)
{
  syncAllWorkers();
  startOnAllWorkers<V, function>(vertex);
}

} // namespace ipu

#endif
