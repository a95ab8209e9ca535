/* Windows at places that vectors of indices give, and many slices of groups. Random shapes are
 * compared with loops on the host, to the bit, on tiles and on the CPU. */
#include "support/expect.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <populus/engine.h>
#include <populus/popops.h>
#include <populus/popops_slice.h>

TestSuite(windows, .init = enter_fresh_folder);

enum { MOST_RANK = 4, MOST = 4096 };

typedef struct shape {
  size_t rank, dims[2 * MOST_RANK];
} shape;

static size_t elements(const shape *s)
{
  size_t n = 1;
  for (size_t d = 0; d < s->rank; d++) n *= s->dims[d];
  return n;
}

/* The index in each dimension of position `at`, in row-major order. */
static void split(const shape *s, size_t at, size_t *index)
{
  for (size_t d = s->rank; d-- > 0; at /= s->dims[d]) index[d] = at % s->dims[d];
}

static size_t join(const shape *s, const size_t *index)
{
  size_t at = 0;
  for (size_t d = 0; d < s->rank; d++) at = at * s->dims[d] + index[d];
  return at;
}

/* ---- a random case ---- */

typedef struct windows_case {
  shape operand, indices, all; /* `all`: of all windows */
  size_t operand_dims[MOST_RANK], window_dims[MOST_RANK], dropped_dims[MOST_RANK];
  size_t sizes[MOST_RANK];
  bool is_dropped[MOST_RANK], is_window[2 * MOST_RANK];
  pop_windows how;
  bool is_signed;
  int values[MOST], vectors[MOST], updates[MOST];
} windows_case;

static void choose_operand(windows_case *c, uint64_t *r)
{
  c->operand.rank = 1 + random_below(r, MOST_RANK);
  size_t vectors = 1 + random_below(r, c->operand.rank);
  bool taken[MOST_RANK] = {false};
  for (size_t d = 0; d < c->operand.rank; d++) {
    c->operand.dims[d] = 1 + random_below(r, 5);
    c->is_dropped[d] = random_below(r, 3) == 0;
    c->sizes[d] = c->is_dropped[d] ? 1 : 1 + random_below(r, c->operand.dims[d]);
    if (c->is_dropped[d]) c->dropped_dims[c->how.num_dropped_dims++] = d;
  }
  while (c->how.num_operand_dims < vectors) {
    size_t d = random_below(r, c->operand.rank);
    if (!taken[d]) c->operand_dims[c->how.num_operand_dims++] = d;
    taken[d] = true;
  }
}

static void choose_windows(windows_case *c, uint64_t *r)
{
  size_t batch[2], num_batch = random_below(r, 3),
                   windows = c->operand.rank - c->how.num_dropped_dims;
  for (size_t i = 0; i < num_batch; i++) batch[i] = 1 + random_below(r, 4);
  bool alone = c->how.num_operand_dims == 1 && random_below(r, 2);
  c->how.vector_dim = alone ? num_batch : random_below(r, num_batch + 1);
  for (size_t i = 0; i <= num_batch; i++) {
    if (i == c->how.vector_dim && !alone)
      c->indices.dims[c->indices.rank++] = c->how.num_operand_dims;
    if (i < num_batch) c->indices.dims[c->indices.rank++] = batch[i];
  }
  size_t next_batch = 0, next_window = 0, d_operand = 0;
  while (next_batch < num_batch || next_window < windows) {
    size_t left = num_batch - next_batch + windows - next_window, d = c->all.rank++;
    c->is_window[d] = random_below(r, left) < windows - next_window;
    if (!c->is_window[d]) {
      c->all.dims[d] = batch[next_batch++];
      continue;
    }
    while (c->is_dropped[d_operand]) d_operand++;
    c->all.dims[d] = c->sizes[d_operand++];
    c->window_dims[next_window++] = d;
  }
  c->how.num_window_dims = windows;
}

