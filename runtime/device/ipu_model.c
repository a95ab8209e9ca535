/* IPU_MODEL: a target that the program defines. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

pop_error *pop_ipu_model_init(pop_ipu_model *model, const char *version)
{
  pop_target t;
  POP_TRY(object_check_argument(model, "the model", __func__));
  POP_TRY(pop_target_create(version, 1, &t));
  *model = (pop_ipu_model){
      .num_ipus = t.num_ipus,
      .tiles_per_ipu = t.tiles_per_ipu,
      .num_worker_contexts = t.num_worker_contexts,
      .memory_bytes_per_tile = t.memory_bytes,
      .interleaved_memory_element_index =
          (t.interleaved_base - t.memory_base) / t.memory_element_bytes,
      .tile_clock_frequency = t.clock_hz,
      .exchange_bytes_per_cycle = t.exchange_bytes_per_cycle,
      .min_ipu_sync_delay = t.sync_cycles,
      .global_sync_cycles = t.host_sync_cycles,
      .global_bytes_per_cycle = t.global_bytes_per_cycle,
      .compile_ipu_code = false,
  };
  memcpy(model->ipu_version, t.name, sizeof model->ipu_version);
  return NULL;
}

/* The SDK's own model has 6,663,551 cycles of host exchange for the 40 MB of its tutorial 6, as its README prints. */
enum { MODEL_HOST_BYTES_PER_CYCLE = 6 };

/* An error names figures of the model, which are not all called as those of the target. */
static pop_error *check_figure(const pop_target *t, const char *name)
{
  pop_error *error = pop_target_validate(t);
  return error ? pop_error_prefix(error, "%s is not possible", name) : NULL;
}

static pop_error *set_memory(const pop_ipu_model *model, pop_target *t)
{
  uint64_t below = (uint64_t)model->interleaved_memory_element_index * t->memory_element_bytes;
  if (model->memory_bytes_per_tile < t->system_bytes)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "memory_bytes_per_tile is %u, but must be at least %u, which the system "
                         "has of each tile",
                         model->memory_bytes_per_tile, t->system_bytes);
  if (below < t->system_bytes)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "interleaved_memory_element_index is %u, but must be at least %u: what "
                         "the system has of each tile, %u bytes, is not interleaved",
                         model->interleaved_memory_element_index,
                         (t->system_bytes + t->memory_element_bytes - 1) / t->memory_element_bytes,
                         t->system_bytes);
  t->memory_bytes = model->memory_bytes_per_tile;
  t->interleaved_base =
      t->memory_base + (uint32_t)(below < t->memory_bytes ? below : t->memory_bytes);
  return check_figure(t, "memory_bytes_per_tile");
}

static pop_error *set_figures(const pop_ipu_model *model, pop_target *t)
{
#define SET(field, figure)                                                                         \
  t->field = model->figure;                                                                        \
  POP_TRY(check_figure(t, #figure))
  SET(tiles_per_ipu, tiles_per_ipu);
  SET(num_worker_contexts, num_worker_contexts);
  SET(clock_hz, tile_clock_frequency);
  SET(exchange_bytes_per_cycle, exchange_bytes_per_cycle);
  SET(sync_cycles, min_ipu_sync_delay);
  SET(host_sync_cycles, global_sync_cycles);
  SET(global_bytes_per_cycle, global_bytes_per_cycle);
#undef SET
  return set_memory(model, t);
}

pop_error *pop_ipu_model_create_device(const pop_ipu_model *model, pop_device **device)
{
  static const char call[] = "pop_ipu_model_create_device";
  pop_target t;
  POP_TRY(object_check_argument(device, "the device to make", __func__));
  *device = NULL;
  POP_TRY(object_check_argument(model, "the model", __func__));
  if (!memchr(model->ipu_version, '\0', sizeof model->ipu_version))
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "%s: ipu_version is longer than %zu characters: fill the model with "
                         "pop_ipu_model_init first",
                         call, sizeof model->ipu_version - 1);
  pop_error *error = pop_target_create(model->ipu_version, model->num_ipus, &t);
  if (error) return pop_error_prefix(error, "%s", call);
  if (model->relative_sync_delay > POP_SYNC_DELAY_NO_DELAY)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "%s: relative_sync_delay is %d, but must be POP_SYNC_DELAY_AUTO or "
                         "POP_SYNC_DELAY_NO_DELAY",
                         call, (int)model->relative_sync_delay);
  t.type = POP_TARGET_IPU_MODEL;
  t.host_bytes_per_cycle = MODEL_HOST_BYTES_PER_CYCLE;
  t.cycle_estimates = !model->code_cycles;
  t.memory_without_code = !model->compile_ipu_code;
  error = set_figures(model, &t);
  if (error) return pop_error_prefix(error, "%s", call);
  *device = device_new(&t);
  return NULL;
}
