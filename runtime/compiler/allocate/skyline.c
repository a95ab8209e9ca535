/* An order for blocks that share addresses: best fit for strip packing, like laying bricks on an
 * uneven wall. (Sekiyama, Imai et al. use it for buffers: "Profile-guided memory optimization for
 * deep neural networks", 2018.)
 *
 *     address
 *       |      ____
 *       |_____|    |______
 *       |_________________|__ step
 *
 * The skyline is the height to which memory is used at each step. In each round its lowest segment
 * takes a block: the one with the longest live range of those within the segment. If no block is
 * within it, the segment is raised to its lower neighbour and merged with it.
 */
#include "compiler/allocate/allocate.h"

#include <stdlib.h>

typedef struct skyline_segment {
  uint32_t first_step, last_step;
  uint64_t height;
} skyline_segment;

typedef struct skyline {
  const plan_group *group;
  skyline_segment *segments; /* ascending by step, without holes */
  size_t count;
  uint32_t *unplaced; /* members */
  size_t num_unplaced;
} skyline;

static const plan_item *member(const skyline *s, uint32_t number)
{
  return &s->group->problem->items[s->group->items[number]];
}

static size_t lowest_segment(const skyline *s)
{
  size_t lowest = 0;
  for (size_t i = 1; i < s->count; i++)
    if (s->segments[i].height < s->segments[lowest].height) lowest = i;
  return lowest;
}

static bool is_longer(const plan_item *a, const plan_item *b)
{
  uint32_t life_a = a->last_step - a->first_step, life_b = b->last_step - b->first_step;
  return life_a != life_b ? life_a > life_b : a->size > b->size;
}

/* Position in `unplaced` of the best block within the segment, or num_unplaced if there is none. */
static size_t best_for(const skyline *s, const skyline_segment *place)
{
  size_t best = s->num_unplaced;
  for (size_t i = 0; i < s->num_unplaced; i++) {
    const plan_item *x = member(s, s->unplaced[i]);
    if (x->first_step < place->first_step || x->last_step > place->last_step) continue;
    if (best == s->num_unplaced || is_longer(x, member(s, s->unplaced[best]))) best = i;
  }
  return best;
}

static void insert(skyline *s, size_t at, skyline_segment added)
{
  for (size_t i = s->count; i > at; i--) s->segments[i] = s->segments[i - 1];
  s->segments[at] = added;
  s->count++;
}

static void remove_segment(skyline *s, size_t at)
{
  s->count--;
  for (size_t i = at; i < s->count; i++) s->segments[i] = s->segments[i + 1];
}

/* Raises the part of the segment in which x is live. */
static void place_on_segment(skyline *s, size_t at, const plan_item *x)
{
  skyline_segment whole = s->segments[at];
  uint64_t lowest = plan_lowest(s->group->problem, x);
  uint64_t from = whole.height > lowest ? whole.height : lowest;
  s->segments[at] =
      (skyline_segment){x->first_step, x->last_step, plan_align_up(from, x->align) + x->size};
  if (whole.last_step > x->last_step)
    insert(s, at + 1, (skyline_segment){x->last_step + 1, whole.last_step, whole.height});
  if (whole.first_step < x->first_step)
    insert(s, at, (skyline_segment){whole.first_step, x->first_step - 1, whole.height});
}

static void raise_to_neighbour(skyline *s, size_t at)
{
  bool has_left = at > 0, has_right = at + 1 < s->count;
  bool to_left =
      has_left && (!has_right || s->segments[at - 1].height <= s->segments[at + 1].height);
  if (to_left) {
    s->segments[at - 1].last_step = s->segments[at].last_step;
  } else {
    s->segments[at + 1].first_step = s->segments[at].first_step;
  }
  remove_segment(s, at);
}

void order_by_skyline(const plan_group *group, uint32_t *order)
{
  size_t n = group->count;
  /* Each block adds two segments at most. */
  skyline s = {.group = group,
               .segments = pop_xcalloc(2 * n + 1, sizeof *s.segments),
               .count = 1,
               .unplaced = pop_xcalloc(n + 1, sizeof *s.unplaced),
               .num_unplaced = n};
  s.segments[0] = (skyline_segment){0, UINT32_MAX, group->floor};
  for (uint32_t i = 0; i < n; i++) s.unplaced[i] = i;
  for (size_t placed = 0; placed < n;) {
    size_t at = lowest_segment(&s), found = best_for(&s, &s.segments[at]);
    if (found == s.num_unplaced) {
      raise_to_neighbour(&s, at);
      continue;
    }
    uint32_t number = s.unplaced[found];
    place_on_segment(&s, at, member(&s, number));
    order[placed++] = number;
    s.num_unplaced--;
    for (size_t i = found; i < s.num_unplaced; i++) s.unplaced[i] = s.unplaced[i + 1];
  }
  free(s.segments);
  free(s.unplaced);
}
