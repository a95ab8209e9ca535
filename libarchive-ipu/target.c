/* The table of targets, each figure with its source.
 *
 * Sources, by the marks used below:
 *   [consts]   the public ipu1_consts.c of Saghetti0's research on the first chip: tiles, memory
 *              map, contexts, delays of the exchange, read from hardware
 *   [archinfo] the published LLVM of the Poplar SDK (ipuArchInfo): base of tile memory
 *   [memory]   ipu-stack's memory.rs: the memory map of ipu21, where code may execute
 *   [tut4]     the SDK's tutorial 4 prints 1,472 tiles for a second-generation IPU
 *   [tut6]     the SDK's tutorial 6 prints a worst cost of 64,373 (ipu1) and 53,807 (ipu2); its
 *              formula gives these only with 1,216 and 1,472 tiles, 6 workers and 4 bytes a cycle
 *   [guide]    the user guide's sample of a memory and execution report, for ipu1
 *   [poplibs]  graphcore/poplibs: lib/popops/popopsCycleEstimators.cpp and .hpp, codelets/asm/vectorInnerDiv_half.S
 *   [llvm]     the public fork of LLVM with the chip's code generator (graphcore/llvm-project-fork): tests in
 *              llvm/test/CodeGen/Colossus (coissue.ll, colossus-mi-schedule.ll and those named below), compiler-rt
 *   [ours]     our choice; nothing that we could find publishes it
 */
#include <populus/target.h>

#include <math.h>
#include <string.h>

#define KIB ((uint32_t)1024)

#define MAX_TILES_PER_IPU 65536
#define MAX_WORKERS 64
#define MAX_EXCHANGE_BYTES_PER_CYCLE 64
#define MAX_HOST_BYTES_PER_CYCLE 1024
#define MAX_GLOBAL_BYTES_PER_CYCLE 4096
#define MAX_CYCLES 1000000 /* of one sync or of one word's way */

