/* Remote buffers: memory outside of the IPU in which a program keeps data.
 *
 * A remote buffer has `repeats` rows of `num_elements` elements each. Programs copy rows to and
 * from tensors. A tensor of offsets may decide on the device which rows. The memory is the
 * host's. It exists from pop_engine_load on, initially zero, and keeps its contents from run to
 * run. The host reads and writes rows by pop_engine_copy_from_remote_buffer and
 * pop_engine_copy_to_remote_buffer. In tile memory, a copy takes its packet headers and code,
 * and the offsets that tiles need (hostMessage).
 *
 * A row has its elements in the tensor's row-major order, whatever the tensor's tile mapping. */
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

/* The largest sizes of a row and of a buffer. */
#define POP_REMOTE_BUFFER_MAX_ROW_BYTES ((uint64_t)UINT32_MAX)
#define POP_REMOTE_BUFFER_MAX_BYTES ((uint64_t)1 << 38)

/* `handle` names the buffer for the host. It is not NULL nor empty, and different from those of the
 * graph's other remote buffers. `num_elements` and `repeats` are at least 1, and at most what the
 * limits above allow. Otherwise INVALID_ARGUMENT. */
pop_remote_buffer pop_graph_add_remote_buffer(pop_graph *graph, const char *handle, pop_type type,
                                              size_t num_elements, size_t repeats);

/* Copies rows of the buffer to a tensor, or a tensor to rows of the buffer. `offsets` is a tensor
 * of type POP_UNSIGNED_INT or POP_INT on any tiles: the numbers of the rows, read when the copy is
 * made. The tensor has `num_elements` elements for each offset: the rows in their order. A number
 * that is not below `repeats` ends the run with an error that names the buffer. If a copy to the
 * buffer has a number twice, the row gets elements of either.
 *
 * Without offsets ((pop_tensor){0}) the copy is of the first rows, as many as the tensor has: one
 * or more.
 *
 * The tensor has the buffer's type. If it is written, it must not hold constants or an element
 * twice. More than POP_STREAM_COPY_MAX_BYTES for an IPU are copied in several host exchanges.
 * Errors: TYPE, TENSOR, and INVALID_ARGUMENT as in populus/program.h. */
pop_program pop_program_copy_from_remote_buffer(pop_remote_buffer buffer, pop_tensor destination,
                                                pop_tensor offsets, const char *name);
pop_program pop_program_copy_to_remote_buffer(pop_tensor source, pop_remote_buffer buffer,
                                              pop_tensor offsets, const char *name);

#ifdef __cplusplus
}
#endif
#endif
