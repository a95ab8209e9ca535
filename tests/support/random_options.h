/* Engine options that change the tiles' work, but not what programs compute: a random selection
 * with random values, for random tests. */
#ifndef POPULUS_TEST_RANDOM_OPTIONS_H
#define POPULUS_TEST_RANDOM_OPTIONS_H

#include "model.h"

enum { MAX_OPTION_VALUES = 6, MAX_RANDOM_OPTIONS = 20 };

typedef struct option_choice {
  const char *key, *values[MAX_OPTION_VALUES]; /* NULL ends them */
} option_choice;

static const option_choice option_choices[] = {
    {"exchange.multicastPolicy", {"always", "never", "balanced"}},
    {"opt.internalExchangeOptimisationTarget", {"memory", "balanced"}},
    {"debug.instrument", {"true"}},
    {"debug.computeInstrumentationLevel", {"tile", "vertex", "device", "ipu"}},
    {"debug.instrumentControlFlow", {"true"}},
    {"debug.keepDuplicateCode", {"true"}},
    {"debug.supervisorStackSizeInBytes", {"64", "1024"}},
    {"debug.outputAllSymbols", {"false"}},
    {"profiler.blocks.filter", {".", "block", "empty"}},
    {"profiler.programs.filter", {".", "copy", "execute|while|repeat", "stream"}},
    {"profiler.blocks.bufferSize", {"64", "72", "200"}},
    {"profiler.blocks.implicitFlush", {"false", "true"}},
    {"streamCallbacks.multiThreadMode", {"dedicated", "collaborative"}},
    {"streamCallbacks.numWorkerThreads", {"2"}},
    {"target.archiveSections", {"byCategory"}},
    {"debug.strictLoads", {"true"}},
};

/* Takes half of them, into the caller's array; returns how many. */
static inline size_t random_options(model *m, pop_option options[MAX_RANDOM_OPTIONS])
{
  size_t count = 0;
  for (size_t i = 0; i < sizeof option_choices / sizeof *option_choices; ++i) {
    const option_choice *choice = &option_choices[i];
    uint32_t num_values = 0;
    while (num_values < MAX_OPTION_VALUES && choice->values[num_values]) ++num_values;
    if (model_chance(m, 2))
      options[count++] = (pop_option){choice->key, choice->values[model_random(m, num_values)]};
  }
  return count;
}

static inline bool has_option(const pop_option *options, size_t count, const char *key,
                              const char *value)
{
  for (size_t i = 0; i < count; ++i)
    if (strcmp(options[i].key, key) == 0 && strcmp(options[i].value, value) == 0) return true;
  return false;
}

/* Makes the target a machine that does not exist. */
static inline void vary_target(model *m, pop_target *target)
{
  static const uint32_t latencies[] = {0, 1, 2, 3, 5, 30, 100}, bases[] = {0, 4, 12, 0x1004};
  static const uint32_t elements[] = {4, 64, 1024, 16384};
  target->num_worker_contexts = 1 + model_random(m, 6);
  target->exchange_latency_cycles = latencies[model_random(m, 7)];
  target->sync_cycles = latencies[model_random(m, 7)];
  target->host_sync_cycles = latencies[model_random(m, 7)];
  target->global_latency_cycles = latencies[model_random(m, 7)];
  target->memory_element_bytes = elements[model_random(m, 4)];
  target->memory_bytes = 1 << 19;
  if (model_chance(m, 2)) target->memory_base = bases[model_random(m, 4)];
  target->system_bytes = 4 * model_random(m, 5);
  target->interleaved_base = target->memory_base + 200000 + 4 * model_random(m, 9);
  if (model_chance(m, 3)) target->cycle_estimates = 1;
  if (model_chance(m, 3)) target->type = POP_TARGET_IPU_MODEL;
}

#endif
