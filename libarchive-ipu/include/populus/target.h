/* Targets: number of tiles, tile memory, costs.
 *
 * One struct, filled from one table (target.c, each figure with its source). A caller may change
 * fields for an experiment. What makes something of a target (graphs, devices, machines, the
 * compiler) checks it with pop_target_validate first. The other functions of this header do not.
 *
 * Tile memory, addresses as the tile sees them:
 *
 *   memory_base                                     interleaved_base                 memory end
 *   | system | code, data … (region 0: may execute) | data (region 1: interleaved) | */
#ifndef POPULUS_TARGET_H
#define POPULUS_TARGET_H

#include <populus/error.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pop_target_type {
  POP_TARGET_IPU,
  POP_TARGET_IPU_MODEL,
  POP_TARGET_CPU
} pop_target_type;

/* Cost classes of tile instructions, in issue slots of the context that executes them (a worker's
 * slot comes every `num_worker_contexts` tile cycles). X(enumerator, name) */
#define POP_COST_CLASSES(X)                                                                        \
  X(POP_COST_ALU, "alu")                                                                           \
  X(POP_COST_STEP, "step") /* of a pointer, with the load or store that has it */                  \
  X(POP_COST_LOAD, "load")                                                                         \
  X(POP_COST_STORE, "store")                                                                       \
  X(POP_COST_STORE_HALF, "store_half") /* of two bytes */                                          \
  X(POP_COST_STORE_BYTE, "store_byte")                                                             \
  X(POP_COST_BRANCH, "branch")                                                                     \
  X(POP_COST_COMPARE_BRANCH,                                                                       \
    "compare_branch") /* of two registers, but what ends a loop's count */                         \
  X(POP_COST_JUMP, "jump")                                                                         \
  X(POP_COST_MUL, "mul")                                                                           \
  X(POP_COST_DIV, "div")                                                                           \
  X(POP_COST_FLOAT, "float")                                                                       \
  X(POP_COST_JOINED, "joined") /* of floats, beside an instruction of another kind */              \
  X(POP_COST_FLOAT_OF_INT, "float_of_int")                                                         \
  X(POP_COST_INT_OF_FLOAT, "int_of_float")                                                         \
  X(POP_COST_FLOAT_COMPARE, "float_compare") /* with an integer for the result */                  \
  X(POP_COST_WORD_MOVE, "word_move")         /* within a pair of words, to or from one */          \
  X(POP_COST_FLOAT_DIV, "float_div")                                                               \
  X(POP_COST_FLOAT_SQRT, "float_sqrt")                                                             \
  X(POP_COST_FLOAT_EXP, "float_exp")                                                               \
  X(POP_COST_FLOAT_LOG, "float_log")                                                               \
  X(POP_COST_FLOAT_TANH, "float_tanh") /* logistic function, too */                                \
  X(POP_COST_FLOAT_RSQRT, "float_rsqrt")                                                           \
  X(POP_COST_HALF_EXP, "half_exp") /* of two halves: exponential, logarithm, logistic function */  \
  X(POP_COST_HALF_TANH, "half_tanh")                                                               \
  X(POP_COST_CSR, "csr")                                                                           \
  X(POP_COST_TILE, "tile")

typedef enum pop_cost_class {
#define POP_COST_ENUMERATOR(id, name) id,
  POP_COST_CLASSES(POP_COST_ENUMERATOR)
#undef POP_COST_ENUMERATOR
      POP_COST_CLASS_COUNT
} pop_cost_class;

/* Limits of a target. POP_TARGET_MAX_IMAGES limits the tiles of one replica, because each has an
 * image in the archive and the names of these members have at most six digits. */
#define POP_TARGET_MAX_IPUS 1024
#define POP_TARGET_MAX_TILES 2097152
#define POP_TARGET_MAX_IMAGES 1000000
#define POP_TARGET_MAX_COST 4095 /* so that the slots of a block of code fit in 32 bits */

