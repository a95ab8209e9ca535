/* Sort. Codelets sort rows by merging. Until the end they move only places (the elements' numbers),
 * not the elements:
 *
 *   in: 7 3 5 3    places: 0 1 2 3 -> 1 0 3 2 -> 1 3 2 0    out: 3 3 5 7
 *
 * So the same code sorts any number of operands of any types (populus/hlo_sort.h). If rows are
 * small, each is sorted by one worker.
 *
 * Other rows are cut into blocks. Each worker of a tile sorts a part of a block, then all of them
 * merge the parts. After that, blocks meet in pairs, in the order of a sorting network
 * (sort_network.h). Each pair has two vertices that read both blocks: one keeps what comes first,
 * the other the rest.
 *
 * Each element of a block has its place in the row with it. Places order elements that the
 * comparator calls equal, so the sort is stable, whatever `is_stable` says. An inconsistent
 * comparator (LT with NaNs) gives an unspecified order of the same elements: all vertices and
 * workers of a pair still divide it at the same points. */
#include "models/range.h"

#include "poplibs/host/sort_network.h"

#include <inttypes.h>
#include <stdlib.h>

#define PRINT(...) pop_arena_printf(l->m->arena, __VA_ARGS__)

typedef struct sorting {
  lowering *l;
  const operation *op;
  size_t inputs, dimension;
  uint64_t rows, row;        /* number of rows, and of elements in each */
  pop_tensor *in;            /* all rows of each operand, concatenated */
  const value *place;        /* its type is that of fields of places */
  pop_compute_set set;       /* that vertices are added to */
  const char *name;          /* of variables and compute sets */
  uint32_t num_fields;       /* of any vertex, at most */
  uint32_t sorter, exchange; /* codelets */
} sorting;

/* ---- codelets ---- */

/* Emits "…(behind0.data[j], front0.data[i], &less);": does element `a` precede element `b`? */
static void add_comparison(const sorting *s, range_codelet *c, const char *region,
                           const char *stem_a, const char *a, const char *stem_b, const char *b)
{
  lowering *l = s->l;
  const char **arguments = pop_arena_alloc(l->m->arena, 2 * s->inputs * sizeof *arguments);
  const char *const results[1] = {"less"};
  for (size_t k = 0; k < s->inputs; ++k) {
    const char *suffix = suffix_of(s->op->operands[k]);
    arguments[2 * k] = PRINT("hlo_load_%s(v->%s%zu.data[%s])", suffix, stem_a, k, a);
    arguments[2 * k + 1] = PRINT("hlo_load_%s(v->%s%zu.data[%s])", suffix, stem_b, k, b);
  }
  emit_region_call(&c->e, &c->e.functions, &s->op->regions[0], region, arguments, results);
}

/* Emits the head of `NAME_order`. Returns the name of the comparator, or NULL after an error. */
static const char *begin_order(const sorting *s, range_codelet *c)
{
  text *to = &c->e.functions;
  text_add(to, "#include <populus/hlo_sort.h>\n");
  const char *region = emit_region(&c->e, s->op, 0);
  text_add(to, "HLO bool NAME_order(const void *vertex, unsigned i, unsigned j)\n{\n"
               "  const NAME *v = vertex;\n  bool less;\n");
  return region;
}

/* The order of elements of one row or block. */
static bool add_order(const sorting *s, range_codelet *c)
{
  const char *region = begin_order(s, c);
  if (!region) return false;
  text_add(&c->e.functions, "  ");
  add_comparison(s, c, region, "in", "j", "in", "i");
  text_add(&c->e.functions, "  return !less;\n}\n");
  return true;
}

/* The order of elements of two blocks. */
static bool add_order_of_two(const sorting *s, range_codelet *c)
{
  text *to = &c->e.functions;
  const char *region = begin_order(s, c);
  if (!region) return false;
  text_add(to, "  if (v->place_front0.data[i] < v->place_behind0.data[j]) {\n    ");
  add_comparison(s, c, region, "behind", "j", "front", "i");
  text_add(to, "    return !less;\n  }\n  ");
  add_comparison(s, c, region, "front", "i", "behind", "j");
  text_add(to, "  return less;\n}\n");
  return true;
}

static bool add_sorter_fields(const sorting *s, range_codelet *c)
{
  bool good = true;
  for (size_t k = 0; k < s->inputs && good; ++k)
    good = range_add_field(c, s->op, "in", k, s->op->operands[k], false) &&
           range_add_field(c, s->op, "out", k, s->op->results[k], true);
  for (size_t i = 0; i < 2 && good; ++i)
    good = range_add_field(c, s->op, "place", i, s->place, true);
  return good;
}

