/* Loop analysis, accesses. Those with known addresses, as sums of an iteration's symbols, form
 * groups, by what their addresses differ in. The guard tests the groups in front of the loop. */
#include "loop_candidate.h"

/* The range of an access in an iteration, relative to the iteration's base. */
typedef struct extent {
  int64_t low, high;
  bool bounded;
  uint32_t scale; /* as of a group */
  affine limit;
} extent;

/* The group with this base that an access of so many bytes fits into by its alignment. */
static access_group *find_group(counted_loop *l, const affine *base, const extent *e,
                                uint32_t bytes)
{
  for (uint32_t i = 0; i < l->num_groups; i++) {
    access_group *g = &l->groups[i];
    if (affine_same_terms(&g->base, base) && g->scale == e->scale &&
        (!g->scale || affine_equal(&g->limit, &e->limit)) &&
        align_together(&g->align, &g->rest, e->low, isa_access_align(bytes)))
      return g;
  }
  return NULL;
}

/* Extends the range by a bounded value times `factor`. */
static bool extend(const candidate *c, uint16_t symbol, int64_t factor, extent *e)
{
  const affine *limit = &c->limits[symbol - NUM_REGISTERS];
  e->bounded = true;
  if (limit->known) { /* a larger factor might overflow the guard's 64 bits */
    if (e->scale || factor <= 0 || factor > MAX_GROUP_BYTES) return false;
    e->scale = (uint32_t)factor;
    e->limit = *limit;
    return true;
  }
  int64_t growth = factor * c->bounds[symbol - NUM_REGISTERS];
  *(growth < 0 ? &e->low : &e->high) += growth;
  return true;
}

/* Moves the constant and the bounded symbols from `address` to the range. False if a bounded term
 * is not a multiple of the access's alignment. */
static bool take_extent(const candidate *c, affine *address, uint32_t bytes, extent *out)
{
  affine base = {.known = address->known};
  int64_t offset = (int32_t)address->constant;
  *out = (extent){.low = offset, .high = offset + bytes};
  uint32_t align = isa_access_align(bytes);
  for (unsigned i = 0; i < address->num_terms; i++) {
    uint16_t symbol = address->symbol[i];
    int64_t factor = (int32_t)address->coefficient[i];
    if (symbol < FIRST_BOUNDED) {
      base.symbol[base.num_terms] = symbol;
      base.coefficient[base.num_terms++] = address->coefficient[i];
      continue;
    }
    if (factor % align || !extend(c, symbol, factor, out)) return false;
  }
  *address = base;
  return true;
}

/* Like loop_step_of. If `a` grows in some iterations only, the most that it grows, and sets
 * `bounded`. Then all that adds to it must have the same sign, and such growth must be a multiple
 * of `align`. */
static bool growth_of(const candidate *c, const affine *a, uint32_t align, affine *step,
                      bool *bounded)
{
  int64_t max_growth = 0, rest = 0;
  if (loop_step_of(c, a, step)) return true;
  for (unsigned i = 0; i < a->num_terms; i++) {
    uint16_t symbol = a->symbol[i];
    int64_t factor = (int32_t)a->coefficient[i];
    const affine *own = loop_step_of_symbol(c, symbol);
    bool grows_in_some =
        !own->known && symbol < NUM_REGISTERS && factor * c->grain[symbol] % align == 0;
    if (!grows_in_some && (!own->known || own->num_terms)) return false;
    int64_t growth = factor * (grows_in_some ? c->max_growth[symbol] : (int32_t)own->constant);
    if (growth < -MAX_GROUP_BYTES || growth > MAX_GROUP_BYTES) return false;
    if (grows_in_some && (!growth || growth * max_growth < 0)) return false;
    *(grows_in_some ? &max_growth : &rest) += growth;
  }
  if (rest * max_growth < 0) return false;
  *bounded = true;
  *step = affine_add(affine_symbol(0), (uint32_t)(max_growth + rest));
  return a->known;
}

/* The step of aligned accesses. A larger one might overflow the guard's 64 bits over all
 * iterations. */
