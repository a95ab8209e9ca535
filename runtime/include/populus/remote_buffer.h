/* Remote buffers: memory outside of the IPU that a program keeps data in.
 *
 * A remote buffer has a number of rows, `repeats`, each of `num_elements` elements. Programs copy rows to
 * and from tensors; which rows may be decided on the device, by a tensor of offsets. The memory is the
 * host's. It is there from pop_engine_load on, all zero, and keeps what is in it from run to run; the
 * host reads and writes rows by pop_engine_copy_from_remote_buffer and pop_engine_copy_to_remote_buffer.
 * Of tile memory a copy takes its packet headers and code, and the offsets that tiles need (hostMessage).
 *
 * A row has its elements in row-major order of the tensor, however that is spread over tiles. */
#ifndef POPULUS_REMOTE_BUFFER_H
#define POPULUS_REMOTE_BUFFER_H

#include <populus/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_remote_buffer {
  pop_graph *graph;
  uint32_t index;
} pop_remote_buffer;

/* The most bytes that a row, and a buffer, may have. */
#define POP_REMOTE_BUFFER_MAX_ROW_BYTES ((uint64_t)UINT32_MAX)
#define POP_REMOTE_BUFFER_MAX_BYTES ((uint64_t)1 << 38)

/* `handle` names the buffer for the host: not NULL, different from the graph's other remote buffers.
 * `num_elements` and `repeats` are at least 1. */
pop_remote_buffer pop_graph_add_remote_buffer(pop_graph *graph, const char *handle, pop_type type,
                                              size_t num_elements, size_t repeats);

/* Copies rows of the buffer to a tensor, or a tensor to rows of it. `offsets` is a tensor of type
 * POP_UNSIGNED_INT or POP_INT on any tiles: the numbers of the rows, looked at when the copy is made. The
 * tensor has as many times `num_elements` elements as there are offsets: the rows in their order. A number
 * that is not below `repeats` ends the run with an error that names the buffer. If a number is there
 * twice in a copy to the buffer, the row has elements of either.
 *
 * Without offsets ((pop_tensor){0}) the copy is about the first rows: as many as the tensor has.
 *
 * The tensor has the buffer's type; if it is written, it must not hold constants or an element twice.
 * More than POP_STREAM_COPY_MAX_BYTES for an IPU are copied in several host exchanges. */
pop_program pop_program_copy_from_remote_buffer(pop_remote_buffer buffer, pop_tensor destination,
                                                pop_tensor offsets, const char *name);
pop_program pop_program_copy_to_remote_buffer(pop_tensor source, pop_remote_buffer buffer,
                                              pop_tensor offsets, const char *name);

#ifdef __cplusplus
}
#endif
#endif