/* A worker sorts rows. */
static bool make_row_sorter(sorting *s)
{
  range_codelet c = {.e.l = s->l};
  text *to = &c.e.body;
  bool good = add_order(s, &c) && add_sorter_fields(s, &c);
  if (good) {
    text_add(to,
             "  for (unsigned row = 0; row < size; row += %" PRIu64 ") {\n"
             "    const unsigned *sorted =\n"
             "        hlo_sort_places(NAME_order, vertex, row, %" PRIu64 ", place0, place1);\n"
             "    for (unsigned i = 0; i < %" PRIu64 "; ++i) {\n",
             s->row, s->row, s->row);
    for (size_t k = 0; k < s->inputs; ++k)
      text_add(to, "      out%zu[row + i] = in%zu[sorted[i]];\n", k, k);
    text_add(to, "    }\n  }\n");
    s->sorter = range_finish(&c, s->op);
  }
  range_free(&c);
  return good;
}

/* All workers sort a block. */
static bool make_block_sorter(sorting *s)
{
  range_codelet c = {.e.l = s->l, .kind = RANGE_SUPERVISOR};
  text *to = &c.e.functions;
  bool good = add_order(s, &c) && add_sorter_fields(s, &c);
  if (good) {
    static const char *const steps[2] = {"run", "merge"};
    for (int i = 0; i < 2; ++i)
      text_add(to,
               "static bool NAME_%s(void *state, unsigned worker)\n{\n"
               "  hlo_sort_%s(NAME_order, state, worker);\n  return true;\n}\n",
               steps[i], steps[i]);
    text_add(to,
             "static bool NAME_move(void *state, unsigned worker)\n{\n"
             "  const hlo_sorting *s = state;\n  NAME *v = s->elements;\n"
             "  const unsigned part = hlo_whole_words(s->n / NUM_WORKERS), begin = worker * part;\n"
             "  const unsigned end = worker + 1 < NUM_WORKERS ? begin + part : s->n;\n"
             "  for (unsigned i = begin; i < end; ++i) {\n"
             "    const unsigned at = s->from[i];\n");
    for (size_t k = 0; k < s->inputs; ++k)
      text_add(to, "    v->out%zu.data[i] = v->in%zu.data[at];\n", k, k);
    text_add(to, "    v->place0.data[i] = v->base + at;\n  }\n  return true;\n}\n");
    text_add(&c.e.body,
             "  hlo_sorting s =\n"
             "      hlo_sort_begin(vertex, size, vertex->place0.data, vertex->place1.data);\n"
             "  populus_start_workers(NAME_run, &s);\n"
             "  populus_wait_for_workers();\n"
             "  for (; s.run < size; hlo_sort_next(&s)) {\n"
             "    populus_start_workers(NAME_merge, &s);\n"
             "    populus_wait_for_workers();\n"
             "  }\n"
             "  populus_start_workers(NAME_move, &s);\n"
             "  populus_wait_for_workers();\n");
    s->sorter = range_finish(&c, s->op);
  }
  range_free(&c);
  return good;
}

/* All workers merge two blocks, of which the vertex keeps a part. `base`: how many elements of both
 * come before that part. */
static void exchange_body(const sorting *s, range_codelet *c)
{
  text *to = &c->e.body;
  text_add(to, "  const unsigned num_front = vertex->front0.size;\n"
               "  hlo_pair p = {0, num_front, 0, vertex->behind0.size, 0};\n"
               "  hlo_cut(NAME_order, vertex, NULL, &p, num_front, base != 0);\n"
               "  p.to = 0;\n"
               "  hlo_share(NAME_order, vertex, NULL, &p, worker);\n"
               "  for (unsigned i = p.i, j = p.j, n = p.to; i < p.end_i || j < p.end_j; ++n)\n"
               "    if (j == p.end_j || (i < p.end_i && NAME_order(vertex, i, j))) {\n");
  for (int front = 1; front >= 0; --front) {
    const char *stem = front ? "front" : "behind", *at = front ? "i" : "j";
    for (size_t k = 0; k < s->inputs; ++k)
      text_add(to, "      vertex->kept%zu.data[n] = vertex->%s%zu.data[%s];\n", k, stem, k, at);
    text_add(to, "      vertex->place_kept0.data[n] = vertex->place_%s0.data[%s++];\n", stem, at);
    text_add(to, front ? "    } else {\n" : "    }\n");
  }
}