/* What the three have in common.
 *
 * system_bytes: [guide] the overfull tile has 122,880 B in its non-interleaved region of 131,072 B.
 *
 * exchange_latency_cycles: the hardware's depends on where the two tiles lie. Ours is one figure,
 * near its longest path: 8 (send to exchange out) + 17 (column base to the opposite side) + 7 + 9
 * (mux and fabric) + 2 (exchange in to load) [consts], measured for ipu1. That these add up on one
 * path, and that ipu2 and ipu21 are like ipu1, is [ours].
 *
 * sync_cycles, host_sync_cycles: [guide] the execution trace has 118 cycles for each sync,
 * internal and external alike (cycles 118; three syncs later 472; three later 826). It comes
 * from the SDK's own model of ipu1; the hardware's depends on the tile. The same figure for
 * ipu2 and ipu21 is [ours].
 *
 * host_bytes_per_cycle: the SDK's tutorial 6 prints 2,641,488 cycles of host exchange for 40 MB on
 * an IPU of the second generation. That is 15 bytes in a cycle of 1.325 GHz, or 20 GB/s; ipu21 has
 * the same 20 GB/s at its clock. ipu1: PCIe 4.0 with 16 lanes, 32 GB/s, shared by two chips, less
 * the overhead of its packets, is about 8 bytes in a cycle [ours].
 *
 * global_bytes_per_cycle: published for both generations: ten IPU-Links of 320 GB/s together, both
 * ways. 160 GB/s one way are 100 bytes in a cycle of 1.6 GHz and 120 of 1.325 GHz, less the
 * overhead of packets [ours]. Which IPU is linked to which makes no difference here.
 *
 * global_latency_cycles: 0.6 microseconds at 1.325 GHz, about the time of a message between two
 * chips of a board without other traffic [ours]. It does not grow with the distance.
 *
 * link_domain_ipus, gateway_…: published for a POD of the second generation: IPU-Links join
 * 64 IPUs, and each machine of four IPUs has two gateway links of 100 Gbit/s to other PODs.
 * 25 GB/s for four IPUs are 4.7 bytes in a cycle of 1.325 GHz, less the overhead of
 * packets. 2.5 microseconds are two network cards and a switch [ours]. The other
 * generations have the same figures [ours].
 *
 * Copies within a tile (isa/isa.h): a Gaussian blur of 2200 x 1122 pixels of four floats, on an IPU
 * of the first generation, rearranged each tile's 32.5 KB in 8,279 cycles before its vertices ran.
 * That is 3.9 bytes a cycle, or two slots for a double word. (The planners of the chip's libraries
 * assume 8 bytes a cycle at best: a load and a store in one slot, which takes two memory elements.)
 *
 * cost: a context issues one instruction per slot, and the result is there before its next slot. So
 * the cost is 1, except for
 *
 *   - division, square root and functions, which take more (below);
 *   - steps of pointers and counters, which cost 0: the chip has them in its loads,
 *     stores and branches;
 *   - moves within pairs of words, which cost 0: the chip names both registers of a
 *     pair (isa/isa.h).
 *
 * Tutorial 6 takes 4.1 slots on hardware (28,300 cycles) for two loads, a product, a sum, two
 * pointers and a loop. An int becomes a float in 3 slots. The chip has no path from its integer to
 * its float registers but through memory ("Tile Vertex ISA"): a store, a load and the conversion
 * (f32-conversions.ll). A multiplication fits in a slot (the IPU's does).
 *
 * Float operations that share a slot with an instruction of another kind (isa/isa.h, joined;
 * libarchive-ipu/object_joins.c says which) cost 0 on ipu2 and ipu21 and 1 on ipu1. The chip's
 * compiler puts them into bundles unless it is told otherwise [llvm]. A loop that it made of float2
 * is published (simehaa/IPU, of a heat equation in three dimensions): 6 of its 9 float operations
 * are in bundles. With the sum beside the branch, tutorial 6 takes 4 slots here, and 5 without.
 * Measurements on the first generation show no such sharing: the blur takes 25.9 slots for a point
 * of 9 loads, 11 float operations and a store, and 24.7 for two points at a time.
 *
 * The same holds for loads and stores beside divisions, roots and functions, and for those beside
 * the branch of a repeat, which the chip does not have. On ipu1 rpt counts to 4,095 only, so loops
 * with a 16-bit counter are no repeats there; the code is the same.
 *
 * An instruction that RISC-V has and the chip lacks costs what the chip's compiler makes of it,
 * on all IPUs [llvm]:
 *
 *   - a branch that compares two registers is a comparison, then a branch
 *     (i32-comparisons.ll, br.ll). Where it ends a counted loop, the chip's compiler turns
 *     it into a count down to zero, which the branch does (counted-loop-isel.ll,
 *     colossus-hwloop-pass.ll; isa_compares in isa/encoding.h);
 *   - a float becomes an int by f32int, f32toi32 and a move (f32-conversions.ll);
 *   - a comparison of floats is one, then a move (f32-comparisons.ll);
 *   - there are no stores of less than a word: the compiler calls a function, which takes 8 slots
 *     for the first half of a word and 7 for the second, and 12 for a byte
 *     (compiler-rt/lib/builtins/ipu/st16f.S, st16.S, st8.S). The call is one more: 9 and 13.
 *
 * Some differences are not counted: negative offsets, which the chip does not have in loads and
 * stores, because clang uses them where it could do without; addresses of base, distance and
 * offset, which the chip has; numbers that go to float registers by fmv.w.x, because they are
 * mostly constants, which the chip loads in two slots as well.
 *
 * Division of floats: comments in the chip's libraries say 1 to 3 slots; their formulas use 3
 * [poplibs]. Square roots: their formula has 10 slots for two, with loads and stores beside them: 5
 * each. Functions (isa/isa.h): in comments there two f32exp are 6 slots, two f32ln 12, two f16v2exp
 * and two f16v2ln 4 each; f32tanh and f32sigm 5, f16v2tanh 1, f16v2sigm 2, as worst cases from the
 * chip's manual (lib/popnn/PerformanceEstimation.hpp). The loops of 10 for two floats in place
 * agree with these. Two inverse roots are 8. "NOT single cycle and NOT even constant", says the
 * same file of all of them: these are figures for the mean of random operands.
 *
 * Division of ints: the chip has no such instruction, and its compiler calls a function. Its
 * libraries count 277 slots for the quotient of two ints in a loop over vectors, 265 for unsigned
 * ones, 292 and 282 for remainders, and 7 for a sum in the same loop [poplibs]. So the division
 * alone is 259 to 286, here 270 for all four. */
