/* Tensors between host memory and tile memory: run by run, as the compiler placed them. */
#include "engine/engine_private.h"

pop_error *engine_read_host_tensor(const pop_engine *engine, const host_tensor *tensor, void *data)
{
  const compilation *c = engine->compilation;
  uint8_t *to = data;
  for (size_t i = 0; i < tensor->num_runs; ++i) {
    const host_run *run = &c->host_runs[tensor->first_run + i];
    POP_TRY(machine_read(engine->machine, run->tile, place_address(c, run->at), to, run->bytes));
    to += run->bytes;
  }
  return NULL;
}

pop_error *engine_write_host_tensor(pop_engine *engine, const host_tensor *tensor, const void *data)
{
  const compilation *c = engine->compilation;
  const uint8_t *from = data;
  for (size_t i = 0; i < tensor->num_runs; ++i) {
    const host_run *run = &c->host_runs[tensor->first_run + i];
    POP_TRY(machine_write(engine->machine, run->tile, place_address(c, run->at), from, run->bytes));
    from += run->bytes;
  }
  return NULL;
}