static bool make_exchange(sorting *s)
{
  range_codelet c = {.e.l = s->l, .kind = RANGE_ALL_WORKERS};
  bool good = add_order_of_two(s, &c);
  for (size_t k = 0; k < s->inputs && good; ++k)
    good = range_add_field(&c, s->op, "front", k, s->op->operands[k], false) &&
           range_add_field(&c, s->op, "behind", k, s->op->operands[k], false) &&
           range_add_field(&c, s->op, "kept", k, s->op->results[k], true);
  good = good && range_add_field(&c, s->op, "place_front", 0, s->place, false) &&
         range_add_field(&c, s->op, "place_behind", 0, s->place, false) &&
         range_add_field(&c, s->op, "place_kept", 0, s->place, true);
  if (good) {
    exchange_body(s, &c);
    s->exchange = range_finish(&c, s->op);
  }
  range_free(&c);
  return good;
}

/* ---- rows ---- */

static pop_tensor as_rows(const sorting *s, pop_tensor t)
{
  size_t rank = pop_tensor_rank(t);
  return pop_tensor_flatten(rank ? pop_tensor_dim_roll(t, s->dimension, rank - 1) : t);
}

/* Makes these rows result k. */
static void set_result(const sorting *s, size_t k, pop_tensor rows)
{
  const value *v = s->op->results[k];
  size_t rank = v->type->rank, shape[MODEL_MAX_RANK] = {0}, n = 0;
  for (size_t d = 0; d < rank; ++d)
    if (d != s->dimension) shape[n++] = (size_t)v->type->dims[d];
  if (rank) shape[n] = s->row;
  pop_tensor t = pop_tensor_reshape(rows, shape, rank);
  lowering_set_tensor(s->l, v, rank ? pop_tensor_dim_roll(t, rank - 1, s->dimension) : t);
}

static pop_tensor add_variable(const sorting *s, element_type type, uint64_t elements)
{
  size_t shape = elements;
  return pop_graph_add_variable(s->l->graph, element_infos[type].type, &shape, 1, s->name);
}

static void begin_set(sorting *s)
{
  s->set = pop_graph_add_compute_set(s->l->graph, s->name);
}

static void end_set(const sorting *s)
{
  pop_sequence_add(s->l->sequence, pop_program_execute(s->l->graph, s->set, ""));
}

static planned_vertex *add_vertex(const sorting *s, uint32_t codelet, size_t tile, uint64_t base)
{
  planned_vertex *v = lowering_add_vertex(s->l, s->set, codelet, tile, s->num_fields);
  vertex_set(v, "base", (int64_t)base);
  return v;
}

static void connect(const sorting *s, planned_vertex *v, const char *stem, size_t number,
                    pop_tensor t, uint64_t begin, uint64_t end)
{
  lowering *l = s->l;
  vertex_connect(v, PRINT("%s%zu", stem, number), pop_tensor_slice(t, begin, end, 0));
}

/* Each row is sorted by one worker. If there are more rows than workers, a vertex has several. */
static bool sort_rows(sorting *s)
{
  lowering *l = s->l;
  uint64_t elements = s->rows * s->row;
  int64_t dims = (int64_t)elements;
  spread_plan plan = lowering_plan(l, s->rows, s->row * 16 + 257, s->row ? s->row : 1);
  pop_tensor *out = pop_arena_alloc(l->m->arena, s->inputs * sizeof *out);
  for (size_t k = 0; k < s->inputs; ++k) {
    model_type flat = *s->op->results[k]->type;
    flat.rank = 1;
    flat.dims = &dims;
    set_result(s, k, out[k] = lowering_variable(l, &flat, &plan, s->name));
  }
  if (!elements) return true;
  if (!make_row_sorter(s)) return false;
  pop_tensor places = add_variable(s, ELEMENT_U32, plan.num_vertices * 2 * s->row);
  begin_set(s);
  for (uint64_t n = 0; n < plan.num_vertices; ++n) {
    uint64_t begin = n * plan.per_vertex, end = begin + plan.per_vertex, place = n * 2 * s->row;
    if (end > plan.elements) end = plan.elements;
    size_t tile = plan_tile(l, &plan, n);
    pop_graph_set_tile_mapping(l->graph, pop_tensor_slice(places, place, place + 2 * s->row, 0),
                               tile);
    planned_vertex *v = add_vertex(s, s->sorter, tile, 0);
    for (size_t k = 0; k < s->inputs; ++k) {
      connect(s, v, "in", k, s->in[k], begin * s->row, end * s->row);
      connect(s, v, "out", k, out[k], begin * s->row, end * s->row);
    }
    connect(s, v, "place", 0, places, place, place + s->row);
    connect(s, v, "place", 1, places, place + s->row, place + 2 * s->row);
  }
  end_set(s);
  return true;
}