static void choose(windows_case *c, uint64_t *r)
{
  memset(c, 0, sizeof *c);
  choose_operand(c, r);
  choose_windows(c, r);
  c->how.operand_dims = c->operand_dims;
  c->how.window_dims = c->window_dims;
  c->how.dropped_dims = c->dropped_dims;
  c->is_signed = random_below(r, 2);
  for (size_t i = 0; i < elements(&c->operand); i++) c->values[i] = (int)random_below(r, 100) - 50;
  for (size_t i = 0; i < elements(&c->all); i++) c->updates[i] = (int)random_below(r, 100) - 50;
  for (size_t i = 0; i < elements(&c->indices); i++) /* some are out of range on either side */
    c->vectors[i] = (int)random_below(r, 7) - 1;
  if (!c->is_signed && c->vectors[0] < 0) c->vectors[0] = INT32_MIN + 3;
}

/* ---- expected results ---- */

/* The place of element `at` of all windows in the operand. False: the window is not completely
 * inside; it is then the place after moving the window inside. */
static bool place_of(const windows_case *c, size_t at, size_t *place)
{
  size_t index[2 * MOST_RANK], vector[2 * MOST_RANK] = {0}, inside[MOST_RANK] = {0};
  size_t next = 0, operand_dim = 0;
  bool there = true;
  split(&c->all, at, index);
  for (size_t d = 0; d < c->all.rank; d++) {
    if (!c->is_window[d]) {
      if (next == c->how.vector_dim && c->indices.rank > c->how.vector_dim) next++;
      vector[next++] = index[d];
      continue;
    }
    while (c->is_dropped[operand_dim]) operand_dim++;
    inside[operand_dim++] = index[d];
  }
  for (size_t i = 0; i < c->how.num_operand_dims; i++) {
    size_t d = c->operand_dims[i];
    if (c->how.vector_dim < c->indices.rank) vector[c->how.vector_dim] = i;
    int given = c->vectors[join(&c->indices, vector)];
    long long begin = c->is_signed ? given : (long long)(unsigned)given;
    long long last = (long long)(c->operand.dims[d] - c->sizes[d]);
    there = there && begin >= 0 && begin <= last;
    inside[d] += (size_t)(begin < 0 ? 0 : begin > last ? last : begin);
  }
  *place = join(&c->operand, inside);
  return there;
}

static int combined(pop_update_op op, int old, int by)
{
  if (op == POP_UPDATE_ADD) return old + by;
  if (op == POP_UPDATE_MUL) return old * by;
  return op == POP_UPDATE_SET || old < by ? by : old;
}

/* Updates vector by vector in order, so that the last of several windows counts. */
static void scatter(const windows_case *c, pop_update_op op, int *values)
{
  shape batch = {0}, window = {0};
  size_t at_batch[2 * MOST_RANK], at_window[2 * MOST_RANK], index[2 * MOST_RANK], place;
  for (size_t d = 0; d < c->all.rank; d++) {
    shape *of = c->is_window[d] ? &window : &batch;
    of->dims[of->rank++] = c->all.dims[d];
  }
  for (size_t b = 0; b < elements(&batch); b++)
    for (size_t w = 0; w < elements(&window); w++) {
      split(&batch, b, at_batch);
      split(&window, w, at_window);
      for (size_t d = 0, nb = 0, nw = 0; d < c->all.rank; d++)
        index[d] = c->is_window[d] ? at_window[nw++] : at_batch[nb++];
      size_t at = join(&c->all, index);
      if (place_of(c, at, &place)) values[place] = combined(op, values[place], c->updates[at]);
    }
}

/* ---- the device ---- */

static pop_tensor add_input(pop_graph *graph, pop_type type, const shape *s, const int *values)
{
  pop_tensor t = pop_graph_add_variable(graph, type, s->dims, s->rank, "t");
  pop_graph_map_linearly(graph, t, 1, 1);
  pop_graph_set_initial_value(graph, t, values);
  return t;
}

static void expect(pop_engine *engine, const char *what, const int *wanted, size_t count,
                   int number)
{
  static int is[MOST];
  expect_ok(pop_engine_read_tensor(engine, what, is, count * sizeof *is));
  for (size_t i = 0; i < count; i++)
    cr_assert_eq(is[i], wanted[i], "case %d, %s: element %zu is %d, not %d", number, what, i, is[i],
                 wanted[i]);
}

