/* Data streams: data from the host and to the host while a program runs.
 *
 * A stream has a direction, an element type, and the number of elements of one copy. The device
 * decides when to copy. Before the program runs, the host connects each stream to a circular
 * buffer or to callbacks (populus/engine.h). */
#ifndef POPULUS_STREAM_H
#define POPULUS_STREAM_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_stream {
  pop_graph *graph;
  uint32_t index;
} pop_stream;

/* `handle` names the stream for the host. It is not NULL nor empty, and different from those of the
 * graph's other streams; otherwise INVALID_ARGUMENT. A copy of no elements does nothing, and asks
 * the host for nothing. Errors are the graph's. */
pop_stream pop_graph_add_host_to_device_fifo(pop_graph *graph, const char *handle, pop_type type,
                                             size_t num_elements);
pop_stream pop_graph_add_device_to_host_fifo(pop_graph *graph, const char *handle, pop_type type,
                                             size_t num_elements);

/* How the replicas of a replicated graph use a stream. */
typedef enum pop_replicated_stream_mode {
  POP_STREAM_REPLICATE, /* each replica has a stream of its own */
  POP_STREAM_BROADCAST  /* all replicas get the same data; host to device only */
} pop_replicated_stream_mode;
/* The default is POP_STREAM_REPLICATE. Without replicas both mean the same. INVALID_ARGUMENT:
 * another mode, or BROADCAST of a stream to the host. */
void pop_stream_set_replicated_mode(pop_stream stream, pop_replicated_stream_mode mode);

/* Options, by key and value:
 *
 *   splitLimit       bytes, 0 or an element's size to 2^32 - 1: a larger copy is split into parts
 *                    of this size, in whole elements, one host exchange after another. 0 and
 *                    2^32 - 1: never. The default is 52428800 (50 MiB)
 *   bufferingDepth   host to device: how many copies may be prefetched, 1 (the default) to 1024
 *
 * Another key or value is an INVALID_OPTION error of the graph. */
void pop_stream_set_option(pop_stream stream, const char *key, const char *value);

/* The bytes that one host exchange may move between the host and one IPU. The guide: 128 MBytes.
 * A larger copy of a stream that is not split (splitLimit) is an error when the program is
 * compiled. */
#define POP_STREAM_COPY_MAX_BYTES ((uint64_t)128 << 20)

/* Consecutive stream copies in a sequence are merged into one host exchange where only the time
 * shows the difference: up to 128 copies and POP_STREAM_COPY_MAX_BYTES for each IPU. A copy from
 * the host is not merged with a copy to the host before it, because the host may need to see the
 * one before it makes the other. Copies are not merged if one writes what another reads or writes.
 *
 * Copies the next elements of a host-to-device stream to a tensor, in row-major order, or a tensor
 * to a device-to-host stream. The tensor has the stream's type (TYPE) and number of elements
 * (TENSOR). If it is written, it must not hold constants or an element twice (TENSOR).
 * CONTROL_PROGRAM: the stream goes the other way. INVALID_ARGUMENT: the tensor and the stream are
 * not of the same replicated graph. */
pop_program pop_program_copy_from_stream(pop_stream stream, pop_tensor destination,
                                         const char *name);
pop_program pop_program_copy_to_stream(pop_tensor source, pop_stream stream, const char *name);

#ifdef __cplusplus
}
#endif
#endif