/* ---- blocks ---- */

/* Two buffers: each exchange moves a block from one to the other. */
typedef struct column {
  pop_tensor pair[2];
} column;

typedef struct blocks {
  uint64_t size, per_row, count;
  column *columns;     /* of each operand; of places */
  unsigned char *side; /* of each block: which buffer has it */
} blocks;

/* Where the block begins in the concatenated rows. */
static uint64_t block_begin(const sorting *s, const blocks *b, uint64_t block)
{
  return block / b->per_row * s->row + block % b->per_row * b->size;
}

static uint64_t block_length(const sorting *s, const blocks *b, uint64_t block)
{
  return block_begin(s, b, block + 1) - block_begin(s, b, block);
}

/* Each block has room for `size` elements in the column, so that it begins on a word. */
static pop_tensor block_of(const sorting *s, const blocks *b, pop_tensor column, uint64_t block)
{
  uint64_t begin = block * b->size;
  return pop_tensor_slice(column, begin, begin + block_length(s, b, block), 0);
}

static size_t block_tile(const sorting *s, const blocks *b, uint64_t block)
{
  size_t tiles = s->l->num_tiles;
  return b->count <= tiles ? block : block * tiles / b->count;
}

static void connect_block(const sorting *s, const blocks *b, planned_vertex *v, const char *stem,
                          size_t number, pop_tensor column, uint64_t block)
{
  lowering *l = s->l;
  vertex_connect(v, PRINT("%s%zu", stem, number), block_of(s, b, column, block));
}

static void add_columns(const sorting *s, blocks *b)
{
  for (size_t k = 0; k <= s->inputs; ++k)
    for (int side = 0; side < 2; ++side) {
      element_type type = k < s->inputs ? s->op->operands[k]->type->element : ELEMENT_U32;
      pop_tensor t = b->columns[k].pair[side] = add_variable(s, type, b->count * b->size);
      for (uint64_t n = 0; n < b->count; ++n)
        pop_graph_set_tile_mapping(s->l->graph,
                                   pop_tensor_slice(t, n * b->size, (n + 1) * b->size, 0),
                                   block_tile(s, b, n));
    }
}

static void sort_each(sorting *s, const blocks *b)
{
  begin_set(s);
  for (uint64_t n = 0; n < b->count; ++n) {
    planned_vertex *v = add_vertex(s, s->sorter, block_tile(s, b, n), block_begin(s, b, n));
    for (size_t k = 0; k < s->inputs; ++k) {
      connect(s, v, "in", k, s->in[k], block_begin(s, b, n), block_begin(s, b, n + 1));
      connect_block(s, b, v, "out", k, b->columns[k].pair[0], n);
    }
    for (size_t side = 0; side < 2; ++side)
      connect_block(s, b, v, "place", side, b->columns[s->inputs].pair[side], n);
  }
  end_set(s);
}

/* The vertex of a pair that makes block `kept`. */
static void add_exchange(const sorting *s, const blocks *b, uint64_t front, uint64_t behind,
                         uint64_t kept)
{
  int from = b->side[front], other = b->side[behind], to = !b->side[kept];
  uint64_t before = kept == front ? 0 : block_length(s, b, front);
  planned_vertex *v = add_vertex(s, s->exchange, block_tile(s, b, kept), before);
  for (size_t k = 0; k <= s->inputs; ++k) {
    bool places = k == s->inputs;
    size_t number = places ? 0 : k;
    connect_block(s, b, v, places ? "place_front" : "front", number, b->columns[k].pair[from],
                  front);
    connect_block(s, b, v, places ? "place_behind" : "behind", number, b->columns[k].pair[other],
                  behind);
    connect_block(s, b, v, places ? "place_kept" : "kept", number, b->columns[k].pair[to], kept);
  }
}

