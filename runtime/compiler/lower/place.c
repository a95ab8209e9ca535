/* pass_place: gives the elements of variables a place.
 *
 * Each variable gets one block on each tile: its intervals on that tile, packed in element order.
 * So a slice that is regular in the variable stays one run in memory, and a vertex can use the data
 * where they are. Sizes are rounded up to words, because the exchange moves words.
 *
 * A block is aligned for the strictest vertex field that is connected at its beginning.
 *
 * Constants may be on another tile than they are mapped to, or take fewer bytes than they have:
 * constants.h.
 *
 * Needs:   a graph that check has seen.
 * Adds:    variables, intervals, a block for each variable and tile.
 * Then:    the mapping of variables to tiles is final.
 */
#include "compiler/compilation.h"
#include "compiler/lower/constants.h"
#include "compiler/reach.h"
#include "compiler/segments.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_ALIGN = 4, DEFAULT_ALIGN = 8, MAX_ALIGN = 4096 };

typedef struct placing {
  compilation *c;
  constant_use *uses;         /* by variable */
  uint32_t *block_of_tile;    /* of the variable being placed */
  uint32_t *variable_of_tile; /* the variable that block_of_tile[i] is for */
  const char *name;           /* of the variable, in the compilation's arena */
} placing;

static uint32_t round_up_to_word(uint64_t bytes)
{
  return (uint32_t)((bytes + 3) & ~(uint64_t)3);
}

/* The interval that holds `element`, from that element on. */
static placed_interval find_interval(const compilation *c, uint32_t variable, uint64_t element)
{
  placed_interval found = c->intervals[find_interval_number(c, variable, element)];
  uint64_t skipped = element - found.begin;
  found.at.offset += (uint32_t)(skipped * pop_type_bytes(c->graph->variables[variable].type));
  found.begin = element;
  return found;
}

static uint32_t block_on_tile(placing *p, uint32_t number, const mapping_interval *mapped)
{
  compilation *c = p->c;
  const variable *v = &c->graph->variables[number];
  if (p->variable_of_tile[mapped->tile] != number) {
    p->variable_of_tile[mapped->tile] = number;
    p->block_of_tile[mapped->tile] =
        add_block(c, &(block){.tile = mapped->tile,
                              .size = 1, /* until the variable is complete */
                              .align = DEFAULT_ALIGN,
                              .category = v->constant ? POP_MEMORY_CONSTANT : POP_MEMORY_VARIABLE,
                              .flags = v->constant || v->initial ? BLOCK_ALWAYS_LIVE : 0,
                              .name = p->name,
                              .content = COMPILER_NONE});
    c->blocks[p->block_of_tile[mapped->tile]].size = 0;
  }
  return p->block_of_tile[mapped->tile];
}

/* Places one interval after what the variable already has on the tile. */
static pop_error *place_interval(placing *p, uint32_t number, const mapping_interval *mapped)
{
  compilation *c = p->c;
  const variable *v = &c->graph->variables[number];
  uint32_t block_number = block_on_tile(p, number, mapped);
  block *b = &c->blocks[block_number];
  uint64_t size = b->size + (mapped->end - mapped->begin) * pop_type_bytes(v->type);
  if (size > UINT32_MAX - 3)
    return pop_error_new(POP_ERROR_GRAPH_MEMORY,
                         "variable '%s' has %llu bytes on tile %u, more than an address can "
                         "reach: map it to more tiles",
                         v->name, (unsigned long long)size, mapped->tile);
  pop_push(c->intervals, c->num_intervals, c->intervals_capacity,
           (placed_interval){.begin = mapped->begin,
                             .end = mapped->end,
                             .tile = mapped->tile,
                             .at = {.block = block_number, .offset = b->size}});
  b->size = (uint32_t)size;
  return NULL;
}

static void set_initial_contents(compilation *c, const variable *v, const placed_variable *placed,
                                 size_t first_block)
{
  uint32_t element_bytes = pop_type_bytes(v->type);
  for (size_t i = first_block; i < c->num_blocks; i++)
    c->blocks[i].content = begin_content(c, c->blocks[i].size);
  for (size_t i = 0; i < placed->num_intervals; i++) {
    const placed_interval *interval = &c->intervals[placed->first_interval + i];
    const content *to = &c->contents[c->blocks[interval->at.block].content];
    memcpy(c->bytes + to->first_byte + interval->at.offset,
           v->initial + interval->begin * element_bytes,
           (interval->end - interval->begin) * element_bytes);
  }
}

/* "float[300,40]"; of a scalar "float". */
static const char *describe_type(const compilation *c, uint32_t number)
{
  const tensor *whole = &c->graph->tensors[c->graph->variables[number].tensor];
  const char *text = pop_type_name(whole->type);
  for (uint32_t i = 0; i < whole->rank; i++)
    text = pop_arena_printf(c->arena, "%s%c%zu", text, i ? ',' : '[', whole->shape[i]);
  return whole->rank ? pop_arena_printf(c->arena, "%s]", text) : text;
}

static const size_t *copy_shape(const compilation *c, const variable *v)
{
  const tensor *whole = &c->graph->tensors[v->tensor];
  size_t bytes = whole->rank * sizeof *whole->shape;
  size_t *shape = pop_arena_alloc(c->arena, bytes);
  if (bytes) memcpy(shape, whole->shape, bytes);
  return shape;
}

