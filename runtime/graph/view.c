/* Collects the pieces of a view, and keeps them.
 *
 * Every piece that is added is made canonical. Then it is merged with the one before it as long
 * as one nest of loops can express both: runs that follow each other, rows at a constant
 * distance, rows that repeat. So a view that was cut into rows becomes one piece again when the
 * rows fit together. */
#include "graph/view.h"
#include "graph/check.h"
#include "graph/view_scratch.h"

#include <stdlib.h>
#include <string.h>

struct view_scratch *view_scratch_new(void)
{
  struct view_scratch *scratch = pop_xcalloc(1, sizeof *scratch);
  pop_reserve(scratch->dims, 1,
              scratch->dims_capacity); /* never NULL: single elements point there, too */
  return scratch;
}

void view_scratch_free(struct view_scratch *scratch)
{
  free(scratch->pieces);
  free(scratch->dims);
  free(scratch);
}

bool view_count_elements(const size_t *shape, size_t rank, uint64_t *num_elements)
{
  *num_elements = 1;
  bool fits = true;
  for (size_t d = 0; d < rank; d++) {
    if (shape[d] == 0) {
      *num_elements = 0;
      return true;
    }
    fits = fits && !__builtin_mul_overflow(*num_elements, shape[d], num_elements);
  }
  return fits && *num_elements <= INT64_MAX;
}

/* ---- canonical pieces ---- */

static void push_loop(struct view_scratch *s, size_t first_dim, view_dim loop)
{
  if (loop.count == 1) return;
  view_dim *outer = s->num_dims > first_dim ? &s->dims[s->num_dims - 1] : NULL;
  if (outer && view_loops_join(*outer, loop))
    *outer = (view_dim){outer->count * loop.count, loop.stride};
  else
    pop_push(s->dims, s->num_dims, s->dims_capacity, loop);
}

static bool same_dims(const view_dim *a, const view_dim *b, size_t count)
{
  return count == 0 || memcmp(a, b, count * sizeof *a) == 0; /* no loops: the arrays may be NULL */
}

/* Drops the last piece; its loops replace those of the piece before it. */
static void take_loops_of_last(struct view_scratch *s)
{
  view_piece *before = &s->pieces[s->num_pieces - 2], *last = before + 1;
  memmove(s->dims + before->first_dim, s->dims + last->first_dim, last->num_dims * sizeof *s->dims);
  before->num_dims = last->num_dims;
}

/* Both pieces have the same loops: adds an outer loop around them. */
static void repeat_loops(struct view_scratch *s)
{
  view_piece *before = &s->pieces[s->num_pieces - 2], *last = before + 1;
  view_dim around = {2, (int64_t)last->base - (int64_t)before->base};
  view_dim *dims = s->dims + before->first_dim;
  if (before->num_dims && view_loops_join(around, dims[0])) {
    dims[0].count *= 2;
    return;
  }
  pop_reserve(s->dims, s->num_dims + 1, s->dims_capacity);
  dims = s->dims + before->first_dim;
  memmove(dims + 1, dims, before->num_dims * sizeof *dims);
  dims[0] = around;
  before->num_dims++;
}

/* Merges the last two pieces, P and Q, if one nest of loops can express both. */
static bool merge_last_two(struct view_scratch *s)
{
  if (s->num_pieces < 2) return false;
  view_piece *p = &s->pieces[s->num_pieces - 2], *q = p + 1;
  if (p->variable != q->variable) return false;
  view_dim *pd = s->dims + p->first_dim, *qd = s->dims + q->first_dim;
  uint32_t np = p->num_dims, nq = q->num_dims;
  uint64_t p_end = np ? p->base + pd[0].count * (uint64_t)pd[0].stride : 0; /* where P goes on */

  if (np && np == nq && pd[0].stride == qd[0].stride && q->base == p_end &&
      same_dims(pd + 1, qd + 1, np - 1)) {
    pd[0].count += qd[0].count; /* Q goes on where P ends */
  } else if (np == nq + 1 && q->base == p_end && same_dims(pd + 1, qd, nq)) {
    pd[0].count++; /* Q is the next row of P */
  } else if (nq == np + 1 && q->base == p->base + (uint64_t)qd[0].stride &&
             same_dims(pd, qd + 1, np)) {
    qd[0].count++; /* P is the row before Q */
    take_loops_of_last(s);
  } else if (np == nq && same_dims(pd, qd, np)) {
    repeat_loops(s);
  } else {
    return false;
  }
  p = &s->pieces[s->num_pieces - 2];
  s->num_dims = p->first_dim + p->num_dims;
  s->num_pieces--;
  return true;
}

