/* Questions about tensors. They are answered for valid handles also when the graph has an error;
 * null handles are scalars of no type without elements. */
#include "graph/check.h"
#include "graph/describe.h"

static const tensor *find_tensor(pop_tensor t)
{
  return pop_tensor_valid(t) ? &t.graph->tensors[t.index] : NULL;
}

bool pop_tensor_valid(pop_tensor t)
{
  return t.graph && t.index > 0 && t.index < t.graph->num_tensors;
}

pop_type pop_tensor_element_type(pop_tensor handle)
{
  const tensor *t = find_tensor(handle);
  return t ? t->type : POP_TYPE_COUNT;
}

size_t pop_tensor_rank(pop_tensor handle)
{
  const tensor *t = find_tensor(handle);
  return t ? t->rank : 0;
}

size_t pop_tensor_dim(pop_tensor handle, size_t dimension)
{
  const tensor *t = find_tensor(handle);
  if (!t) return 0;
  if (dimension < t->rank) return t->shape[dimension];
  graph_failf(handle.graph, POP_ERROR_INDEX,
              "pop_tensor_dim: dimension %zu of the %s, which has %u dimensions", dimension,
              say_tensor(handle.graph, t), t->rank);
  return 0;
}

const size_t *pop_tensor_shape(pop_tensor handle)
{
  const tensor *t = find_tensor(handle);
  return t ? t->shape : NULL;
}

size_t pop_tensor_num_elements(pop_tensor handle)
{
  const tensor *t = find_tensor(handle);
  return t ? t->num_elements : 0;
}

bool pop_tensor_is_contiguous(pop_tensor handle)
{
  const tensor *t = find_tensor(handle);
  if (!t) return false;
  if (t->num_elements == 0) return true;
  view_walk walk;
  view_run run;
  view_walk_start(&walk, handle.graph, handle.index);
  return view_walk_next(&walk, &run) && run.count == t->num_elements;
}

bool pop_tensor_contains_constant(pop_tensor handle)
{
  const tensor *t = find_tensor(handle);
  for (size_t i = 0; t && i < t->num_pieces; i++)
    if (handle.graph->variables[handle.graph->pieces[t->first_piece + i].variable].constant)
      return true;
  return false;
}
