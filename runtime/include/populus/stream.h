/* Data streams: how a program gets data from the host, and the host from it, while it runs.
 *
 * A stream has a direction, an element type and a number of elements: what one copy moves. The device
 * decides when. On the host each stream is connected, before the program runs, to a buffer that is
 * gone through in a circle or to callbacks (populus/engine.h). */
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

/* `handle` names the stream for the host: not NULL, different from the graph's other streams.
 * `num_elements` is at least 1. */
pop_stream pop_graph_add_host_to_device_fifo(pop_graph *graph, const char *handle, pop_type type,
                                             size_t num_elements);
pop_stream pop_graph_add_device_to_host_fifo(pop_graph *graph, const char *handle, pop_type type,
                                             size_t num_elements);

/* The bytes that one copy may move between the host and one IPU; larger ones are an error when the
 * program is compiled. The guide: 128 MBytes per stream copy and IPU. */
#define POP_STREAM_COPY_MAX_BYTES ((uint64_t)128 << 20)

/* Copies the next elements of a host-to-device stream to a tensor, in row-major order, or a tensor to
 * a device-to-host stream. The tensor has the stream's type and number of elements; it must not hold
 * constants or an element twice if it is written. */
pop_program pop_program_copy_from_stream(pop_stream stream, pop_tensor destination,
                                         const char *name);
pop_program pop_program_copy_to_stream(pop_tensor source, pop_stream stream, const char *name);

#ifdef __cplusplus
}
#endif
#endif
