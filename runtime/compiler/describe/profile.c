/* The profile of a compilation: results of the passes, added up. This file has vertex types,
 * compute sets and metrics. live_ranges.c has liveness. Programs and exchanges are part of the
 * executable. */
#include "compiler/describe/profile.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

uint32_t profile_name(profile_maker *m, const char *text)
{
  if (!text) return COMPILER_NONE;
  uint32_t known = pop_name_table_find(&m->names, text);
  if (known != POP_NAME_NONE) return known;
  executable_profile *p = m->p;
  const char *kept = pop_arena_strdup(p->arena, text);
  pop_name_table_add(&m->names, kept, (uint32_t)p->num_names);
  pop_push(p->names, p->num_names, p->names_capacity, kept);
  return (uint32_t)(p->num_names - 1);
}

/* ---- code of vertices ---- */

/* Bytes of all code and constants that vertices of these types need, laid out alone. */
static pop_error *code_of_types(const compilation *c, const uint32_t *types, size_t count,
                                uint32_t *bytes)
{
  const char **roots = pop_xcalloc(count, sizeof *roots);
  const char **needed_by = pop_xcalloc(count, sizeof *needed_by);
  for (size_t i = 0; i < count; i++) {
    roots[i] = c->vertex_types[types[i]].type->symbol;
    needed_by[i] = c->vertex_types[types[i]].type->name;
  }
  pop_live_sections *live = NULL;
  pop_error *error = pop_live_sections_create(c->link_set, roots, needed_by, count, &live);
  if (!error)
    *bytes = pop_live_sections_group_bytes(live, POP_LINK_CODE) +
             pop_live_sections_group_bytes(live, POP_LINK_RODATA);
  pop_live_sections_free(live);
  free(roots);
  free(needed_by);
  return error;
}

static pop_error *describe_vertex_types(profile_maker *m)
{
  const compilation *c = m->c;
  executable_profile *p = m->p;
  for (uint32_t i = 0; i < c->num_vertex_types; i++) {
    profile_vertex_type described = {.state_bytes = c->vertex_types[i].type->state_size};
    POP_TRY(code_of_types(c, &i, 1, &described.code_bytes));
    pop_push(p->vertex_types, p->num_vertex_types, p->vertex_types_capacity, described);
  }
  return NULL;
}

/* ---- works: equal rows are stored once ---- */

typedef struct row_slot {
  uint32_t row; /* + 1; 0: free */
} row_slot;

typedef struct row_table {
  row_slot *slots;
  size_t num_slots; /* a power of two */
} row_table;

/* The slot of the row with these uses, or the free slot where it belongs. */
static row_slot *find_row(const row_table *t, const executable_profile *p,
                          const profile_vertex_use *uses, size_t count)
{
  for (size_t at = XXH3_64bits(uses, count * sizeof *uses) & (t->num_slots - 1);;
       at = (at + 1) & (t->num_slots - 1)) {
    if (!t->slots[at].row) return &t->slots[at];
    const profile_work_row *row = &p->work_rows[t->slots[at].row - 1];
    if (row->num_uses == count && memcmp(p->uses + row->first_use, uses, count * sizeof *uses) == 0)
      return &t->slots[at];
  }
}

static void grow_rows(row_table *t, const executable_profile *p)
{
  if (2 * p->num_work_rows < t->num_slots) return;
  t->num_slots = t->num_slots ? 2 * t->num_slots : 256;
  free(t->slots);
  t->slots = pop_xcalloc(t->num_slots, sizeof *t->slots);
  for (uint32_t i = 0; i < p->num_work_rows; i++) {
    const profile_work_row *row = &p->work_rows[i];
    find_row(t, p, p->uses + row->first_use, row->num_uses)->row = i + 1;
  }
}

static bool has_types_of(const executable_profile *p, const profile_work_row *a,
                         const profile_vertex_use *uses, size_t count)
{
  if (a->num_uses != count) return false;
  for (size_t i = 0; i < count; i++)
    if (p->uses[a->first_use + i].type != uses[i].type) return false;
  return true;
}

/* Takes the size from a recent row with the same types, if there is one: tiles that do the same
 * follow one another. */
static pop_error *code_of_row(const profile_maker *m, const profile_vertex_use *uses, size_t count,
                              uint32_t *bytes)
{
  enum { ROWS_LOOKED_AT = 64 };
  const executable_profile *p = m->p;
  if (count == 1) {
    *bytes = p->vertex_types[uses[0].type].code_bytes;
    return NULL;
  }
  for (size_t i = p->num_work_rows, end = i > ROWS_LOOKED_AT ? i - ROWS_LOOKED_AT : 0; i > end; i--)
    if (has_types_of(p, &p->work_rows[i - 1], uses, count)) {
      *bytes = p->work_rows[i - 1].code_bytes;
      return NULL;
    }
  uint32_t *types = pop_xcalloc(count, sizeof *types);
  for (size_t i = 0; i < count; i++) types[i] = uses[i].type;
  pop_error *error = code_of_types(m->c, types, count, bytes);
  free(types);
  return error;
}