#define COMMON(joined)                                                                             \
  .type = POP_TARGET_IPU, .num_worker_contexts = 6 /* [consts] [tut6] */, .system_bytes = 8 * KIB, \
  .memory_element_bytes = 16 * KIB /* [consts] [memory] */,                                        \
  .exchange_bytes_per_cycle = 4 /* [tut6] */, .exchange_latency_cycles = 8 + 17 + 7 + 9 + 2,       \
  .sync_cycles = 118, .host_sync_cycles = 118, .global_latency_cycles = 800 /* [ours] */,          \
  .global_bytes_per_cycle = 96 /* [ours] */, .link_domain_ipus = 64,                               \
  .gateway_latency_cycles = 3300 /* [ours] */, .gateway_bytes_per_cycle = 4 /* [ours] */,          \
  .cost = {                                                                                        \
      [POP_COST_ALU] = 1,                                                                          \
      [POP_COST_STEP] = 0,                                                                         \
      [POP_COST_LOAD] = 1,                                                                         \
      [POP_COST_STORE] = 1,                                                                        \
      [POP_COST_STORE_HALF] = 9 /* [llvm] */,                                                      \
      [POP_COST_STORE_BYTE] = 13 /* [llvm] */,                                                     \
      [POP_COST_BRANCH] = 1,                                                                       \
      [POP_COST_COMPARE_BRANCH] = 2 /* [llvm] */,                                                  \
      [POP_COST_JUMP] = 1,                                                                         \
      [POP_COST_MUL] = 1,                                                                          \
      [POP_COST_DIV] = 270 /* [poplibs] */,                                                        \
      [POP_COST_FLOAT] = 1,                                                                        \
      [POP_COST_JOINED] = joined,                                                                  \
      [POP_COST_FLOAT_OF_INT] = 3 /* [llvm] */,                                                    \
      [POP_COST_INT_OF_FLOAT] = 3 /* [llvm] */,                                                    \
      [POP_COST_FLOAT_COMPARE] = 2 /* [llvm] */,                                                   \
      [POP_COST_WORD_MOVE] = 0,                                                                    \
      [POP_COST_FLOAT_DIV] = 3,                                                                    \
      [POP_COST_FLOAT_SQRT] = 5,                                                                   \
      [POP_COST_FLOAT_EXP] = 3,                                                                    \
      [POP_COST_FLOAT_LOG] = 6,                                                                    \
      [POP_COST_FLOAT_TANH] = 5,                                                                   \
      [POP_COST_FLOAT_RSQRT] = 4,                                                                  \
      [POP_COST_HALF_EXP] = 2,                                                                     \
      [POP_COST_HALF_TANH] = 1,                                                                    \
      [POP_COST_CSR] = 1,                                                                          \
      [POP_COST_TILE] = 1,                                                                         \
  }

