/* Points in time: the host's clock and the device's. */
#include "engine/engine_private.h"

#include "base/c_locale.h"

#include <time.h>

pop_time_stamp pop_engine_time_stamp(const pop_engine *engine)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return (pop_time_stamp){0};
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (pop_time_stamp){.host_seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
                          .device_cycles = pop_engine_cycles(engine)};
}

void pop_engine_report_timing(const pop_engine *engine, FILE *stream, const char *name,
                              pop_time_stamp start, pop_time_stamp end)
{
  C_LOCALE;
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return;
  if (!stream) return;
  const pop_target *target = &engine->executable->target;
  uint64_t cycles = end.device_cycles - start.device_cycles;
  fprintf(stream, "%s: %.6f s on the host", name ? name : "",
          end.host_seconds - start.host_seconds);
  if (target->type != POP_TARGET_CPU)
    fprintf(stream, ", %llu cycles (%.3f us at %.0f MHz) on the device", (unsigned long long)cycles,
            1e6 * (double)cycles / target->clock_hz, target->clock_hz / 1e6);
  fputc('\n', stream);
}
