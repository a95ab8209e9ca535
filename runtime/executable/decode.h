/* How the files that read metadata call each other: decode.c, decode_tensors.c, and decode_steps.c
 * for programs, exchanges and measures. */
#ifndef EXECUTABLE_DECODE_H
#define EXECUTABLE_DECODE_H

#include "executable/executable.h"
#include "executable/metadata.h"

typedef struct decoder {
  metadata_reader r;
  pop_executable *e;
  uint32_t num_tiles;
  uint32_t categories[POP_MEMORY_CATEGORY_COUNT]; /* by the file's number of the category */
} decoder;

/* The greatest entry number of a table with `count` entries. An error for an empty table. */
POP_MUST_CHECK pop_error *decode_greatest_number(const metadata_reader *r, size_t count,
                                                 const char *of, uint32_t *greatest);
/* The key `name` and its text. */
POP_MUST_CHECK pop_error *decode_name(metadata_reader *r, const char **name);

/* Reads `count` numbers, of which the i-th may be up to most[i]. */
POP_MUST_CHECK pop_error *decode_u32s(metadata_reader *r, const uint32_t *most, uint32_t *values,
                                      size_t count);
/* The address of `bytes` bytes at an offset in tile memory. Overfull tiles are only reported on,
 * never loaded: their memory may be larger. */
POP_MUST_CHECK pop_error *decode_address(const decoder *d, uint32_t offset, uint64_t bytes,
                                         uint32_t *address);

/* decode_steps.c: the key `parts` of an exchange. */
POP_MUST_CHECK pop_error *decode_parts(decoder *d, size_t *first, size_t *num);
/* Keys of METADATA_KEYS: decode_tensors.c */
POP_MUST_CHECK pop_error *read_tensors(decoder *d);
POP_MUST_CHECK pop_error *read_streams(decoder *d);
POP_MUST_CHECK pop_error *read_remote_buffers(decoder *d);
POP_MUST_CHECK pop_error *read_windows(decoder *d);
POP_MUST_CHECK pop_error *read_events(decoder *d);
POP_MUST_CHECK pop_error *read_variables(decoder *d);
/* and decode_steps.c */
POP_MUST_CHECK pop_error *read_exchanges(decoder *d);
POP_MUST_CHECK pop_error *read_steps(decoder *d);
POP_MUST_CHECK pop_error *read_control_steps(decoder *d);
POP_MUST_CHECK pop_error *read_functions(decoder *d);
POP_MUST_CHECK pop_error *read_instrumentation(decoder *d);
POP_MUST_CHECK pop_error *read_measures(decoder *d);
POP_MUST_CHECK pop_error *read_acknowledged(decoder *d);

#endif