static bool is_legal_step(int64_t step, int64_t align)
{
  return step % align == 0 && step >= -MAX_STEP && step <= MAX_STEP;
}

static void add_access(candidate *c, const code_op *op, uint32_t index)
{
  counted_loop *l = &c->loop;
  bool store;
  uint32_t bytes;
  if (!code_op_is_access(op, &store, &bytes)) return;
  if (l->accesses[index].invariant != UNIT_NONE) return;
  affine base = c->access[index];
  extent own;
  affine step;
  if (!base.known || !take_extent(c, &base, bytes, &own)) return;
  if (!growth_of(c, &base, isa_access_align(bytes), &step, &own.bounded) ||
      own.high - own.low > MAX_GROUP_BYTES)
    return;
  if (!step.num_terms && !is_legal_step((int32_t)step.constant, isa_access_align(bytes))) return;
  access_group *group = find_group(l, &base, &own, bytes);
  if (!group) {
    if (l->num_groups == MAX_GROUPS) return;
    group = &l->groups[l->num_groups++];
    *group = (access_group){.base = base,
                            .lowest = (int32_t)own.low,
                            .highest = (int32_t)own.low,
                            .step = step,
                            .scale = own.scale,
                            .limit = own.limit,
                            .align = 1};
    (void)align_together(&group->align, &group->rest, own.low, isa_access_align(bytes));
  }
  int64_t low = own.low < group->lowest ? own.low : group->lowest;
  int64_t high = own.high > group->highest ? own.high : group->highest;
  if (high - low > MAX_GROUP_BYTES || low < INT32_MIN || high > INT32_MAX) return;
  group->lowest = (int32_t)low;
  group->highest = (int32_t)high;
  group->load |= !store;
  group->store |= store;
  group->by_sp |= store && op->rs1 == 2;
  l->num_accesses++;
  l->accesses[index] = (hoisted_access){.group = (int32_t)(group - l->groups),
                                        .invariant = UNIT_NONE,
                                        .bounded = own.bounded,
                                        .offset = (int32_t)own.low};
}

void loop_add_accesses(candidate *c)
{
  uint32_t first = c->g->blocks[0].first_op;
  for (uint32_t n = 0; n < c->g->num_blocks; n++) {
    const code_block *b = &c->g->blocks[n];
    if (!c->loop.contains[n]) continue;
    for (uint32_t i = 0; i < b->num_ops; i++)
      add_access(c, &c->g->unit->ops[b->first_op + i], b->first_op + i - first);
  }
}

bool loop_can_hoist_loads(const candidate *c)
{
  const counted_loop *l = &c->loop;
  uint32_t first = c->g->blocks[0].first_op;
  bool loads = false;
  for (uint32_t i = 0; i < l->num_invariants; i++) {
    if (!l->invariants[i].load) continue;
    loads = true;
    for (uint32_t n = 0; n < l->num_groups; n++)
      if (l->groups[n].store && affine_same_terms(&l->groups[n].base, &l->invariants[i].a))
        return false;
  }
  for (uint32_t n = 0; n < c->g->num_blocks && loads; n++) {
    const code_block *b = &c->g->blocks[n];
    for (uint32_t i = b->first_op; l->contains[n] && i < b->first_op + b->num_ops; i++) {
      bool store;
      uint32_t bytes;
      if (code_op_is_access(&c->g->unit->ops[i], &store, &bytes) && store &&
          l->accesses[i - first].group == UNIT_NONE)
        return false;
    }
  }
  return true;
}

bool loop_hoists_block(const candidate *c, const code_block *b)
{
  uint32_t first = c->g->blocks[0].first_op;
  for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
    bool store;
    uint32_t bytes;
    if (code_op_is_access(&c->g->unit->ops[i], &store, &bytes) &&
        c->loop.accesses[i - first].group == UNIT_NONE &&
        c->loop.accesses[i - first].invariant == UNIT_NONE)
      return false;
  }
  return true;
}

bool loop_hoists_all(const candidate *c)
{
  for (uint32_t n = 0; n < c->g->num_blocks; n++)
    if (c->loop.contains[n] && !loop_hoists_block(c, &c->g->blocks[n])) return false;
  return true;
}
