/* Views: makes them from the graph's tensors, and moves their data. */
#include "cpu/cpu_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

/* An innermost loop of stride 1 becomes part of the run. */
static void add_piece(cpu_compilation *c, const view_piece *piece, uint32_t element_bytes,
                      cpu_view *view)
{
  cpu_program *p = c->p;
  const view_dim *dims = piece_dims(c->graph, piece);
  cpu_piece made = {.at = c->variables[piece->variable] + piece->base * element_bytes,
                    .run_bytes = element_bytes,
                    .num_runs = 1,
                    .first_dim = p->num_dims,
                    .num_dims = piece->num_dims};
  if (made.num_dims && dims[made.num_dims - 1].stride == 1)
    made.run_bytes *= dims[--made.num_dims].count;
  uint64_t low = made.at, high = made.at + made.run_bytes;
  for (uint32_t i = 0; i < made.num_dims; i++) {
    cpu_dim dim = {dims[i].count, dims[i].stride * (int64_t)element_bytes};
    uint64_t way = (dim.count - 1) * (uint64_t)dim.stride;
    if (dim.stride < 0)
      low += way;
    else
      high += way;
    made.num_runs *= dim.count;
    pop_push(p->dims, p->num_dims, p->dims_capacity, dim);
  }
  pop_push(p->pieces, p->num_pieces, p->pieces_capacity, made);
  view->bytes += made.num_runs * made.run_bytes;
  if (low < view->low) view->low = low;
  if (high > view->high) view->high = high;
}

uint32_t cpu_add_view(cpu_compilation *c, uint32_t number)
{
  cpu_program *p = c->p;
  if (c->views[number] != CPU_NONE) return c->views[number];
  const tensor *t = &c->graph->tensors[number];
  cpu_view view = {
      .first_piece = p->num_pieces, .num_pieces = t->num_pieces, .low = UINT64_MAX, .high = 0};
  for (size_t i = 0; i < t->num_pieces; i++)
    add_piece(c, &c->graph->pieces[t->first_piece + i], pop_type_bytes(t->type), &view);
  pop_push(p->views, p->num_views, p->views_capacity, view);
  return c->views[number] = (uint32_t)(p->num_views - 1);
}

uint64_t cpu_view_place(const cpu_program *p, uint32_t number)
{
  const cpu_view *view = &p->views[number];
  if (view->num_pieces == 0) return 0;
  const cpu_piece *piece = &p->pieces[view->first_piece];
  uint64_t at = piece->at, end = at;
  for (size_t i = 0; i < view->num_pieces; i++, piece++) {
    if (piece->num_dims || piece->at != end) return UINT64_MAX;
    end += piece->run_bytes;
  }
  return at;
}

/* ---- moving ---- */

enum { MAX_DIMS = 64 };

/* Iterates over the runs of a piece, without its innermost loop, which has functions of its own. */
typedef struct walk {
  const cpu_dim *dims;
  uint32_t num_dims; /* without the innermost */
  uint64_t index[MAX_DIMS];
  uint64_t at;
} walk;

static bool next(walk *w)
{
  for (uint32_t k = w->num_dims; k-- > 0;) {
    w->at += (uint64_t)w->dims[k].stride;
    if (++w->index[k] < w->dims[k].count) return true;
    w->at -= w->dims[k].count * (uint64_t)w->dims[k].stride;
    w->index[k] = 0;
  }
  return false;
}

/* Copies `count` elements of SIZE bytes. With a constant SIZE the compiler makes one move of
 * each. */
#define STRIDED(to, to_stride, from, from_stride, SIZE)                                            \
  for (int64_t i = 0; i < (int64_t)count; i++)                                                     \
  memcpy((to) + i * (int64_t)(to_stride), (from) + i * (int64_t)(from_stride), SIZE)

static void move_out(const uint8_t *from, int64_t stride, uint64_t count, uint64_t size,
                     uint8_t *to)
{
  switch (size) {
  case 1:
    STRIDED(to, 1, from, stride, 1);
    break;
  case 2:
    STRIDED(to, 2, from, stride, 2);
    break;
  case 4:
    STRIDED(to, 4, from, stride, 4);
    break;
  case 8:
    STRIDED(to, 8, from, stride, 8);
    break;
  default:
    STRIDED(to, size, from, stride, size);
  }
}

static void move_in(uint8_t *to, int64_t stride, uint64_t count, uint64_t size, const uint8_t *from)
{
  switch (size) {
  case 1:
    STRIDED(to, stride, from, 1, 1);
    break;
  case 2:
    STRIDED(to, stride, from, 2, 2);
    break;
  case 4:
    STRIDED(to, stride, from, 4, 4);
    break;
  case 8:
    STRIDED(to, stride, from, 8, 8);
    break;
  default:
    STRIDED(to, stride, from, size, size);
  }
}

/* Moves a piece to `linear` (out) or from it. */
static uint64_t move_piece(const cpu_program *p, const cpu_piece *piece, uint8_t *memory,
                           uint8_t *linear, bool out)
{
  uint32_t outer = piece->num_dims ? piece->num_dims - 1 : 0;
  const cpu_dim *dims = piece->num_dims ? p->dims + piece->first_dim : NULL;
  cpu_dim inner = piece->num_dims ? dims[outer] : (cpu_dim){1, 0};
  uint64_t moved = 0;
  walk w = {.dims = dims, .num_dims = outer, .at = piece->at};
  do {
    if (out)
      move_out(memory + w.at, inner.stride, inner.count, piece->run_bytes, linear + moved);
    else
      move_in(memory + w.at, inner.stride, inner.count, piece->run_bytes, linear + moved);
    moved += inner.count * piece->run_bytes;
  } while (next(&w));
  return moved;
}

static void move_view(const cpu_program *p, const cpu_view *view, uint8_t *memory, uint8_t *linear,
                      bool out)
{
  for (size_t i = 0; i < view->num_pieces; i++)
    linear += move_piece(p, &p->pieces[view->first_piece + i], memory, linear, out);
}

void cpu_gather(const cpu_program *p, const cpu_view *view, const uint8_t *memory, uint8_t *to)
{
  move_view(p, view, (uint8_t *)memory, to, true);
}

void cpu_scatter(const cpu_program *p, const cpu_view *view, uint8_t *memory, const uint8_t *from)
{
  move_view(p, view, memory, (uint8_t *)from, false);
}

static bool is_run(const cpu_program *p, const cpu_view *view)
{
  return view->num_pieces == 1 && p->pieces[view->first_piece].num_dims == 0;
}

void cpu_copy(const cpu_program *p, const cpu_view *from, const cpu_view *to, uint8_t *memory)
{
  bool apart = from->high <= to->low || to->high <= from->low;
  if (to->bytes == 0) return;
  if (is_run(p, from) && is_run(p, to)) {
    memmove(memory + to->low, memory + from->low, to->bytes);
  } else if (apart && is_run(p, to)) {
    cpu_gather(p, from, memory, memory + to->low);
  } else if (apart && is_run(p, from)) {
    cpu_scatter(p, to, memory, memory + from->low);
  } else {
    uint8_t *temporary = pop_xmalloc(to->bytes);
    cpu_gather(p, from, memory, temporary);
    cpu_scatter(p, to, memory, temporary);
    free(temporary);
  }
}
