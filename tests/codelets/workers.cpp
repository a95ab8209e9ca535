// Supervisor vertices that start workers with member functions.
#include <ipu-thread-sync/ipu-thread-sync.hpp>
#include <poplar/Vertex.hpp>

static volatile unsigned phase;
static volatile int sums[6];

// Called by a worker: it knows whose vertex it works for without having been told.
template <typename V> static void add_number_of_mine()
{
  sums[ipu::getWorkerID()] += ipu::getVertexPtr<V>().step();
}

class Phases : public poplar::SupervisorVertex
{
public:
  poplar::InOut<int> out;

  bool work(unsigned worker)
  {
    sums[worker] += static_cast<int>((worker + 1) * phase);
    return true;
  }

  __attribute__((target("supervisor"))) bool compute()
  {
    for (unsigned i = 0; i < 6; ++i) sums[i] = 0;
    for (unsigned i = 1; i <= 3; ++i) {
      ipu::syncAllWorkers();
      phase = i;
      ipu::startOnAllWorkers<Phases, &Phases::work>(this);
    }
    ipu::syncAndStartOnAllWorkers<Phases, &Phases::work>(this);
    ipu::syncAllWorkers();
    for (int sum : sums) *out += sum;
    return true; // 21 * (1 + 2 + 3 + 3)
  }
};

class Steps : public poplar::SupervisorVertex
{
public:
  poplar::InOut<int> out;
  int step() const { return 7; }

  WORKER_FUNC bool work(unsigned worker)
  {
    add_number_of_mine<Steps>();
    if (worker % 2) ipu::returnFromWorker();
    sums[worker] += 100 * static_cast<int>(worker);
    return true;
  }

  SUPERVISOR_FUNC bool compute()
  {
    for (unsigned i = 0; i < 6; ++i) sums[i] = 0;
    ipu::startOnAllWorkers<Steps, &Steps::work>(this);
    ipu::syncAndStartOnAllWorkers<Steps, &Steps::work>(this);
    ipu::syncAllWorkers();
    for (int sum : sums) *out += sum;
    return true; // 2 * (6 * 7 + 100 * (0 + 2 + 4))
  }
};

// Faults.
template <ipu::PatchedBreakpoint breakpoint> class Trapped : public poplar::SupervisorVertex
{
public:
  poplar::InOut<int> out;

  WORKER_FUNC bool work(unsigned worker)
  {
    if (worker == 3) ipu::trap<breakpoint>();
    return true;
  }

  SUPERVISOR_FUNC bool compute()
  {
    ipu::startOnAllWorkers<Trapped, &Trapped::work>(this);
    ipu::syncAllWorkers();
    return true;
  }
};

template class Trapped<ipu::PatchedBreakpoint::PBRK1>;

class TrappedSupervisor : public poplar::SupervisorVertex
{
public:
  poplar::InOut<int> out;
  SUPERVISOR_FUNC bool compute() { ipu::trap(); }
};
