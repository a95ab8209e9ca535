/* What instrumented tiles measure, and where the host finds it: shared by the compiler, which emits
 * the code, and the engine, which reads the results.
 *
 * Tiles store the low 32 bits of their cycle counter: a difference is right if it is less than 2^32
 * cycles. */
#ifndef EXECUTABLE_MEASURES_H
#define EXECUTABLE_MEASURES_H

#include <stdbool.h>
#include <stdint.h>

/* Whose cycles in a compute set are measured (debug.computeInstrumentationLevel). */
typedef enum instrumentation_level {
  INSTRUMENT_NOTHING,
  INSTRUMENT_TILES,
  INSTRUMENT_VERTICES, /* and tiles */
  INSTRUMENT_DEVICE,   /* the slowest tile, on tile 0, between syncs of all tiles */
  INSTRUMENT_IPUS, /* the slowest tile of each IPU, on its first tile, between syncs of its tiles */
  INSTRUMENTATION_LEVELS
} instrumentation_level;

typedef struct instrumentation {
  instrumentation_level compute;
  bool control_flow;      /* which way branches go */
  bool external_exchange; /* exchanges between IPUs and with the host, each after its own sync */
  bool blocks;            /* lightweight profiling: on chosen tiles */
} instrumentation;

/* X(enumerator, name, what is at the address) */
#define EXECUTABLE_MEASURES(X)                                                                     \
  X(MEASURE_COMPUTE_SET, "compute set", "two words: the counter before and behind it")             \
  X(MEASURE_VERTICES, "vertices", "for each call of a vertex in the work its cycles")              \
  X(MEASURE_EXCHANGE, "exchange", "two words: the counter before and behind it")                   \
  X(MEASURE_HOST_EXCHANGE, "host exchange", "two words: the counter before and behind it")         \
  X(MEASURE_BRANCHES, "branches", "how many branches were taken since the host was told; which")   \
  X(MEASURE_BLOCKS, "blocks",                                                                      \
    "how many marks there are; the counter when there was no more room; marks: two words each")

typedef enum measure_kind {
#define MEASURE_ENUMERATOR(id, name, what) id,
  EXECUTABLE_MEASURES(MEASURE_ENUMERATOR)
#undef MEASURE_ENUMERATOR
      MEASURE_KINDS
} measure_kind;

/* Something that a tile measures each time it runs, so the result is that of the last time. 0: it
 * has not run. */
typedef struct executable_measure {
  uint32_t kind; /* measure_kind */
  /* COMPUTE_SET: the compute set; VERTICES: the work; EXCHANGE: the exchange; HOST_EXCHANGE: the
   * event - 1; BRANCHES, BLOCKS: 0 */
  uint32_t index;
  uint32_t tile;
  uint32_t address;
  uint32_t words;
  uint32_t
      overhead; /* cycles of the measurement itself, in the difference or in each vertex's cycles */
} executable_measure;

/* A mark is two words: 2 * number + (1 if it is an end), and the counter. Numbers: of a flush; of
 * block `block`; of a stream copy, from its event - 1: of waiting for it; of the exchange, whose
 * begin ends the waiting; of what the tile does after it, which begins when the exchange ends. */
enum { STREAM_MARKS = 3 };
#define MARK_OF_FLUSH 0u
#define MARK_OF_BLOCK(block) (1 + (uint32_t)(block))
#define MARK_OF_STREAM(num_blocks, event)                                                          \
  (1 + (uint32_t)(num_blocks) + STREAM_MARKS * (uint32_t)(event))

#endif