static const pop_target targets[] = {
    {
        .name = "ipu1",
        .tiles_per_ipu = 1216,       /* [consts] 0x4c0 of 1,280 on the chip; [tut6] */
        .memory_base = 0x40000,      /* [archinfo] [consts] */
        .memory_bytes = 256 * KIB,   /* [consts] TMEM_SIZE 0x100 KiB */
        .interleaved_base = 0x60000, /* [consts] TMEM_REGION0_SIZE 0x80 KiB */
        .host_bytes_per_cycle = 8,   /* [ours] */
        .clock_hz = 1.6e9,           /* [guide] 54,202 cycles are 33.9 microseconds */
        COMMON(1),
    },
    {
        .name = "ipu2",
        .tiles_per_ipu = 1472,       /* [tut4] [tut6] */
        .memory_base = 0x4c000,      /* [archinfo] */
        .memory_bytes = 624 * KIB,   /* published: 900 MB on 1,472 tiles */
        .interleaved_base = 0x80000, /* as ipu21, which has the same base and size */
        .host_bytes_per_cycle = 15,  /* [tut6] */
        .clock_hz = 1.325e9,         /* published for the GC200 */
        COMMON(0),
    },
    {
        .name = "ipu21",
        .tiles_per_ipu = 1472,       /* ipu-stack's topology.rs */
        .memory_base = 0x4c000,      /* [archinfo] */
        .memory_bytes = 624 * KIB,   /* [memory] */
        .interleaved_base = 0x80000, /* [memory] IPU21_EXECUTABLE_MEMORY_LIMIT */
        .host_bytes_per_cycle = 11,  /* as ipu2's in a second */
        .clock_hz = 1.85e9,          /* [ours]: Bow's; not published for this chip */
        COMMON(0),
    },
};

#define NUM_TARGETS (sizeof targets / sizeof *targets)
#define DEFAULT_TARGET "ipu2"

const char *const *pop_target_names(void)
{
  static const char *const names[] = {targets[0].name, targets[1].name, targets[2].name, NULL};
  _Static_assert(sizeof names / sizeof *names == NUM_TARGETS + 1, "a target has no name here");
  return names;
}

pop_error *pop_target_create(const char *name, uint32_t num_ipus, pop_target *target)
{
  if (num_ipus < 1 || num_ipus > POP_TARGET_MAX_IPUS)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "a target with %u IPUs was asked for: 1 to %d are possible", num_ipus,
                         POP_TARGET_MAX_IPUS);
  if (!name) name = DEFAULT_TARGET;
  for (size_t i = 0; i < NUM_TARGETS; i++) {
    if (strcmp(targets[i].name, name) != 0) continue;
    *target = targets[i];
    target->num_ipus = num_ipus;
    return NULL;
  }
  _Static_assert(NUM_TARGETS == 3, "the message lists three");
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                       "there is no target '%s': the targets are %s, %s and %s", name,
                       targets[0].name, targets[1].name, targets[2].name);
}

/* [ours], all of it: figures that pop_target_validate takes and nobody uses. */
void pop_target_create_cpu(pop_target *target)
{
  *target = (pop_target){
      .name = "cpu",
      .tiles_per_ipu = 1,
      .num_ipus = 1,
      .memory_bytes = UINT32_MAX / 4 * 4,
      .interleaved_base = UINT32_MAX / 4 * 4,
      .clock_hz = 1e9,
      .host_bytes_per_cycle = 8,
      COMMON(1),
  };
  target->type = POP_TARGET_CPU;
  target->system_bytes = 0;
}

uint32_t pop_target_num_tiles(const pop_target *target)
{
  return target->num_ipus * target->tiles_per_ipu;
}

uint32_t pop_target_memory_end(const pop_target *target)
{
  return target->memory_base + target->memory_bytes;
}

static pop_error *check_range(const pop_target *target, const char *field, uint64_t value,
                              uint64_t low, uint64_t high)
{
  if (value >= low && value <= high) return NULL;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                       "target '%s': %s is %llu, but must be from %llu to %llu", target->name,
                       field, (unsigned long long)value, (unsigned long long)low,
                       (unsigned long long)high);
}

static pop_error *check_words(const pop_target *target, const char *field, uint32_t value)
{
  if (value % 4 == 0) return NULL;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                       "target '%s': %s is %u, but must be a multiple of 4", target->name, field,
                       value);
}

