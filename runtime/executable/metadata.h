/* Metadata: the keys of the map that encode.c writes and decode.c reads, and CBOR for it.
 *
 * Metadata need only a part of CBOR (RFC 8949), over libcbor's streaming interface: a writer of
 * definite-length items, and a reader that is asked for the item that must come next.
 *
 * The reader's errors name the place: "key 'tensors', entry 3, key 'shape': …". Counts are compared
 * with the rest of the input before anything is allocated for them.
 */
#ifndef EXECUTABLE_METADATA_H
#define EXECUTABLE_METADATA_H

#include <populus/arena.h>
#include <populus/error.h>

/* X(key, contents). Each key has put_<key> in encode.c and read_<key> in a decode*.c. Entries of
 * tables are numbered from 0. Long tables are flat arrays of numbers, a few for each entry. Offsets
 * are from the base of tile memory. */
#define METADATA_KEYS(X)                                                                           \
  X(source, "[2 numbers of 64 bits]: a hash of what it was compiled from, and of the compiler")    \
  X(needs, "names: what its code needs of tiles beside RISC-V's and tile instructions: packed")    \
  X(target, "a map with the fields of pop_target")                                                 \
  X(replicas, "how many there are of what is described here; 1: the graph is not replicated")      \
  X(options, "a map: those given when the graph was compiled")                                     \
  X(out_of_memory, "null, or a text: why it cannot be loaded")                                     \
  X(programs, "their names, by number")                                                            \
  X(vertex_types, "their names")                                                                   \
  X(chip_estimates, "vertex types: those that take what formulae of the chip's libraries say")     \
  X(our_estimates, "vertex types: those that take what our libraries' estimators say")             \
  X(categories, "names of memory categories")                                                      \
  X(memory, "rows: total, with gaps, 3 regions, 3 regions with gaps, then for each category and "  \
            "region in use: category, region, bytes not overlapped, bytes overlapped")             \
  X(stacks, "rows: [start, size] of workers 0 to 5 and the supervisor")                            \
  X(tiles, "[how many tiles, row of memory, row of stacks]*, in the order of tiles")               \
  X(digests, "of the images: 8 bytes each, little endian")                                         \
  X(tensors, "{name, kind: write, read, print, compare or replica, type, shape, runs: [tile, "     \
             "offset, bytes]*}")                                                                   \
  X(blocks, "names of the programs' blocks, by number")                                            \
  X(streams, "{name, type, elements, to_device, used: by a program, broadcast, depth}")            \
  X(remote_buffers, "{name, type, elements: of a row, repeats: rows, used: by a program}")         \
  X(windows, "[0 stream or 1 remote buffer, its number, offset in bytes, bytes of a record, "      \
             "records]*")                                                                          \
  X(events,                                                                                        \
    "by event number - 1: {kind: print, abort, exchange, compare, branches or flush, name: of "    \
    "the program, message, tensor: to print, tile: 0 or 1 + that of the predicate, "               \
    "windows: how many "                                                                           \
    "of the table's next ones, parts: as of exchanges}")                                           \
  X(variables, "{name, type, shape, constant, intervals: "                                         \
               "[elements left out before it, elements, tile, offset]*}")                          \
  X(vertex_rows, "rows: [vertex type, offset of the state, worker, 0 or 1 + number in the graph "  \
                 "from the first number on, cycles and flops that it is said to take or 0]*")      \
  X(compute_sets, "{name, works: [tile, address of states, first number, vertex row]*}")           \
  X(exchanges, "{name, zone, link_bytes and gateway_bytes: most of an IPU, with headers, parts: "  \
               "[tile, cycles, bytes sent, bytes received]*}")                                     \
  X(steps, "{kind: Sequence, Repeat, …, name, index, count, position, children: steps}")           \
  X(control_steps, "of the programs, by number: steps")                                            \
  X(functions, "steps")                                                                            \
  X(acknowledged, "[position of the first step, of the last, tile, tiles]*")                       \
  X(instrumentation, "[level, control flow: 0 or 1, external exchanges: 0 or 1, blocks: 0 or 1]")  \
  X(measures, "[kind, number, tile, offset, words, cycles of measuring]*")

/* Fields of pop_target that are plain numbers; `name`, `type`, `clock_hz` and `cost` are there
 * too. */
