// Workers that a supervisor vertex starts itself, with a member function of the vertex:
//
//     class Phases : public poplar::SupervisorVertex {
//     public:
//       poplar::InOut<poplar::Vector<float>> x;
//       WORKER_FUNC bool work(unsigned worker);
//       SUPERVISOR_FUNC bool compute()
//       {
//         for (int phase = 0; phase < 10; ++phase)
//           ipu::syncAndStartOnAllWorkers<Phases, &Phases::work>(this);
//         ipu::syncAllWorkers();
//         return true;
//       }
//     };
//
// populus/workers.h has the rules. Names and meaning are those of esa-tu-darmstadt/ipu-thread-sync.
#ifndef POPULUS_IPU_THREAD_SYNC_HPP
#define POPULUS_IPU_THREAD_SYNC_HPP

#include <populus/workers.h>

// Functions for workers and for the supervisor only.
#define WORKER_FUNC [[clang::always_inline]] __attribute__((target("worker")))
#define SUPERVISOR_FUNC [[clang::always_inline]] __attribute__((target("supervisor")))

namespace ipu
{

namespace populus_detail
{

template <typename __V, bool (__V::*function)(unsigned)> bool work(void *vertex, unsigned worker)
{
  return (static_cast<__V *>(vertex)->*function)(worker);
}

} // namespace populus_detail

// No worker may be running: call syncAllWorkers first, if some were started.
template <typename __V, bool (__V::*function)(unsigned)> inline void startOnAllWorkers(__V *vertex)
{
  populus_start_workers(populus_detail::work<__V, function>, vertex);
}

// Waits until all started workers have finished.
inline void syncAllWorkers()
{
  populus_wait_for_workers();
}

template <typename __V, bool (__V::*function)(unsigned)>
inline void syncAndStartOnAllWorkers(__V *vertex)
{
  syncAllWorkers();
  startOnAllWorkers<__V, function>(vertex);
}

// For a worker: its number, the vertex that it was started for, and its end without a return.
inline unsigned getWorkerID()
{
  return populus_worker_number();
}
template <typename __V> inline __V &getVertexPtr()
{
  return *static_cast<__V *>(populus_worker_state());
}
[[noreturn]] inline void returnFromWorker()
{
  populus_end_worker();
}

// Raises a fault, TRAP with this value.
enum class PatchedBreakpoint : char { PBRK0 = 0, PBRK1 = 1 };
template <PatchedBreakpoint breakpoint = PatchedBreakpoint::PBRK0> [[noreturn]] inline void trap()
{
  populus_trap(static_cast<unsigned>(breakpoint));
}

} // namespace ipu

#endif