static void add_stage(sorting *s, blocks *b, const sort_stage *now)
{
  begin_set(s);
  for (uint64_t row = 0; row < b->count; row += b->per_row)
    for (uint64_t i = 0; i + now->distance < b->per_row; ++i) {
      if (!sort_meets(now, i)) continue;
      uint64_t front = row + i, behind = front + now->distance;
      add_exchange(s, b, front, behind, front);
      add_exchange(s, b, front, behind, behind);
      b->side[front] ^= 1;
      b->side[behind] ^= 1;
    }
  end_set(s);
}

static pop_tensor sorted(const sorting *s, const blocks *b, size_t k)
{
  pop_tensor *parts = pop_xcalloc(b->count, sizeof *parts);
  for (uint64_t n = 0; n < b->count; ++n)
    parts[n] = block_of(s, b, b->columns[k].pair[b->side[n]], n);
  pop_tensor all = pop_concat(parts, b->count, 0);
  free(parts);
  return all;
}

static bool sort_in_blocks(sorting *s, uint64_t size)
{
  pop_arena *arena = s->l->m->arena;
  if (!make_block_sorter(s) || !make_exchange(s)) return false;
  blocks b = {.size = size, .per_row = (s->row + size - 1) / size};
  b.count = s->rows * b.per_row;
  b.columns = pop_arena_alloc(arena, (s->inputs + 1) * sizeof *b.columns);
  b.side = pop_xcalloc(b.count, sizeof *b.side);
  add_columns(s, &b);
  sort_each(s, &b);
  size_t num_stages = sort_num_stages(b.per_row);
  sort_stage *stages = pop_xcalloc(num_stages + 1, sizeof *stages);
  sort_make_stages(b.per_row, stages);
  for (size_t i = 0; i < num_stages; ++i) add_stage(s, &b, &stages[i]);
  for (size_t k = 0; k < s->inputs; ++k) set_result(s, k, sorted(s, &b, k));
  free(stages);
  free(b.side);
  return true;
}

/* 0: one worker for each row is faster. That includes rows too small to be worth more vertices. */
static uint64_t block_size(const sorting *s)
{
  enum { SMALL_ROW = 256, MOST_VERTICES = 100000, MAKES_WORDS = 4 /* elements of any type */ };
  if (s->row <= SMALL_ROW) return 0;
  uint64_t bytes = sizeof(uint32_t);
  for (size_t k = 0; k < s->inputs; ++k) bytes += element_bytes(s->op->operands[k]->type->element);
  /* Measured on the tiles of ipu2, with a comparator of one operation on floats. First with all
   * workers, then with one worker for each row. */
  const sort_costs blocks = {
      .workers = 1,
      .sorted = 30,
      .merged = 30 + 5 * (double)s->inputs,
      .begun = 12000,
      .received = (double)bytes / 4,
      .stage = 400,
      .most_vertices = MOST_VERTICES,
  };
  const sort_costs rows = {.workers = s->l->num_workers, .sorted = 30 * (double)s->l->num_workers};
  size_t tiles = s->l->num_tiles, size = sort_fastest_block(&blocks, tiles, s->rows, s->row);
  if (sort_cycles(&rows, tiles, s->rows, s->row, s->row) <=
      sort_cycles(&blocks, tiles, s->rows, s->row, size))
    return 0;
  return (size + MAKES_WORDS - 1) / MAKES_WORDS * MAKES_WORDS;
}

bool lower_sort(lowering *l, const operation *op)
{
  static const model_type place_type = {.kind = TYPE_TENSOR, .element = ELEMENT_U32};
  static const value place = {.type = &place_type};
  const model_type *type = op->operands[0]->type;
  int64_t d = op_int(op, "dimension", -1); /* the last one unless it is given */
  sorting s = {.l = l, .op = op, .inputs = op->num_operands, .place = &place};
  s.dimension = d < 0 ? (size_t)(d + type->rank) : (size_t)d;
  s.row = type->rank ? (uint64_t)type->dims[s.dimension] : 1;
  s.rows = s.row ? type_elements(type) / s.row : 0;
  s.name = lowering_name(l, op);
  s.num_fields = (uint32_t)(3 * (s.inputs + 1)) + 1;
  s.in = pop_arena_alloc(l->m->arena, s.inputs * sizeof *s.in);
  for (size_t k = 0; k < s.inputs; ++k) {
    s.in[k] = as_rows(&s, lowering_tensor(l, op->operands[k]));
    if (l->error) return false;
  }
  uint64_t size = s.rows ? block_size(&s) : 0;
  return size ? sort_in_blocks(&s, size) : sort_rows(&s);
}