static pop_error *place_variable(placing *p, uint32_t number)
{
  compilation *c = p->c;
  size_t count, first_block = c->num_blocks;
  const mapping_interval *mapping = graph_mapping(c->graph, number, &count);
  const variable *v = &c->graph->variables[number];
  mapping_interval whole = {.begin = 0, .end = v->num_elements, .tile = p->uses[number].home};
  if (whole.tile < CONSTANT_ANYWHERE) {
    mapping = &whole;
    count = 1;
  }
  p->name = pop_arena_strdup(c->arena, v->name);
  placed_variable placed = {.name = p->name,
                            .element_type = v->type,
                            .constant = v->constant,
                            .rank = c->graph->tensors[v->tensor].rank,
                            .shape = copy_shape(c, v),
                            .first_interval = c->num_intervals,
                            .type = describe_type(c, number)};
  const constant_use *use = &p->uses[number];
  bool wraps = constant_wraps(use);
  for (size_t i = 0; i < count; i++) {
    if (wraps)
      wrap_interval(c, number, &mapping[i]);
    else
      POP_TRY(place_interval(p, number, &mapping[i]));
  }
  if (wraps) first_block = c->num_blocks; /* it has no blocks of its own */
  placed.num_intervals = c->num_intervals - placed.first_interval;
  placed.first_block = (uint32_t)first_block;
  placed.num_blocks = (uint32_t)(c->num_blocks - first_block);
  pop_push(c->variables, c->num_variables, c->variables_capacity, placed);
  for (size_t i = first_block; i < c->num_blocks; i++) {
    if (use->is_uniform && c->blocks[i].size >= UNIFORM_VALUE_BYTES)
      c->blocks[i].flags |= BLOCK_UNIFORM;
    c->blocks[i].size = round_up_to_word(c->blocks[i].size);
    if (c->blocks[i].size < DEFAULT_ALIGN) c->blocks[i].align = WORD_ALIGN; /* one word */
  }
  if (v->initial && !wraps) set_initial_contents(c, v, &placed, first_block);
  return NULL;
}

/* Variables behind a host handle are always live: the host may access them at any time. */
static void keep_variables_of_handles(compilation *c)
{
  const pop_graph *graph = c->graph;
  for (size_t i = 0; i < graph->num_handles; i++) {
    const tensor *t = &graph->tensors[graph->handles[i].tensor];
    for (size_t j = 0; j < t->num_pieces; j++) {
      const placed_variable *placed = &c->variables[graph->pieces[t->first_piece + j].variable];
      for (size_t k = 0; k < placed->num_intervals; k++)
        c->blocks[c->intervals[placed->first_interval + k].at.block].flags |= BLOCK_ALWAYS_LIVE;
    }
  }
}

/* Applies what the field asks of data on its tile to the block: interleaved memory for all of it;
 * the alignment only if the data begin where the block does. */
static void apply_field_requirements(compilation *c, uint32_t tile, const pop_field *field,
                                     uint32_t tensor_number)
{
  const tensor *t = &c->graph->tensors[tensor_number];
  if (t->num_elements == 0 || t->num_pieces == 0) return;
  const view_piece *first = &c->graph->pieces[t->first_piece];
  placed_interval interval = find_interval(c, first->variable, first->base);
  block *b = &c->blocks[interval.at.block];
  if (interval.tile != tile) return; /* the vertex gets a copy */
  if (interval.at.offset == 0 && field->alignment > b->align && field->alignment <= MAX_ALIGN)
    b->align = field->alignment;
  if (field->interleaved) b->flags |= BLOCK_INTERLEAVED;
}

static bool has_requirements(const pop_vertex_type *type)
{
  for (size_t i = 0; i < type->num_fields; i++)
    if (type->fields[i].alignment > WORD_ALIGN || type->fields[i].interleaved) return true;
  return false;
}

static void apply_requirements(compilation *c, const reach *r)
{
  const pop_graph *graph = c->graph;
  bool *requiring = pop_xcalloc(graph->num_vertex_types + 1, sizeof *requiring);
  bool any = false;
  for (size_t i = 0; i < graph->num_vertex_types; i++)
    any |= requiring[i] = has_requirements(graph->vertex_types[i].type);
  for (size_t i = 0; any && i < graph->num_vertices; i++) {
    const vertex *v = &graph->vertices[i];
    if (!requiring[v->type] || r->compute_set_uses[v->compute_set] == 0) continue;
    const pop_vertex_type *type = graph->vertex_types[v->type].type;
    for (uint32_t e = v->first_edge; e != GRAPH_NONE; e = graph->edges[e].next) {
      const pop_field *field = &type->fields[graph->edges[e].field];
      if (field->alignment <= WORD_ALIGN && !field->interleaved) continue;
      uint32_t count;
      const uint32_t *tensors = edge_tensors(graph, &graph->edges[e], &count);
      for (uint32_t j = 0; j < count; j++) apply_field_requirements(c, v->tile, field, tensors[j]);
    }
  }
  free(requiring);
}

static pop_error *place_variables(compilation *c, const reach *r, size_t num_tiles)
{
  placing p = {.c = c,
               .block_of_tile = pop_xcalloc(num_tiles, sizeof(uint32_t)),
               .variable_of_tile = pop_xcalloc(num_tiles, sizeof(uint32_t)),
               .uses = find_constant_uses(c->graph, r)};
  memset(p.variable_of_tile, 0xff, num_tiles * sizeof(uint32_t));
  pop_error *error = NULL;
  for (uint32_t i = 0; i < c->graph->num_variables && !error; i++) error = place_variable(&p, i);
  free(p.block_of_tile);
  free(p.variable_of_tile);
  free(p.uses);
  return error;
}

pop_error *pass_place(compilation *c)
{
  reach r;
  POP_TRY(reach_programs(c, &r));
  pop_error *error = place_variables(c, &r, pop_target_num_tiles(&c->target));
  if (!error) {
    keep_variables_of_handles(c);
    apply_requirements(c, &r);
  }
  reach_free(&r);
  return error;
}
