// Supervisor vertices that start workers with member functions.
#include <ipu-thread-sync/ipu-thread-sync.hpp>
#include <poplar/Vertex.hpp>

static volatile unsigned phase;
static volatile int sums[6];

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
