/* Checks that every element that is used has a tile. */
#include "compiler/check/check.h"

static pop_error *unmapped(const mapped_variables *mapped, uint32_t variable_number, uint64_t begin,
                           uint64_t end)
{
  const variable *v = &mapped->graph->variables[variable_number];
  return pop_error_new(POP_ERROR_INVALID_TILE_MAPPING,
                       "elements [%llu:%llu) of %s '%s' (%llu elements) are not mapped to a "
                       "tile: map them with pop_graph_set_tile_mapping or pop_graph_map_linearly",
                       (unsigned long long)begin, (unsigned long long)end,
                       v->constant ? "constant" : "variable", v->name,
                       (unsigned long long)v->num_elements);
}

pop_error *check_mapped(const mapped_variables *mapped, uint32_t variable_number, uint64_t begin,
                        uint64_t end)
{
  if (mapped->completely[variable_number]) return NULL;
  size_t count;
  const mapping_interval *mapping = graph_mapping(mapped->graph, variable_number, &count);
  size_t low = 0, high = count; /* the first interval that ends after `begin` */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (mapping[middle].end <= begin)
      low = middle + 1;
    else
      high = middle;
  }
  for (; begin < end; begin = mapping[low++].end) {
    if (low == count) return unmapped(mapped, variable_number, begin, end);
    if (mapping[low].begin > begin)
      return unmapped(mapped, variable_number, begin,
                      mapping[low].begin < end ? mapping[low].begin : end);
  }
  return NULL;
}

pop_error *check_host_tensor(const mapped_variables *mapped, uint32_t tensor_number)
{
  uint64_t count = mapped->graph->tensors[tensor_number].num_elements;
  if (count > UINT32_MAX)
    return pop_error_new(POP_ERROR_TENSOR,
                         "a tensor of %llu elements goes to the host: up to %u can, so that a "
                         "broadcast does not fill its memory",
                         (unsigned long long)count, UINT32_MAX);
  return check_tensor_mapped(mapped, tensor_number);
}

pop_error *check_tensor_mapped(const mapped_variables *mapped, uint32_t tensor_number)
{
  view_walk walk;
  view_run run;
  view_walk_start(&walk, mapped->graph, tensor_number);
  walk.skip_repeats = true;
  while (view_walk_next(&walk, &run))
    POP_TRY(check_mapped(mapped, run.variable, run.begin, run.begin + run.count));
  return NULL;
}