static pop_error *describe_work(profile_maker *m, row_table *rows, const tile_work *work)
{
  executable_profile *p = m->p;
  const profile_vertex_use *uses = m->c->vertex_uses + work->first_use;
  grow_rows(rows, p);
  row_slot *slot = find_row(rows, p, uses, work->num_uses);
  if (!slot->row) {
    profile_work_row row = {.first_use = (uint32_t)p->num_uses, .num_uses = work->num_uses};
    POP_TRY(code_of_row(m, uses, work->num_uses, &row.code_bytes));
    for (size_t i = 0; i < work->num_uses; i++)
      pop_push(p->uses, p->num_uses, p->uses_capacity, uses[i]);
    pop_push(p->work_rows, p->num_work_rows, p->work_rows_capacity, row);
    slot->row = (uint32_t)p->num_work_rows;
  }
  pop_push(p->works, p->num_works, p->works_capacity, slot->row - 1);
  return NULL;
}

static pop_error *describe_works(profile_maker *m)
{
  row_table rows = {0};
  pop_error *error = NULL;
  for (size_t i = 0; i < m->c->num_works && !error; i++)
    error = describe_work(m, &rows, &m->c->works[i]);
  free(rows.slots);
  return error;
}

/* ---- metrics ---- */

static void put_metric(profile_maker *m, const char *name, double value)
{
  pop_push(m->p->metrics, m->p->num_metrics, m->p->metrics_capacity,
           (profile_metric){profile_name(m, name), value});
}

static void describe_metrics(profile_maker *m)
{
  const compilation *c = m->c;
  uint32_t num_tiles = pop_target_num_tiles(&c->target), distinct = 0;
  uint64_t words = 0, multicast = 0, copies = 0;
  double excess = 1;
  for (uint32_t t = 0; t < num_tiles; t++) {
    const pop_tile_memory *memory = &c->memory[t];
    distinct += c->tiles[t].same_as == COMPILER_NONE;
    if (memory->least_including_gaps &&
        (double)memory->total_including_gaps / memory->least_including_gaps > excess)
      excess = (double)memory->total_including_gaps / memory->least_including_gaps;
  }
  for (size_t i = 0; i < c->num_messages; i++) {
    words += c->messages[i].num_words;
    multicast += c->messages[i].num_receivers > 1;
  }
  for (size_t i = 0; i < c->num_vertices; i++)
    copies += c->vertices[i].graph_vertex == COMPILER_NONE;
  put_metric(m, "codeGroups", (double)c->num_code_groups);
  put_metric(m, "copyVertices", (double)copies);
  put_metric(m, "distinctTilePlans", distinct);
  put_metric(m, "exchangeMessages", (double)c->num_messages);
  put_metric(m, "exchangeMulticasts", (double)multicast);
  put_metric(m, "exchangeWordsSent", (double)words);
  put_metric(m, "memoryPlanToBoundMax", excess);
}

/* ---- exchanges ---- */

static profile_instruction instruction_of(uint32_t op)
{
  switch ((exchange_op_kind)op) {
  case EXCHANGE_SEND:
    return PROFILE_SEND;
  case EXCHANGE_RECEIVE_ADDRESS:
    return PROFILE_RECEIVE_ADDRESS;
  case EXCHANGE_RECEIVE_MUX:
    return PROFILE_RECEIVE_MUX;
  case EXCHANGE_DELAY:
    return PROFILE_DELAY;
  default:
    return PROFILE_OTHER;
  }
}

static void describe_exchange_codes(profile_maker *m)
{
  enum { INSTRUCTION_BYTES = 4 };
  const compilation *c = m->c;
  executable_profile *p = m->p;
  for (size_t i = 0; i < c->num_exchanges; i++) {
    const exchange *x = &c->exchanges[i];
    profile_exchange_code code = {0};
    for (size_t part = 0; part < x->num_tiles; part++) {
      const tile_exchange *t = &c->tile_exchanges[x->first_tile + part];
      for (uint32_t op = 0; op < t->num_ops; op++)
        code.bytes[instruction_of(c->exchange_ops[t->first_op + op].kind)] += INSTRUCTION_BYTES;
    }
    pop_push(p->exchange_codes, p->num_exchange_codes, p->exchange_codes_capacity, code);
  }
}

pop_error *compilation_describe_profile(const compilation *c, executable_profile *p)
{
  profile_maker m = {.c = c, .p = p};
  p->num_vertices = c->num_vertices;
  p->num_edges = c->num_edges;
  p->num_variables = c->num_blocks;
  pop_error *error = describe_vertex_types(&m);
  if (!error) error = describe_works(&m);
  if (!error) {
    describe_metrics(&m);
    describe_exchange_codes(&m);
    describe_exchanged(&m);
    describe_live_ranges(&m);
  }
  pop_name_table_free(&m.names);
  return error;
}
