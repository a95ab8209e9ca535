/* Tensors between host memory and tile memory: run by run, as the executable says. */
#include "engine/engine_private.h"

pop_error *engine_read_host_tensor(const pop_engine *engine, uint32_t replica,
                                   const executable_tensor *tensor, void *data)
{
  uint8_t *to = data;
  for (size_t i = 0; i < tensor->num_runs; ++i) {
    const executable_run *run = &engine->executable->runs[tensor->first_run + i];
    POP_TRY(
        machine_read(engine->replicas[replica].machine, run->tile, run->address, to, run->bytes));
    to += run->bytes;
  }
  return NULL;
}

pop_error *engine_write_host_tensor(pop_engine *engine, uint32_t replica,
                                    const executable_tensor *tensor, const void *data)
{
  const uint8_t *from = data;
  for (size_t i = 0; i < tensor->num_runs; ++i) {
    const executable_run *run = &engine->executable->runs[tensor->first_run + i];
    POP_TRY(machine_write(engine->replicas[replica].machine, run->tile, run->address, from,
                          run->bytes));
    from += run->bytes;
  }
  return NULL;
}