typedef struct pop_target {
  char name[16]; /* "ipu1", "ipu2", "ipu21" or a name of the user's, NUL-terminated */
  pop_target_type type;
  uint32_t num_ipus;             /* 1 to POP_TARGET_MAX_IPUS */
  uint32_t tiles_per_ipu;        /* 1 to 65,536 */
  uint32_t num_worker_contexts;  /* 6, 1 to 64; fewer: no MultiVertex; the supervisor is one more */
  uint32_t memory_base;          /* first address of tile memory */
  uint32_t memory_bytes;         /* per tile, all regions */
  uint32_t interleaved_base;     /* first address of region 1; == end of memory if there is none */
  uint32_t system_bytes;         /* at memory_base, kept for the system, not given to programs */
  uint32_t memory_element_bytes; /* 16 KiB; region 1 pairs two of them */
  uint32_t exchange_bytes_per_cycle; /* of a tile: 4, one word; a multiple of 4 up to 64 */
  uint32_t exchange_latency_cycles;  /* from a word's send to its arrival, two tiles of an IPU */
  uint32_t sync_cycles;              /* from the last tile's request to the release of an IPU */
  uint32_t host_sync_cycles;         /* the same for a sync with the host or of all IPUs */
  uint32_t host_bytes_per_cycle;     /* between one IPU and the host */
  uint32_t global_latency_cycles;    /* from IPU to IPU */
  uint32_t global_bytes_per_cycle;   /* of one IPU's links to the others together, each way */
  uint32_t
      link_domain_ipus; /* so many, one after the other, are linked; others are behind gateways: */
  uint32_t gateway_latency_cycles;  /* from IPU to IPU of another domain */
  uint32_t gateway_bytes_per_cycle; /* one IPU's share of what leaves its domain, or comes to it */
  uint32_t cycle_estimates; /* 1 (IPU_MODEL): vertices take their estimates, if any; 0: code's */
  uint32_t
      memory_without_code; /* 1: memory profiles leave code out (IPU_MODEL); 0: all is in them */
  double clock_hz;
  /* Issue slots per instruction class: 1 to POP_TARGET_MAX_COST; steps, joined operations and word
   * moves may cost 0. */
  uint16_t cost[POP_COST_CLASS_COUNT];
} pop_target;

/* Fills `target` for the named architecture: "ipu1", "ipu2" (default when NULL), "ipu21". The
 * caller owns nothing. INVALID_ARGUMENT for another name (the message lists them) and for num_ipus
 * outside 1..POP_TARGET_MAX_IPUS. */
POP_MUST_CHECK pop_error *pop_target_create(const char *name, uint32_t num_ipus,
                                            pop_target *target);

/* The host as a target, "cpu": one IPU of one tile with six workers, and as much memory as a 32-bit
 * address reaches. Its tiles mean nothing: a graph for it, and virtual graphs of that, may name any
 * tile below POP_TARGET_MAX_TILES, and all of them are the same memory. pop_graph_num_tiles is 1
 * all the same, and a virtual graph by tiles within an IPU has only that one; raise tiles_per_ipu
 * for more. Vertices that run on all workers are called for one worker after the other. Cycles,
 * costs and the clock mean nothing. */
void pop_target_create_cpu(pop_target *target);

/* Checks every field and their relations (sizes that do not overflow 32 bits, regions in order,
 * 4-byte multiples, at least one tile, …). INVALID_ARGUMENT, with the field and the legal range. */
POP_MUST_CHECK pop_error *pop_target_validate(const pop_target *target);

const char *const *pop_target_names(void); /* NULL-terminated: "ipu1", "ipu2", "ipu21" */
/* num_ipus * tiles_per_ipu, at most POP_TARGET_MAX_TILES. */
uint32_t pop_target_num_tiles(const pop_target *target);
/* The first address behind tile memory. */
uint32_t pop_target_memory_end(const pop_target *target);

#ifdef __cplusplus
}
#endif
#endif