#define CHECK_RANGE(field, low, high)                                                              \
  POP_TRY(check_range(target, #field, target->field, (low), (high)))
#define CHECK_WORDS(field) POP_TRY(check_words(target, #field, target->field))

/* Regions in order: base <= base + system <= interleaved base <= end < 2^32. */
static pop_error *validate_memory(const pop_target *target)
{
  CHECK_WORDS(memory_base);
  CHECK_WORDS(memory_bytes);
  CHECK_WORDS(interleaved_base);
  CHECK_WORDS(system_bytes);
  CHECK_RANGE(memory_bytes, 4, UINT32_MAX);
  CHECK_RANGE(memory_base, 0, UINT32_MAX - target->memory_bytes);
  CHECK_RANGE(interleaved_base, target->memory_base, pop_target_memory_end(target));
  CHECK_RANGE(system_bytes, 0, target->interleaved_base - target->memory_base);
  CHECK_RANGE(memory_element_bytes, 4, UINT32_MAX / 2);
  CHECK_WORDS(memory_element_bytes);
  return NULL;
}

static pop_error *validate_costs(const pop_target *target)
{
  static const char *const fields[] = {
#define COST_FIELD(id, name) [id] = "cost of class '" name "'",
      POP_COST_CLASSES(COST_FIELD)
#undef COST_FIELD
  };
  for (unsigned i = 0; i < POP_COST_CLASS_COUNT; i++) {
    bool free = i == POP_COST_STEP || i == POP_COST_WORD_MOVE ||
                i == POP_COST_JOINED; /* no loop is made of these alone */
    POP_TRY(check_range(target, fields[i], target->cost[i], free ? 0 : 1, POP_TARGET_MAX_COST));
  }
  return NULL;
}

pop_error *pop_target_validate(const pop_target *target)
{
  if (!memchr(target->name, '\0', sizeof target->name))
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "target '%.*s': name is longer than %zu characters",
                         (int)sizeof target->name, target->name, sizeof target->name - 1);
  CHECK_RANGE(type, POP_TARGET_IPU, POP_TARGET_CPU);
  CHECK_RANGE(num_ipus, 1, POP_TARGET_MAX_IPUS);
  CHECK_RANGE(tiles_per_ipu, 1, MAX_TILES_PER_IPU);
  POP_TRY(check_range(target, "num_ipus * tiles_per_ipu", pop_target_num_tiles(target), 1,
                      POP_TARGET_MAX_TILES));
  CHECK_RANGE(num_worker_contexts, 1, MAX_WORKERS);
  POP_TRY(validate_memory(target));
  CHECK_RANGE(exchange_bytes_per_cycle, 4, MAX_EXCHANGE_BYTES_PER_CYCLE);
  CHECK_WORDS(exchange_bytes_per_cycle);
  CHECK_RANGE(exchange_latency_cycles, 0, MAX_CYCLES);
  CHECK_RANGE(sync_cycles, 0, MAX_CYCLES);
  CHECK_RANGE(host_sync_cycles, 0, MAX_CYCLES);
  CHECK_RANGE(host_bytes_per_cycle, 1, MAX_HOST_BYTES_PER_CYCLE);
  CHECK_RANGE(global_latency_cycles, 0, MAX_CYCLES);
  CHECK_RANGE(global_bytes_per_cycle, 1, MAX_GLOBAL_BYTES_PER_CYCLE);
  CHECK_RANGE(link_domain_ipus, 1, POP_TARGET_MAX_IPUS);
  CHECK_RANGE(gateway_latency_cycles, 0, MAX_CYCLES);
  CHECK_RANGE(gateway_bytes_per_cycle, 1, MAX_GLOBAL_BYTES_PER_CYCLE);
  CHECK_RANGE(cycle_estimates, 0, 1);
  CHECK_RANGE(memory_without_code, 0, 1);
  if (!isfinite(target->clock_hz) || target->clock_hz <= 0)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "target '%s': clock_hz is %g, but must be greater than 0", target->name,
                         target->clock_hz);
  return validate_costs(target);
}
