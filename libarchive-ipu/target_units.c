/* The chips' vector and matrix units. Sources:
 *
 * [LLVM]     graphcore/llvm-project-fork, ipuArchInfo: the repeat count is masked by 0xfff (ipu1), 0xffff (ipu2, ipu21); loads are of
 *            32, 64 and 128 bits, stores of 32 and 64, none of fewer; three strides of 10 bits are packed in a register.
 * [consts]   Saghetti0, research/ipu1/ipu1_consts.c: TFPU_AMP_UNITS_PER_SET 8, two sets on the later chips.
 * [codelets] graphcore/poplibs, sdk-release-3.4: convolution vertices written for ipu2 have 16 units for half and half or
 *            float and float, and 8 for half and float; for ipu1 8 each; with 4 halves or 2 floats at once, 16 halves or 8 floats of
 *            weights in a unit, which is a depth of 4. ipu21 alone has vertices for quarters: 16 units, 8 at once. Weights are loaded
 *            by 16 bytes a cycle on ipu2 (said in lib/poplin/PerformanceEstimation.hpp); that it is half on ipu1 is [ours].
 *            Planners of popops and popsparse are only right for two tiles on a bus of the exchange, and say so.
 *            Booleans are computed one by one: code that popops writes in the width of the narrowest type branches on them.
 *
 * memcpy_bytes_per_cycle: [ours], one 64-bit load and store each cycle of the tile, as the data path allows. */
#include <populus/target_units.h>
#include <string.h>

static const struct chip {
  const char *name;
  pop_target_units units;
} chips[] = {
    /* The first is what a name that is not here means. */
    {"ipu2", {64, 4, 0xffff, 10, 8, 16, 8, 16, 0, 4, 4, 2, 8, 16, 2}},
    {"ipu21", {64, 4, 0xffff, 10, 8, 16, 8, 16, 16, 4, 4, 2, 8, 16, 2}},
    {"ipu1", {64, 4, 0xfff, 10, 8, 8, 8, 8, 0, 4, 4, 2, 8, 8, 2}},
};

const pop_target_units *pop_target_get_units(const pop_target *target)
{
  for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++)
    if (!strcmp(chips[i].name, target->name)) return &chips[i].units;
  return &chips[0].units;
}

uint32_t pop_target_vector_width(const pop_target *target, pop_type type)
{
  if (type == POP_BOOL) return 1;
  uint32_t bits = 8 * pop_type_bytes(type);
  uint32_t path = pop_target_get_units(target)->data_path_bits;
  return bits && bits < path ? path / bits : 1;
}