void view_add_piece(struct view_scratch *s, uint32_t variable, uint64_t base, const view_dim *dims,
                    size_t num_dims)
{
  if (s->num_pieces == MOST_PIECES) s->too_many = true;
  if (s->too_many) return;
  view_piece piece = {.variable = variable, .base = base, .first_dim = s->num_dims};
  for (size_t i = 0; i < num_dims; i++) push_loop(s, piece.first_dim, dims[i]);
  piece.num_dims = (uint32_t)(s->num_dims - piece.first_dim);
  pop_push(s->pieces, s->num_pieces, s->pieces_capacity, piece);
  while (merge_last_two(s)) continue;
}

/* ---- keeping ---- */

static uint64_t hash_words(const void *words, size_t count)
{
  uint64_t hash = count;
  const uint64_t *p = words;
  for (size_t i = 0; i < count; i++) {
    hash = (hash ^ p[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

static size_t keep_dims(pop_graph *graph, const view_dim *dims, size_t count)
{
  if (count == 0) return 0;
  size_t *recent = &graph->scratch->recent_dims[hash_words(dims, 2 * count) & (RECENT - 1)];
  if (*recent + count <= graph->num_dims && same_dims(graph->dims + *recent, dims, count))
    return *recent;
  *recent = graph->num_dims;
  pop_reserve(graph->dims, graph->num_dims + count, graph->dims_capacity);
  memcpy(graph->dims + graph->num_dims, dims, count * sizeof *dims);
  graph->num_dims += count;
  return *recent;
}

static const size_t *keep_shape(pop_graph *graph, const size_t *shape, size_t rank)
{
  static const size_t no_sizes[1];
  if (rank == 0) return no_sizes;
  recent_shape *recent = &graph->scratch->recent_shapes[hash_words(shape, rank) & (RECENT - 1)];
  if (recent->rank != rank || memcmp(recent->shape, shape, rank * sizeof *shape) != 0) {
    size_t *kept = pop_arena_alloc(graph->arena, rank * sizeof *shape);
    *recent = (recent_shape){memcpy(kept, shape, rank * sizeof *shape), rank};
  }
  return recent->shape;
}

static uint64_t piece_elements(const view_dim *dims, size_t num_dims)
{
  uint64_t elements = 1;
  for (size_t i = 0; i < num_dims; i++) elements *= dims[i].count;
  return elements;
}

static pop_tensor add_tensor(pop_graph *graph, const char *call, tensor t)
{
  if (!check_room(graph, call, graph->num_tensors, "tensors")) return (pop_tensor){graph, 0};
  pop_push(graph->tensors, graph->num_tensors, graph->tensors_capacity, t);
  return (pop_tensor){graph, (uint32_t)(graph->num_tensors - 1)};
}

void view_begin(pop_graph *graph, uint32_t replication)
{
  graph->scratch->replication = replication;
  graph->scratch->num_pieces = 0;
  graph->scratch->num_dims = 0;
  graph->scratch->too_many = false;
}

void view_add_run(pop_graph *graph, uint32_t variable, uint64_t base, uint64_t count)
{
  if (count) view_add_piece(graph->scratch, variable, base, &(view_dim){count, 1}, 1);
}

pop_tensor view_end(pop_graph *graph, const char *call, pop_type type, const size_t *shape,
                    size_t rank)
{
  const struct view_scratch *s = graph->scratch;
  if (s->too_many) {
    graph_failf(graph, POP_ERROR_MEMORY,
                "%s: the result would have more than %d pieces, each from another place; arrange "
                "the dimensions so that neighbouring elements stay together",
                call, MOST_PIECES);
    return (pop_tensor){graph, 0};
  }
  tensor t = {.type = type,
              .rank = (uint16_t)rank,
              .replication = (uint16_t)s->replication,
              .shape = keep_shape(graph, shape, rank),
              .first_piece = graph->num_pieces,
              .num_pieces = s->num_pieces};
  for (size_t i = 0; i < s->num_pieces; i++) {
    view_piece piece = s->pieces[i];
    const view_dim *dims = piece.num_dims ? s->dims + piece.first_dim : NULL;
    piece.first_dim = keep_dims(graph, dims, piece.num_dims);
    piece.start = t.num_elements;
    t.num_elements += piece_elements(dims, piece.num_dims);
    pop_push(graph->pieces, graph->num_pieces, graph->pieces_capacity, piece);
  }
  return add_tensor(graph, call, t);
}

pop_tensor view_reshaped(pop_graph *graph, const char *call, const tensor *t, const size_t *shape,
                         size_t rank)
{
  tensor reshaped = *t;
  reshaped.rank = (uint16_t)rank;
  reshaped.shape = keep_shape(graph, shape, rank);
  return add_tensor(graph, call, reshaped);
}
