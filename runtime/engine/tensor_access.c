/* Tensors between host memory and tile memory, as the executable says. */
#include "engine/engine_private.h"

pop_error *engine_read_host_tensor(const pop_engine *engine, uint32_t replica,
                                   const executable_tensor *tensor, void *data)
{
  if (engine->on_cpu) {
    cpu_read(engine->replicas[replica].cpu, (size_t)(tensor - engine->executable->tensors), data);
    return NULL;
  }
  return machine_read_ranges(engine->replicas[replica].machine,
                             &engine->executable->runs[tensor->first_run], tensor->num_runs, data);
}

pop_error *engine_write_host_tensor(pop_engine *engine, uint32_t replica,
                                    const executable_tensor *tensor, const void *data)
{
  if (engine->on_cpu) {
    cpu_write(engine->replicas[replica].cpu, (size_t)(tensor - engine->executable->tensors), data);
    return NULL;
  }
  return machine_write_ranges(engine->replicas[replica].machine,
                              &engine->executable->runs[tensor->first_run], tensor->num_runs, data);
}
