/* What tile memory is used for: categories and regions, in the words of the memory profile. */
#ifndef POPULUS_MEMORY_H
#define POPULUS_MEMORY_H

#include <populus/target.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, key in the profile, label in the text summary) */
#define POP_MEMORY_CATEGORIES(X)                                                                   \
  X(POP_MEMORY_VARIABLE, "variable", "Variables")                                                  \
  X(POP_MEMORY_CONSTANT, "constant", "Constants")                                                  \
  X(POP_MEMORY_MESSAGE, "message", "Internal Exchange Message Buffers")                            \
  X(POP_MEMORY_HOST_MESSAGE, "hostMessage", "Host Exchange Message Buffers")                       \
  X(POP_MEMORY_GLOBAL_MESSAGE, "globalMessage", "Global Exchange Message Buffers")                 \
  X(POP_MEMORY_REARRANGEMENT, "rearrangement", "Data Rearrangement Buffers")                       \
  X(POP_MEMORY_OUTPUT_EDGE, "outputEdge", "Output Edge Buffers")                                   \
  X(POP_MEMORY_MULTIPLE, "multiple", "Shared By Several Categories")                               \
  X(POP_MEMORY_HOST_EXCHANGE_PACKET_HEADER, "hostExchangePacketHeader",                            \
    "Host Exchange Packet Headers")                                                                \
  X(POP_MEMORY_GLOBAL_EXCHANGE_PACKET_HEADER, "globalExchangePacketHeader",                        \
    "Global Exchange Packet Headers")                                                              \
  X(POP_MEMORY_STACK, "stack", "Stack")                                                            \
  X(POP_MEMORY_VERTEX_INSTANCE_STATE, "vertexInstanceState", "Vertex Instances")                   \
  X(POP_MEMORY_COPY_DESCRIPTOR, "copyDescriptor", "Copy Descriptors")                              \
  X(POP_MEMORY_VECTOR_LIST_DESCRIPTOR, "vectorListDescriptor", "VectorList Descriptors")           \
  X(POP_MEMORY_VERTEX_FIELD_DATA, "vertexFieldData", "Vertex Field Data")                          \
  X(POP_MEMORY_CONTROL_TABLE, "controlTable", "Control Table")                                     \
  X(POP_MEMORY_CONTROL_CODE, "controlCode", "Control Code")                                        \
  X(POP_MEMORY_CONTROL_ID, "controlId", "Control IDs")                                             \
  X(POP_MEMORY_VERTEX_CODE, "vertexCode", "Vertex Code")                                           \
  X(POP_MEMORY_INTERNAL_EXCHANGE_CODE, "internalExchangeCode", "Internal Exchange Code")           \
  X(POP_MEMORY_HOST_EXCHANGE_CODE, "hostExchangeCode", "Host Exchange Code")                       \
  X(POP_MEMORY_GLOBAL_EXCHANGE_CODE, "globalExchangeCode", "Global Exchange Code")                 \
  X(POP_MEMORY_INSTRUMENTATION_RESULTS, "instrumentationResults", "Instrumentation Results")       \
  X(POP_MEMORY_SHARED_CODE_STORAGE, "sharedCodeStorage", "Shared Code Storage")                    \
  X(POP_MEMORY_SHARED_DATA_STORAGE, "sharedDataStorage", "Shared Data Storage")

typedef enum pop_memory_category {
#define POP_MEMORY_ENUMERATOR(id, key, label) id,
  POP_MEMORY_CATEGORIES(POP_MEMORY_ENUMERATOR)
#undef POP_MEMORY_ENUMERATOR
      POP_MEMORY_CATEGORY_COUNT
} pop_memory_category;

typedef enum pop_memory_region {
  POP_REGION_NON_INTERLEAVED,
  POP_REGION_INTERLEAVED,
  POP_REGION_OVERFLOWED, /* beyond the tile's memory: only with debug.allowOutOfMemory */
  POP_REGION_COUNT
} pop_memory_region;

/* "?" if there is no such category. */
const char *pop_memory_category_key(pop_memory_category category);
const char *pop_memory_category_label(pop_memory_category category);
/* Whether it holds instructions. */
bool pop_memory_category_is_code(pop_memory_category category);

/* The region that an address of a tile belongs to. Addresses from the end of its memory on are
 * OVERFLOWED; all below the interleaved region are NON_INTERLEAVED. */
pop_memory_region pop_memory_region_of(const pop_target *target, uint32_t address);

#ifdef __cplusplus
}
#endif
#endif
