/* The order in which a copy is made. Any order will do if it is the same on both sides. The
 * compiler goes through the elements in the tensors' order. Between two transposed matrices,
 * each element would be far from the last, although both lie in the same order in memory. Halves
 * would be moved one by one, and exchanged in words of which half is thrown away. */
#include "graph/copy_order.h"
#include "graph/graph.h"

static double smaller(double a, double b)
{
  return a < b ? a : b;
}

/* The length of runs that are runs on both sides. */
static double common_length(pop_tensor a, pop_tensor b)
{
  return smaller(view_run_length(a), view_run_length(b));
}

static bool have_equal_shapes(pop_tensor a, pop_tensor b)
{
  size_t rank = pop_tensor_rank(a);
  if (pop_tensor_rank(b) != rank) return false;
  for (size_t i = 0; i < rank; i++)
    if (pop_tensor_dim(a, i) != pop_tensor_dim(b, i)) return false;
  return true;
}

/* The tensor with dimension `last` as the last one. */
static pop_tensor reordered(pop_tensor t, size_t last)
{
  size_t order[GRAPH_MAX_RANK], rank = pop_tensor_rank(t), count = 0;
  for (size_t i = 0; i < rank; i++)
    if (i != last) order[count++] = i;
  order[count] = last;
  return pop_tensor_dim_shuffle(t, order, rank);
}

/* Is it of few pieces? The runs of other views can get shorter in another order. */
static bool is_regular(pop_tensor t)
{
  enum { FEW_PIECES = 64 };
  return t.graph->top->tensors[t.index].num_pieces <= FEW_PIECES;
}

void order_copy(pop_graph *graph, pop_tensor *source, pop_tensor *destination)
{
  enum { FEW = 64, LONG = 8, TIMES = 2 };
  size_t rank = pop_tensor_rank(*source);
  if (rank < 2 || pop_tensor_num_elements(*source) < FEW) return;
  if (!is_regular(*source) || !is_regular(*destination)) return;
  double length = common_length(*source, *destination);
  if (length >= LONG || !have_equal_shapes(*source, *destination)) return;
  pop_tensor from = *source, to = *destination;
  for (size_t last = 0; last + 1 < rank; last++) {
    if (pop_tensor_dim(from, last) < TIMES) continue;
    pop_tensor a = reordered(from, last), b = reordered(to, last);
    if (pop_graph_error(graph)) return;
    double longer = common_length(a, b);
    if (longer < TIMES * length) continue;
    length = longer;
    *source = a;
    *destination = b;
  }
}