#define METADATA_TARGET_NUMBERS(X)                                                                 \
  X(num_ipus)                                                                                      \
  X(tiles_per_ipu)                                                                                 \
  X(num_worker_contexts)                                                                           \
  X(memory_base)                                                                                   \
  X(memory_bytes)                                                                                  \
  X(interleaved_base)                                                                              \
  X(system_bytes)                                                                                  \
  X(memory_element_bytes)                                                                          \
  X(exchange_bytes_per_cycle)                                                                      \
  X(exchange_latency_cycles)                                                                       \
  X(sync_cycles)                                                                                   \
  X(host_sync_cycles)                                                                              \
  X(host_bytes_per_cycle)                                                                          \
  X(global_latency_cycles)                                                                         \
  X(global_bytes_per_cycle)                                                                        \
  X(link_domain_ipus)                                                                              \
  X(gateway_latency_cycles)                                                                        \
  X(gateway_bytes_per_cycle)                                                                       \
  X(cycle_estimates)                                                                               \
  X(memory_without_code)
#define METADATA_COUNT(field) +1
enum {
  METADATA_NUM_TARGET_KEYS = 4 METADATA_TARGET_NUMBERS(METADATA_COUNT),
  METADATA_MEMORY_HEAD = 10, /* numbers of a memory row before those of categories */
  METADATA_MEMORY_CELL = 4,  /* for a category in a region */
  METADATA_DIGEST_BYTES = 8
};
#undef METADATA_COUNT

/* cbor_write.c */
void metadata_put_uint(pop_bytes *out, uint64_t value);
void metadata_put_bool(pop_bytes *out, bool value);
void metadata_put_double(pop_bytes *out, double value);
void metadata_put_null(pop_bytes *out);
void metadata_put_array(pop_bytes *out, size_t count);
void metadata_put_map(pop_bytes *out, size_t count);
void metadata_put_bytes(pop_bytes *out, const void *bytes, size_t size);
/* A text string, or a byte string if the text is not UTF-8: users' names may hold any bytes. */
void metadata_put_text(pop_bytes *out, const char *text);

/* cbor_read.c */
typedef struct metadata_reader {
  const uint8_t *bytes;
  size_t size, at;
  pop_arena *arena; /* for texts */
  /* The position of the reader, for messages: set by metadata_read_key, and by the caller. */
  const char *keys[2]; /* of the outer map and of an entry's map; NULL: none */
  size_t entry;        /* SIZE_MAX: none */
} metadata_reader;

pop_error *metadata_error(const metadata_reader *r, const char *format, ...) POP_PRINTF(2, 3);
POP_MUST_CHECK pop_error *metadata_read_uint(metadata_reader *r, uint64_t most, uint64_t *value);
POP_MUST_CHECK pop_error *metadata_read_u32(metadata_reader *r, uint32_t most, uint32_t *value);
POP_MUST_CHECK pop_error *metadata_read_bool(metadata_reader *r, bool *value);
POP_MUST_CHECK pop_error *metadata_read_double(metadata_reader *r, double *value);
/* A text, or a byte string without NUL. The copy in the arena is NUL-terminated. */
POP_MUST_CHECK pop_error *metadata_read_text(metadata_reader *r, const char **text);
POP_MUST_CHECK pop_error *metadata_read_text_or_null(metadata_reader *r, const char **text);
/* A byte string; *bytes points into the input. */
POP_MUST_CHECK pop_error *metadata_read_bytes(metadata_reader *r, const uint8_t **bytes,
                                              size_t *size);
/* The head of an array. The number of its items must be a multiple of `group`. */
POP_MUST_CHECK pop_error *metadata_read_array(metadata_reader *r, size_t group, size_t *count);
POP_MUST_CHECK pop_error *metadata_read_map(metadata_reader *r, size_t *count);
/* The head of a map. It must have `count` pairs. */
POP_MUST_CHECK pop_error *metadata_read_map_of(metadata_reader *r, size_t count);
/* Reads the key, which must come next, of the outer map (level 0) or of an entry's map (level
 * 1). */
POP_MUST_CHECK pop_error *metadata_read_key(metadata_reader *r, unsigned level, const char *key);

#endif