static void check_case(windows_case *c, int number)
{
  static int gathered[MOST], scattered[POP_UPDATE_COUNT][MOST];
  static const char *const names[POP_UPDATE_COUNT] = {"set", "add", "max", "mul"};
  pop_graph *graph = new_graph_with_tiles(3);
  pop_popops_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  pop_tensor operand = add_input(graph, POP_INT, &c->operand, c->values);
  pop_tensor indices =
      add_input(graph, c->is_signed ? POP_INT : POP_UNSIGNED_INT, &c->indices, c->vectors);
  pop_tensor updates = add_input(graph, POP_INT, &c->all, c->updates);
  pop_tensor found =
      pop_popops_gather_windows(graph, operand, indices, c->how, c->sizes, main, "gather");
  assert_no_error(graph);
  cr_assert_eq(pop_tensor_rank(found), c->all.rank);
  for (size_t d = 0; d < c->all.rank; d++)
    cr_assert_eq(pop_tensor_dim(found, d), c->all.dims[d], "case %d", number);
  pop_graph_create_host_read(graph, "gathered", found);
  for (pop_update_op op = 0; op < POP_UPDATE_COUNT; op++) {
    pop_tensor into = add_input(graph, POP_INT, &c->operand, c->values);
    pop_popops_scatter_windows(graph, op, into, indices, updates, c->how, main, "scatter");
    pop_graph_create_host_read(graph, names[op], into);
  }
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  size_t place;
  for (size_t i = 0; i < elements(&c->all); i++) {
    place_of(c, i, &place);
    gathered[i] = c->values[place];
  }
  expect(engine, "gathered", gathered, elements(&c->all), number);
  for (pop_update_op op = 0; op < POP_UPDATE_COUNT; op++) {
    memcpy(scattered[op], c->values, sizeof c->values);
    scatter(c, op, scattered[op]);
    expect(engine, names[op], scattered[op], elements(&c->operand), number);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

TEST_ON_EACH_DEVICE(windows, of_random_shapes)
{
  static windows_case c;
  uint64_t r = 11;
  for (int i = 0; i < 12; i++) {
    choose(&c, &r);
    check_case(&c, i);
  }
}

/* ---- many slices of groups ---- */

enum { GROUPS = 3, ROWS = 5, COLUMNS = 2, MANY = 4, SIZE = 2 };

/* Row `row` of group g, or NULL. */
static const int *row_of(const int *table, size_t g, unsigned row)
{
  return row < ROWS ? &table[(g * ROWS + row) * COLUMNS] : NULL;
}

TEST_ON_EACH_DEVICE(windows, slices_of_groups)
{
  const shape of = {3, {GROUPS, ROWS, COLUMNS}}, at = {3, {GROUPS, MANY, 1}},
              slices = {4, {GROUPS, MANY, SIZE, COLUMNS}};
  /* Indices after the last row, and -1, select nothing. */
  const unsigned offsets[GROUPS][MANY] = {{0, 3, 4, 0}, {2, 2, 9, -1u}, {1, -1u, 0, 4}};
  int table[GROUPS * ROWS * COLUMNS], s[GROUPS * MANY * SIZE * COLUMNS],
      found[sizeof s / sizeof *s];
  int summed[sizeof table / sizeof *table];
  uint64_t r = 5;
  for (size_t i = 0; i < elements(&of); i++) table[i] = summed[i] = (int)random_below(&r, 1000);
  for (size_t i = 0; i < elements(&slices); i++) s[i] = (int)random_below(&r, 1000);
  pop_graph *graph = new_graph_with_tiles(4);
  pop_popops_add_codelets(graph);
  pop_program main = pop_program_sequence(graph, "main");
  pop_tensor t = add_input(graph, POP_INT, &of, table);
  pop_tensor o = add_input(graph, POP_UNSIGNED_INT, &at, (const int *)offsets);
  pop_tensor given = pop_popops_grouped_multi_slice(graph, t, o, 0, SIZE, main, "slices of groups");
  pop_popops_grouped_multi_update(graph, POP_UPDATE_ADD, t, add_input(graph, POP_INT, &slices, s),
                                  o, 0, SIZE, (pop_tensor){0}, main, "updates of groups");
  assert_no_error(graph);
  cr_assert_eq(pop_tensor_rank(given), 4);
  for (size_t d = 0; d < 4; d++) cr_assert_eq(pop_tensor_dim(given, d), slices.dims[d]);
  pop_graph_create_host_read(graph, "given", given);
  pop_graph_create_host_read(graph, "sums", t);
  for (size_t i = 0; i < elements(&slices); i++) {
    size_t index[4];
    split(&slices, i, index);
    unsigned row = offsets[index[0]][index[1]] + (unsigned)index[2];
    bool around = row < index[2];
    const int *is = around ? NULL : row_of(table, index[0], row);
    found[i] = is ? is[index[3]] : 0;
    if (is) summed[is + index[3] - table] += s[i];
  }
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect(engine, "given", found, elements(&slices), 0);
  expect(engine, "sums", summed, elements(&of), 0);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- mistakes ---- */

static const size_t two[] = {2, 3}, zero_one[] = {0, 1}, ones[] = {1, 1};

static void gather(pop_graph *graph, pop_type type, pop_windows how, const size_t *sizes)
{
  pop_popops_add_codelets(graph);
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, two, 2, "t");
  pop_tensor i = pop_graph_add_variable(graph, type, two, 1, "i");
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_graph_map_linearly(graph, i, 0, 0);
  pop_popops_gather_windows(graph, t, i, how, sizes, pop_program_sequence(graph, "main"), "gather");
}

static void float_indices(pop_graph *graph)
{
  gather(graph, POP_FLOAT, (pop_windows){0, zero_one, 2, NULL, 0, zero_one, 2}, ones);
}

static void too_few_dims(pop_graph *graph)
{
  gather(graph, POP_INT, (pop_windows){0, zero_one, 1, zero_one, 1, zero_one, 1}, ones);
}

static void a_dimension_twice(pop_graph *graph)
{
  gather(graph, POP_INT, (pop_windows){0, ones, 2, NULL, 0, zero_one, 2}, ones);
}

static void too_large(pop_graph *graph)
{
  gather(graph, POP_INT, (pop_windows){0, zero_one, 2, zero_one, 1, zero_one, 1},
         (const size_t[]){1, 4});
}

static void dropped_and_large(pop_graph *graph)
{
  gather(graph, POP_INT, (pop_windows){0, zero_one, 2, NULL, 0, zero_one, 2}, two);
}

static void windows_are_not_all_there(pop_graph *graph)
{
  gather(graph, POP_INT, (pop_windows){0, zero_one, 2, NULL, 0, zero_one, 1}, ones);
}

static void no_groups(pop_graph *graph)
{
  pop_popops_add_codelets(graph);
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, two, 2, "t");
  pop_tensor i = pop_graph_add_variable(graph, POP_UNSIGNED_INT, two + 1, 1, "i");
  pop_popops_grouped_multi_slice(graph, t, i, 0, 1, pop_program_sequence(graph, "main"), "slices");
}

Test(windows, what_does_not_go_together)
{
  static const bad_call wrong[] = {
      {float_indices, POP_ERROR_TYPE, {"pop_popops_gather_windows", "int or unsigned", "float"}},
      {too_few_dims, POP_ERROR_INDEX, {"length of vectors", "1, of 2"}},
      {a_dimension_twice, POP_ERROR_INDEX, {"number 1", "indices of", "each once"}},
      {too_large, POP_ERROR_INDEX, {"size of a window", "4, of 3"}},
      {dropped_and_large, POP_ERROR_INDEX, {"windows have not is 2, of 1"}},
      {windows_are_not_all_there, POP_ERROR_INDEX, {"dimensions of windows are 0, of 1"}},
      {no_groups, POP_ERROR_TENSOR, {"shape {2,3}", "{3}", "groups"}},
  };
  assert_bad_calls(wrong, sizeof wrong / sizeof *wrong);
}
