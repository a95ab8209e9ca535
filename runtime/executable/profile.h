/* What graph profiles need besides the executable. In an archive it is a member of its own, which
 * is read only for a profile.
 *
 *   compilation --compiler/describe/profile.c--> executable_profile --profile_encode.c--> profile.elf
 *   profile.elf --profile_decode.c--> executable_profile --../profile/graph_profile.c--> emitter
 *
 * Texts are indices into `names`. */
#ifndef EXECUTABLE_PROFILE_H
#define EXECUTABLE_PROFILE_H

#include <populus/arena.h>
#include <populus/error.h>
#include <populus/executable.h>

/* The format that is written and read. */
enum { EXECUTABLE_PROFILE_FORMAT = 2 };

#define EXECUTABLE_PROFILE_MEMBER "profile.elf"

#define EXECUTABLE_ARRAY(type, name)                                                               \
  type *name;                                                                                      \
  size_t num_##name, name##_capacity

/* Uses of the bytes of vertices: states, and the tables, constant vectors and descriptors that
 * belong to them. X(enumerator, key in byComputeSet and byVertexType, label in the summary) */
#define PROFILE_VERTEX_PARTS(X)                                                                    \
  X(PROFILE_VERTEX_DATA, "vertexDataBytes", "Internal vertex state")                               \
  X(PROFILE_EDGE_POINTERS, "edgePtrBytes", "Edge pointers")                                        \
  X(PROFILE_COPY_POINTERS, "copyPtrBytes", "Copy pointers")                                        \
  X(PROFILE_PADDING, "paddingBytes", "Padding")                                                    \
  X(PROFILE_DESCRIPTORS, "descriptorBytes", "Descriptors")

typedef enum profile_vertex_part {
#define PROFILE_PART_ENUMERATOR(id, key, label) id,
  PROFILE_VERTEX_PARTS(PROFILE_PART_ENUMERATOR)
#undef PROFILE_PART_ENUMERATOR
      PROFILE_VERTEX_PART_COUNT
} profile_vertex_part;

/* Vertices of one type in a work. */
typedef struct profile_vertex_use {
  uint32_t type, count;
  uint32_t bytes[PROFILE_VERTEX_PART_COUNT];
} profile_vertex_use;

typedef struct profile_vertex_type {
  uint32_t state_bytes; /* of one vertex */
  uint32_t code_bytes;  /* of all functions and read-only data that it needs, some of them shared */
} profile_vertex_type;

/* The memory of a work's vertices on its tile. */
typedef struct profile_work_row {
  uint32_t code_bytes; /* of all that its vertices need */
  uint32_t first_use;  /* in uses */
  uint32_t num_uses;
} profile_work_row;

/* X(enumerator, key in memoryByInstruction): those that the tiles of Populus have. */
#define PROFILE_INSTRUCTIONS(X)                                                                    \
  X(PROFILE_DELAY, "delay")                                                                        \
  X(PROFILE_RECEIVE_ADDRESS, "receiveAddress")                                                     \
  X(PROFILE_RECEIVE_MUX, "receiveMux")                                                             \
  X(PROFILE_SEND, "send")                                                                          \
  X(PROFILE_OTHER, "other")

typedef enum profile_instruction {
#define PROFILE_INSTRUCTION_ENUMERATOR(id, key) id,
  PROFILE_INSTRUCTIONS(PROFILE_INSTRUCTION_ENUMERATOR)
#undef PROFILE_INSTRUCTION_ENUMERATOR
      PROFILE_INSTRUCTION_COUNT
} profile_instruction;

/* The code of an exchange on all tiles. */
typedef struct profile_exchange_code {
  uint64_t bytes[PROFILE_INSTRUCTION_COUNT];
} profile_exchange_code;

/* A source or a destination of an exchange's data. Each name is listed once, in the order of the
 * messages. */
typedef struct profile_moved {
  uint32_t exchange;
  uint32_t is_destination; /* 0 or 1 */
  uint32_t name;
} profile_moved;

/* Variables, buffers or code of equal name, category and live range, on all tiles. */
typedef struct profile_live {
  uint32_t name;
  uint32_t category;              /* pop_memory_category */
  uint32_t first_step, last_step; /* executable_step.position, both inclusive; NONE: always live */
  uint64_t bytes;
} profile_live;

/* A step accesses an entry of `lives`. */
typedef struct profile_used {
  uint32_t step; /* executable_step.position */
  uint32_t live; /* in lives */
} profile_used;

typedef struct profile_metric {
  uint32_t name;
  double value;
} profile_metric;

typedef struct executable_profile {
  pop_arena *arena; /* names */
  uint64_t num_vertices, num_edges, num_variables;
  EXECUTABLE_ARRAY(const char *, names);
  EXECUTABLE_ARRAY(profile_metric, metrics); /* of the compilation */
  EXECUTABLE_ARRAY(profile_vertex_type, vertex_types);
  EXECUTABLE_ARRAY(profile_vertex_use, uses);
  EXECUTABLE_ARRAY(profile_work_row, work_rows);
  EXECUTABLE_ARRAY(uint32_t, works); /* by work of the executable: index in work_rows */
  EXECUTABLE_ARRAY(profile_exchange_code, exchange_codes); /* by exchange of the executable */
  EXECUTABLE_ARRAY(profile_moved, moved);                  /* ascending by exchange */
  EXECUTABLE_ARRAY(profile_live, lives);
  EXECUTABLE_ARRAY(profile_used, used); /* ascending by step, then by row of `lives`; each once */
} executable_profile;

/* Gets the profile of an executable; the caller frees it. Errors: INVALID_ARGUMENT for the CPU
 * device, which has none; FILE_LOAD if the archive has none (another tool has dropped it), or a
 * damaged one. */
POP_MUST_CHECK pop_error *executable_profile_get(const pop_executable *executable,
                                                 executable_profile **profile);
executable_profile *executable_profile_new(void);
void executable_profile_free(executable_profile *profile); /* NULL is fine */

/* note.c: the member, an ELF file like that of the metadata. */
POP_MUST_CHECK pop_error *executable_write_profile(const executable_profile *profile,
                                                   pop_bytes *elf);
POP_MUST_CHECK pop_error *executable_read_profile(const uint8_t *elf, size_t size,
                                                  const pop_executable *executable,
                                                  executable_profile *profile);

/* profile_encode.c, profile_decode.c: as CBOR. */
void executable_profile_encode(const executable_profile *profile, pop_bytes *cbor);
/* Fills an empty profile of that executable. Does not trust the input. Errors: FILE_LOAD with the
 * key. */
POP_MUST_CHECK pop_error *executable_profile_decode(const uint8_t *cbor, size_t size,
                                                    const pop_executable *executable,
                                                    executable_profile *profile);

#endif
