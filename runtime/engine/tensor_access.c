/* Tensors between host memory and tile memory, as the executable says. */
#include "engine/engine_private.h"

#include <stdio.h>

/* The tensor's runs of tile memory; NULL for a tensor without elements. */
static const memory_range *runs_of(const pop_engine *engine, const executable_tensor *tensor)
{
  return tensor->num_runs ? &engine->executable->runs[tensor->first_run] : NULL;
}

pop_error *engine_read_host_tensor(const pop_engine *engine, uint32_t replica,
                                   const executable_tensor *tensor, void *data)
{
  if (engine->on_cpu) {
    cpu_read(engine->replicas[replica].cpu, (size_t)(tensor - engine->executable->tensors), data);
    return NULL;
  }
  return machine_read_ranges(engine->replicas[replica].machine, runs_of(engine, tensor),
                             tensor->num_runs, data);
}

pop_error *engine_write_host_tensor(pop_engine *engine, uint32_t replica,
                                    const executable_tensor *tensor, const void *data)
{
  if (engine->on_cpu) {
    cpu_write(engine->replicas[replica].cpu, (size_t)(tensor - engine->executable->tensors), data);
    return NULL;
  }
  return machine_write_ranges(engine->replicas[replica].machine, runs_of(engine, tensor),
                              tensor->num_runs, data);
}

pop_error *engine_read_all_replicas(pop_engine *engine, pop_error *own,
                                    const executable_tensor *tensor, void *data)
{
  size_t bytes = executable_tensor_bytes(tensor), share = bytes * engine->num_own;
  uint8_t *mine = (uint8_t *)data + engine->first * bytes;
  for (uint32_t i = 0; i < engine->num_own && !own; i++)
    own = engine_read_host_tensor(engine, engine->first + i, tensor, mine + i * bytes);
  if (!engine->ranks) return own;
  char place[80];
  snprintf(place, sizeof place, "reading tensor '%.50s'", tensor->name);
  return ranks_gather(engine->ranks, place, own, mine, share, data);
}
