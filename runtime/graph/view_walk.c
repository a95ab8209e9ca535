/* Walking a view in order, as runs of consecutive elements. */
#include "graph/graph.h"

void view_walk_start(view_walk *walk, const pop_graph *graph, uint32_t index)
{
  walk->graph = graph;
  walk->tensor = &graph->tensors[index];
  walk->piece = 0;
  walk->started = false;
  walk->skip_repeats = false;
}

static const view_piece *current_piece(const view_walk *walk)
{
  return &walk->graph->pieces[walk->tensor->first_piece + walk->piece];
}

/* Sets the counters if a new piece begins; false at the end of the view. */
static bool begin_piece(view_walk *walk)
{
  if (walk->piece == walk->tensor->num_pieces) return false;
  if (walk->started) return true;
  const view_piece *piece = current_piece(walk);
  for (uint32_t i = 0; i < piece->num_dims; i++) walk->index[i] = 0;
  walk->element = piece->base;
  walk->started = true;
  return true;
}

/* The run that the counters stand at; moves them to the next one. */
static view_run take_run(view_walk *walk)
{
  const view_piece *piece = current_piece(walk);
  const view_dim *dims = piece_dims(walk->graph, piece);
  view_run run = {piece->variable, walk->element, 1};
  uint32_t k = piece->num_dims;
  if (k && dims[k - 1].stride == 1) run.count = dims[--k].count;
  while (k-- > 0) {
    bool again = !(walk->skip_repeats && dims[k].stride == 0);
    if (again && ++walk->index[k] < dims[k].count) {
      walk->element += (uint64_t)dims[k].stride;
      return run;
    }
    walk->element -= again ? (dims[k].count - 1) * (uint64_t)dims[k].stride : 0;
    walk->index[k] = 0;
  }
  walk->piece++;
  walk->started = false;
  return run;
}

bool view_walk_next(view_walk *walk, view_run *run)
{
  if (!begin_piece(walk)) return false;
  *run = take_run(walk);
  while (begin_piece(walk) && current_piece(walk)->variable == run->variable &&
         walk->element == run->begin + run->count)
    run->count += take_run(walk).count;
  return true;
}

/* How many elements of the current piece are done; *all: how many it has. */
static uint64_t elements_behind(const view_walk *walk, uint64_t *all)
{
  const view_piece *piece = current_piece(walk);
  const view_dim *dims = piece_dims(walk->graph, piece);
  uint64_t behind = 0;
  *all = 1;
  for (uint32_t k = piece->num_dims; k-- > 0;) {
    behind += walk->index[k] * *all;
    *all *= dims[k].count;
  }
  return behind;
}

/* Moves the counters to the run with this element of the current piece. Returns the number of
 * the run's first element. */
static uint64_t seek_run(view_walk *walk, uint64_t element)
{
  const view_piece *piece = current_piece(walk);
  const view_dim *dims = piece_dims(walk->graph, piece);
  uint32_t k = piece->num_dims;
  bool is_run = k && dims[k - 1].stride == 1;
  uint64_t run = is_run ? dims[--k].count : 1, rest = element / run;
  walk->element = piece->base;
  while (k-- > 0) {
    walk->index[k] = rest % dims[k].count;
    rest /= dims[k].count;
    walk->element += walk->index[k] * (uint64_t)dims[k].stride;
  }
  return element - element % run;
}

uint64_t view_walk_skip(view_walk *walk, uint64_t elements)
{
  uint64_t skipped = 0, all;
  while (elements > skipped && begin_piece(walk)) {
    uint64_t behind = elements_behind(walk, &all), wanted = behind + (elements - skipped);
    if (wanted < all) return skipped + seek_run(walk, wanted) - behind;
    skipped += all - behind;
    walk->piece++;
    walk->started = false;
  }
  return skipped;
}

double view_run_length(pop_tensor t)
{
  enum { RUNS = 256 };
  view_walk walk;
  view_run run;
  uint64_t elements = 0, runs = 0;
  view_walk_start(&walk, t.graph->top, t.index);
  for (; runs < RUNS && view_walk_next(&walk, &run); runs++) elements += run.count;
  return runs ? (double)elements / (double)runs : 0;
}
