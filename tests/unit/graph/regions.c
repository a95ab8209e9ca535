/* Positions of tensor elements: common elements, regions and clones, each compared with a plain
 * list. */
#include "tensor_chain.h"

/* ---- common elements, equality ---- */

static bool have_common(const list *a, const list *b)
{
  for (size_t i = 0; i < a->count; i++)
    for (size_t j = 0; j < b->count; j++)
      if (a->elements[i] == b->elements[j]) return true;
  return false;
}

static bool are_equal(const list *a, const list *b)
{
  if (a->rank != b->rank || a->count != b->count) return false;
  return memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0 &&
         memcmp(a->elements, b->elements, a->count * sizeof *a->elements) == 0;
}

static void check_pairs(const pair *pairs, const char *where)
{
  for (size_t i = 0; i < PAIRS; i++)
    for (size_t j = 0; j < PAIRS; j++) {
      const pair *a = &pairs[i], *b = &pairs[j];
      cr_assert_eq(pop_tensor_intersects_with(a->tensor, b->tensor),
                   have_common(&a->list, &b->list), "%s: %zu and %zu", where, i, j);
      cr_assert_eq(pop_tensor_equal(a->tensor, b->tensor), are_equal(&a->list, &b->list),
                   "%s: %zu and %zu", where, i, j);
    }
}

Test(regions, common_elements_and_equality_of_random_tensors)
{
  run_chains(300, check_pairs);
}

Test(regions, the_same_elements_by_another_way_are_equal)
{
  pop_graph *graph = new_graph();
  pop_tensor m = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){4, 6}, 2, "m");
  pop_tensor twice = pop_tensor_transpose(pop_tensor_transpose(m));
  const pop_tensor rows[] = {pop_tensor_slice(m, 0, 1, 0), pop_tensor_slice(m, 1, 4, 0)};
  cr_assert(pop_tensor_equal(m, twice));
  cr_assert(pop_tensor_equal(m, pop_concat(rows, 2, 0)));
  cr_assert(!pop_tensor_equal(m, pop_tensor_flatten(m)));
  cr_assert(!pop_tensor_equal(m, pop_tensor_reinterpret(m, POP_INT)));
  cr_assert(!pop_tensor_equal(m, (pop_tensor){graph, 0}));
  cr_assert(pop_tensor_equal((pop_tensor){0}, (pop_tensor){graph, 0}));
  cr_assert(!pop_tensor_intersects_with(rows[0], rows[1]));
  cr_assert(!pop_tensor_intersects_with(m, (pop_tensor){0}));
  cr_assert(pop_tensor_intersects_with(m, rows[1]));
  assert_no_error(graph);
  pop_graph_free(graph);
}

Test(regions, parallel_writeable_is_without_constants_and_aliases)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){3}, 1, "v");
  pop_tensor c =
      pop_graph_add_constant(graph, POP_FLOAT, (size_t[]){1}, 1, (const float[]){1}, "c");
  cr_assert(pop_tensor_is_parallel_writeable(v));
  cr_assert(!pop_tensor_is_parallel_writeable(c));
  cr_assert(!pop_tensor_is_parallel_writeable(pop_tensor_broadcast(v, 2, 0)));
  cr_assert(!pop_tensor_is_parallel_writeable(pop_concat((const pop_tensor[]){v, c}, 2, 0)));
  cr_assert(!pop_tensor_is_parallel_writeable((pop_tensor){0}));
  pop_graph_free(graph);
}

/* ---- regions ---- */

typedef struct listing {
  const list *of;
  const char *where;
  size_t position;
  uint64_t last;               /* element */
  size_t times[MOST_ELEMENTS]; /* how often a position was shown */
  bool remove_aliases, any;
} listing;

static void note_var_region(void *context, size_t variable, size_t begin, size_t end)
{
  listing *l = context;
  for (size_t i = begin; i < end; i++, l->position++)
    cr_assert_eq(l->of->elements[l->position], (uint64_t)variable << 32 | i, "%s", l->where);
}

static void note_contiguous(void *context, size_t begin, size_t end)
{
  listing *l = context;
  cr_assert_eq(begin, l->position, "%s", l->where);
  for (size_t i = begin + 1; i < end; i++)
    cr_assert_eq(l->of->elements[i], l->of->elements[i - 1] + 1, "%s", l->where);
  l->position = end;
}

static void note_list(void *context, const pop_interval *intervals, size_t count)
{
  listing *l = context;
  bool first = true;
  cr_assert_gt(count, 0);
  for (size_t i = 0; i < count; i++) {
    cr_assert_lt(intervals[i].begin, intervals[i].end, "%s", l->where);
    if (i) cr_assert_neq(intervals[i].begin, intervals[i - 1].end, "%s: not merged", l->where);
    for (size_t p = intervals[i].begin; p < intervals[i].end; p++, first = false) {
      uint64_t element = l->of->elements[p];
      l->times[p]++;
      if (!first)
        cr_assert_eq(element, l->last + 1, "%s: a list with a hole", l->where);
      else if (l->any && l->remove_aliases)
        cr_assert(element > l->last + 1 || element >> 32 != l->last >> 32,
                  "%s: two lists that are one", l->where);
      l->last = element;
      l->any = true;
    }
  }
}

/* Each element is shown once, or each position is shown once. */
static void check_times(const listing *l)
{
  for (size_t i = 0; i < l->of->count; i++) {
    size_t times = 0;
    for (size_t j = 0; j < l->of->count; j++)
      times += l->times[j] * (!l->remove_aliases || l->of->elements[i] == l->of->elements[j]);
    if (l->remove_aliases) cr_assert_eq(times, 1, "%s: position %zu", l->where, i);
    if (!l->remove_aliases) cr_assert_eq(l->times[i], 1, "%s: position %zu", l->where, i);
  }
}

/* Two parts of the positions, with other positions before, between and after them. */
static void check_parts(const pair *of, const char *where)
{
  static listing l;
  size_t n = of->list.count;
  const pop_interval parts[] = {{n / 5, n / 3}, {n / 2, n / 2 + n / 7}};
  l = (listing){.of = &of->list, .where = where};
  pop_tensor_visit_sorted_contiguous_regions(of->tensor, parts, 2, false, note_list, &l);
  for (size_t i = 0; i < n; i++) {
    bool in =
        (parts[0].begin <= i && i < parts[0].end) || (parts[1].begin <= i && i < parts[1].end);
    cr_assert_eq(l.times[i], in, "%s: position %zu of %zu", where, i, n);
  }
}

static void check_regions(const pair *pairs, const char *where)
{
  static listing l;
  for (size_t i = 0; i < PAIRS; i++) {
    check_parts(&pairs[i], where);
    if (pairs[i].list.count > 200) continue;
    l = (listing){.of = &pairs[i].list, .where = where};
    pop_tensor_visit_var_regions(pairs[i].tensor, note_var_region, &l);
    cr_assert_eq(l.position, l.of->count, "%s", where);
    l.position = 0;
    pop_tensor_visit_contiguous_regions(pairs[i].tensor, note_contiguous, &l);
    cr_assert_eq(l.position, l.of->count, "%s", where);
    for (int remove = 0; remove < 2; remove++) {
      l = (listing){.of = &pairs[i].list, .where = where, .remove_aliases = remove};
      pop_tensor_visit_sorted_contiguous_regions(pairs[i].tensor, NULL, 0, remove, note_list, &l);
      check_times(&l);
    }
  }
}

Test(regions, regions_of_random_tensors)
{
  run_chains(300, check_regions);
}

typedef struct text {
  char text[200];
} text;

static void add_list(void *context, const pop_interval *intervals, size_t count)
{
  text *t = context;
  for (size_t i = 0; i < count; i++) {
    char one[40];
    snprintf(one, sizeof one, "%s[%zu,%zu)", i ? "" : " ", intervals[i].begin, intervals[i].end);
    strcat(t->text, one);
  }
}

Test(regions, sorted_regions_of_some_positions)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){8}, 1, "v");
  const pop_tensor parts[] = {pop_tensor_slice(v, 4, 8, 0), pop_tensor_slice(v, 0, 4, 0)};
  pop_tensor swapped = pop_concat(parts, 2, 0); /* 4 5 6 7 0 1 2 3 */
  text t = {""};
  pop_tensor_visit_sorted_contiguous_regions(swapped, NULL, 0, false, add_list, &t);
  cr_assert_str_eq(t.text, " [4,8)[0,4)");
  const pop_interval regions[] = {{5, 7}, {0, 2}, {3, 3}};
  t = (text){""};
  pop_tensor_visit_sorted_contiguous_regions(swapped, regions, 3, false, add_list, &t);
  cr_assert_str_eq(t.text, " [5,7) [0,2)");
  t = (text){""};
  pop_tensor_visit_sorted_contiguous_regions(swapped, regions, 0, false, add_list, &t);
  cr_assert_str_eq(t.text, "");
  pop_tensor_visit_sorted_contiguous_regions(swapped, &(pop_interval){3, 9}, 1, false, add_list,
                                             &t);
  assert_error(graph, POP_ERROR_INDEX, (const char *const[]){"[3, 9)", "'v'", "<= 8", NULL}, "9");
  pop_graph_free(graph);
}

/* ---- clones ---- */

static void list_elements(void *context, size_t variable, size_t begin, size_t end)
{
  list *l = context;
  for (size_t i = begin; i < end; i++) l->elements[l->count++] = (uint64_t)variable << 32 | i;
}

/* The elements have the order of the original, and are equal where the original's are. */
static void check_order(const list *from, const list *to, const char *where)
{
  for (size_t i = 0; i < from->count; i++)
    for (size_t j = 0; j < i; j++) {
      bool less = from->elements[j] < from->elements[i];
      bool equal = from->elements[j] == from->elements[i];
      cr_assert_eq(to->elements[j] < to->elements[i], less, "%s: %zu and %zu", where, j, i);
      cr_assert_eq(to->elements[j] == to->elements[i], equal, "%s: %zu and %zu", where, j, i);
    }
}

static size_t tile_of(uint64_t element);

/* As check_order, but all elements of a tile come before those of the next tile. */
static void check_order_by_tile(const list *from, const list *to, const char *where)
{
  for (size_t i = 0; i < from->count; i++)
    for (size_t j = 0; j < i; j++) {
      size_t tile_j = tile_of(from->elements[j]), tile_i = tile_of(from->elements[i]);
      bool less = tile_j != tile_i ? tile_j < tile_i : from->elements[j] < from->elements[i];
      cr_assert_eq(to->elements[j] < to->elements[i], less, "%s: %zu and %zu", where, j, i);
      bool equal = from->elements[j] == from->elements[i];
      cr_assert_eq(to->elements[j] == to->elements[i], equal, "%s: %zu and %zu", where, j, i);
    }
}

static size_t tile_of(uint64_t element)
{
  return (element * 7 + (element >> 32)) % 11;
}

typedef struct tiles {
  const list *of;
  const char *where;
} tiles;

static void check_tile(void *context, size_t tile, size_t begin, size_t end)
{
  const tiles *t = context;
  for (size_t i = begin; i < end; i++)
    cr_assert_eq(tile, tile_of(t->of->elements[i]), "%s: position %zu", t->where, i);
}

static void check_clone(const pair *p, pop_clone_method method, const char *where)
{
  static list elements;
  pop_graph *graph = p->tensor.graph;
  pop_tensor clone = pop_graph_clone(graph, POP_HALF, p->tensor, "clone", method);
  assert_no_error(graph);
  size_t variable = graph->num_variables - 1;
  cr_assert_eq(pop_tensor_element_type(clone), POP_HALF);
  cr_assert_eq(pop_tensor_rank(clone), p->list.rank, "%s", where);
  for (size_t d = 0; d < p->list.rank; d++)
    cr_assert_eq(pop_tensor_dim(clone, d), p->list.shape[d], "%s", where);
  elements.count = 0;
  pop_tensor_visit_var_regions(clone, list_elements, &elements);
  cr_assert_eq(elements.count, p->list.count, "%s", where);
  for (size_t i = 0; i < elements.count; i++)
    cr_assert_eq(elements.elements[i] >> 32, variable, "%s: of another variable", where);
  bool in_order = method == POP_CLONE_PRESERVE_ORDER_AND_ALIASES ||
                  (method == POP_CLONE_PRESERVE_ORDER_UNLESS_ALIASES && !has_alias(&p->list));
  if (in_order)
    check_order(&p->list, &elements, where);
  else if (method == POP_CLONE_GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES)
    check_order_by_tile(&p->list, &elements, where);
  else
    for (size_t i = 0; i < elements.count; i++) cr_assert_eq(elements.elements[i] & 0xffffffff, i);
  /* The clone uses all elements of its variable. */
  uint64_t most = 0;
  for (size_t i = 0; i < elements.count; i++)
    if ((elements.elements[i] & 0xffffffff) >= most) most = (elements.elements[i] & 0xffffffff) + 1;
  cr_assert_leq(most, p->list.count, "%s", where);
  cr_assert_eq(graph->variables[variable].num_elements, most, "%s", where);
  tiles t = {&p->list, where};
  pop_graph_visit_tile_mapping(graph, clone, check_tile, &t);
}

static void check_clones(const pair *pairs, const char *where)
{
  pop_graph *graph = pairs[0].tensor.graph;
  for (uint32_t v = 0; v < PAIRS; v++) {
    pop_tensor whole = pop_tensor_flatten((pop_tensor){graph, graph->variables[v].tensor});
    for (size_t i = 0; i < pop_tensor_num_elements(whole); i++)
      pop_graph_set_tile_mapping(graph, pop_tensor_index(whole, i), tile_of((uint64_t)v << 32 | i));
  }
  for (size_t i = 0; i < PAIRS; i++) {
    if (pairs[i].list.count > 200) continue;
    check_clone(&pairs[i], POP_CLONE_PRESERVE_ORDER_AND_ALIASES, where);
    check_clone(&pairs[i], POP_CLONE_PRESERVE_ORDER_UNLESS_ALIASES, where);
    check_clone(&pairs[i], POP_CLONE_CREATE_NEW_ORDER, where);
    check_clone(&pairs[i], POP_CLONE_GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES, where);
  }
}

/* ---- positions of elements ---- */

/* Runs of elements of any length on the tiles, and gaps. */
static size_t patchy_tile(uint64_t element)
{
  uint64_t run = element * 2654435761u >> 9 & 1 ? element / 16 : element / 5;
  return run % 4 == 3 ? SIZE_MAX : run % 4;
}

typedef struct patches {
  const list *of;
  const char *where;
  size_t end, tile;
} patches;

static void check_patch(void *context, size_t tile, size_t begin, size_t end)
{
  patches *p = context;
  cr_assert_eq(begin, p->end, "%s: not the next run", p->where);
  cr_assert_lt(begin, end, "%s: an empty run", p->where);
  cr_assert(begin == 0 || tile != p->tile, "%s: two runs are one", p->where);
  for (size_t i = begin; i < end; i++)
    cr_assert_eq(tile, patchy_tile(p->of->elements[i]), "%s: position %zu", p->where, i);
  p->end = end;
  p->tile = tile;
}

static void check_visits(const pair *pairs, const char *where)
{
  pop_graph *graph = pairs[0].tensor.graph;
  for (uint32_t v = 0; v < PAIRS; v++) {
    pop_tensor whole = pop_tensor_flatten((pop_tensor){graph, graph->variables[v].tensor});
    for (size_t i = 0; i < pop_tensor_num_elements(whole); i++) {
      size_t tile = patchy_tile((uint64_t)v << 32 | i);
      if (tile != SIZE_MAX)
        pop_graph_set_tile_mapping(graph, pop_tensor_slice(whole, i, i + 1, 0), tile);
    }
  }
  for (size_t i = 0; i < PAIRS; i++) {
    patches p = {&pairs[i].list, where, 0, 0};
    pop_graph_visit_tile_mapping(graph, pairs[i].tensor, check_patch, &p);
    assert_no_error(graph);
    cr_assert_eq(p.end, pairs[i].list.count, "%s: too few elements", where);
  }
}

Test(regions, tiles_of_random_tensors)
{
  run_chains(300, check_visits);
}

Test(regions, clones_of_random_tensors)
{
  run_chains(300, check_clones);
}

Test(regions, clones_of_large_views_stay_small)
{
  pop_graph *graph = new_graph();
  pop_tensor m = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){10000, 10000}, 2, "m");
  pop_tensor transposed = pop_tensor_transpose(m);
  pop_tensor many = pop_tensor_broadcast(pop_tensor_expand(m, 0), 1000, 0);
  const pop_tensor clones[] = {
      pop_graph_clone(graph, POP_INT, transposed, "t", POP_CLONE_PRESERVE_ORDER_AND_ALIASES),
      pop_graph_clone(graph, POP_INT, many, "many", POP_CLONE_PRESERVE_ORDER_AND_ALIASES)};
  assert_no_error(graph);
  for (size_t i = 0; i < 2; i++) cr_assert_eq(graph->tensors[clones[i].index].num_pieces, 1);
  cr_assert(pop_tensor_is_contiguous(pop_tensor_transpose(clones[0])));
  cr_assert_eq(graph->variables[2].num_elements, 100000000);
  pop_graph_free(graph);
}

Test(regions, a_clone_has_no_mapping_where_the_original_has_none_and_is_no_constant)
{
  pop_graph *graph = new_graph();
  pop_tensor c = pop_graph_add_constant(graph, POP_INT, (size_t[]){2}, 1, (const int[]){1, 2}, "c");
  pop_graph_set_tile_mapping(graph, pop_tensor_index(c, 1), 9);
  pop_tensor clone =
      pop_graph_clone(graph, POP_INT, c, NULL, POP_CLONE_PRESERVE_ORDER_UNLESS_ALIASES);
  size_t count;
  const mapping_interval *mapping = graph_mapping(graph, 1, &count);
  cr_assert_eq(count, 1);
  cr_assert(mapping[0].begin == 1 && mapping[0].end == 2 && mapping[0].tile == 9);
  cr_assert(!pop_tensor_contains_constant(clone));
  pop_graph_clone(graph, POP_TYPE_COUNT, c, NULL, POP_CLONE_CREATE_NEW_ORDER);
  cr_assert_not_null(pop_graph_error(graph));
  pop_graph_free(graph);
}

/* ---- types, text ---- */

static void expect_text(pop_tensor t, const char *wanted)
{
  char all[200], few[9];
  size_t length = pop_tensor_debug_string(t, all, sizeof all);
  cr_assert_str_eq(all, wanted);
  cr_assert_eq(length, strlen(wanted));
  cr_assert_eq(pop_tensor_debug_string(t, NULL, 0), length);
  cr_assert_eq(pop_tensor_debug_string(t, few, sizeof few), length);
  cr_assert(strncmp(few, wanted, 8) == 0 && strlen(few) == (length < 8 ? length : 8));
}

Test(regions, tensors_as_text)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){20}, 1, "v");
  pop_tensor w = pop_graph_add_variable(graph, POP_FLOAT, NULL, 0, NULL);
  const pop_tensor parts[] = {pop_tensor_slice(v, 3, 6, 0), pop_tensor_expand(w, 0)};
  char shape[20];
  expect_text(pop_concat(parts, 2, 0), "float {4} = v[3:6] variable 1[0]");
  expect_text(w, "float {} = variable 1[0]");
  expect_text((pop_tensor){0}, "null {}");
  expect_text(pop_tensor_slice(v, 2, 2, 0), "float {0}");
  expect_text(pop_tensor_sub_sample(v, 2, 0),
              "float {10} = v[0] v[2] v[4] v[6] v[8] v[10] v[12] v[14] …");
  cr_assert_eq(pop_tensor_shape_string(pop_tensor_expand(v, 0), shape, sizeof shape), 6);
  cr_assert_str_eq(shape, "{1,20}");
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  pop_tensor_dump(pop_tensor_sub_sample(v, 2, 0), stream);
  fclose(stream);
  cr_assert_str_eq(text, "float {10} = v[0] v[2] v[4] v[6] v[8] v[10] v[12] v[14] v[16] v[18]\n");
  free(text);
  pop_graph_free(graph);
}

Test(regions, P02_elements_are_reinterpreted_as_a_type_of_the_same_size)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2, 3}, 2, "v");
  pop_tensor bits = pop_tensor_reinterpret(v, POP_UNSIGNED_INT);
  cr_assert_eq(pop_tensor_element_type(bits), POP_UNSIGNED_INT);
  cr_assert_eq(pop_tensor_element_type(v), POP_FLOAT);
  cr_assert_eq(pop_tensor_dim(bits, 1), 3);
  cr_assert(pop_tensor_intersects_with(bits, v));
  pop_tensor_reinterpret(v, POP_HALF);
  assert_error(graph, POP_ERROR_TYPE, (const char *const[]){"'v'", "4 bytes", "half have 2", NULL},
               "half");
  pop_graph_free(graph);
}

/* ---- refused calls ---- */

static void bad_operation(int which, pop_tensor v)
{
  const size_t dimensions[] = {1, 0}, far[] = {3}, two[] = {0, 0};
  switch (which) {
  case 0:
    pop_tensor_dim_roll(v, 2, 0);
    return;
  case 1:
    pop_tensor_dim_shuffle_partial(v, two, dimensions, 2);
    return;
  case 2:
    pop_tensor_reshape_partial(v, 0, 1, (size_t[]){3}, 1);
    return;
  case 3:
    pop_tensor_flatten_partial(v, 1, 3);
    return;
  case 4:
    pop_tensor_expand_dims(v, dimensions, 2);
    return;
  case 5:
    pop_tensor_expand_dims(v, far, 1);
    return;
  case 6:
    pop_tensor_squeeze_dims(v, (size_t[]){1}, 1);
    return;
  case 7:
    pop_tensor_upsample(v, SIZE_MAX, 1);
    return;
  case 8:
    pop_tensor_dim_shuffle_partial(v, NULL, NULL, 1);
    return;
  case 9:
    pop_tensor_expand_dims(v, NULL, SIZE_MAX);
    return;
  default:
    pop_tensor_visit_var_regions(v, NULL, NULL);
  }
}

Test(regions, P02_P04_bad_operations_say_what_is_wrong)
{
  static const struct {
    pop_error_code code;
    const char *words[3];
  } cases[] = {
      {POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_dim_roll", "{2} to {0}", "below 2"}},
      {POP_ERROR_INVALID_ARGUMENT, {"{0,0} to {1,0}", "'v'"}},
      {POP_ERROR_TENSOR, {"pop_tensor_reshape_partial", "have 2 elements", "{3}"}},
      {POP_ERROR_INDEX, {"pop_tensor_flatten_partial", "[1, 3)", "<= 2"}},
      {POP_ERROR_INDEX, {"pop_tensor_expand_dims", "{1,0}", "ascending"}},
      {POP_ERROR_INDEX, {"pop_tensor_expand_dims", "{3}", "0 to 2"}},
      {POP_ERROR_INDEX, {"pop_tensor_squeeze_dims", "dimension 1", "must be 1"}},
      {POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_upsample", "2^64 - 1"}},
      {POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_dim_shuffle_partial", "NULL"}},
      {POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_expand_dims", "rank"}},
      {POP_ERROR_INVALID_ARGUMENT, {"pop_tensor_visit_var_regions", "no function"}},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    pop_graph *graph = new_graph();
    bad_operation(i, pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2, 3}, 2, "v"));
    const char *const words[] = {cases[i].words[0], cases[i].words[1], cases[i].words[2], NULL};
    char where[20];
    snprintf(where, sizeof where, "case %d", i);
    assert_error(graph, cases[i].code, words, where);
    pop_graph_free(graph);
  }
}

/* ---- sorted regions with aliases ---- */

typedef struct aliases {
  pop_interval intervals[16];
  size_t originals[16], count, lists;
} aliases;

static void collect_aliases(void *context, const pop_interval *list, const size_t *originals,
                            size_t count)
{
  aliases *all = context;
  all->lists++;
  for (size_t i = 0; i < count; i++) {
    cr_assert_lt(all->count, 16);
    all->intervals[all->count] = list[i];
    all->originals[all->count++] = originals[i];
  }
}

static void expect_interval(const aliases *all, size_t i, size_t begin, size_t end, size_t original)
{
  cr_assert_eq(all->intervals[i].begin, begin, "%zu", i);
  cr_assert_eq(all->intervals[i].end, end, "%zu", i);
  cr_assert_eq(all->originals[i], original, "%zu", i);
}

Test(regions, aliases_are_cut_where_others_begin_and_end)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){10}, 1, "v");
  pop_tensor w = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2}, 1, "w");
  /* positions 0-9: all of v; 10-13: its 3 to 6; 14-15: w */
  const pop_tensor parts[] = {v, pop_tensor_slice(v, 3, 7, 0), w};
  aliases all = {0};
  pop_tensor_visit_sorted_regions_with_aliases(pop_concat(parts, 3, 0), NULL, 0, collect_aliases,
                                               &all);
  assert_no_error(graph);
  cr_assert_eq(all.count, 5);
  cr_assert_eq(all.lists, 2);
  expect_interval(&all, 0, 0, 3, 0);
  expect_interval(&all, 1, 3, 7, 3);
  expect_interval(&all, 2, 10, 14, 3);
  expect_interval(&all, 3, 7, 10, 7);
  expect_interval(&all, 4, 14, 16, 14);
  pop_graph_free(graph);
}

Test(regions, without_aliases_each_interval_is_its_own)
{
  pop_graph *graph = new_graph();
  pop_tensor v = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){8}, 1, "v");
  aliases all = {0};
  const pop_interval wanted[] = {{1, 3}, {5, 8}};
  pop_tensor_visit_sorted_regions_with_aliases(v, wanted, 2, collect_aliases, &all);
  assert_no_error(graph);
  cr_assert_eq(all.count, 2);
  expect_interval(&all, 0, 1, 3, 1);
  expect_interval(&all, 1, 5, 8, 5);
  pop_graph_free(graph);
}

/* ---- values of constants ---- */

Test(regions, values_of_a_view_of_constants_are_known)
{
  pop_graph *graph = new_graph();
  pop_tensor c =
      pop_graph_add_constant(graph, POP_INT, (size_t[]){4}, 1, (const int[]){10, 11, 12, 13}, "c");
  pop_tensor v = pop_graph_add_variable(graph, POP_INT, (size_t[]){2}, 1, "v");
  const pop_tensor parts[] = {pop_tensor_reverse(c, 0), pop_tensor_slice(c, 1, 2, 0)};
  int values[6] = {-1, -1, -1, -1, -1, -1};
  cr_assert_eq(pop_tensor_constant_values(pop_concat(parts, 2, 0), values, 6), 5);
  const int expected[6] = {13, 12, 11, 10, 11, -1};
  cr_assert_arr_eq(values, expected, sizeof expected);
  cr_assert_eq(pop_tensor_constant_values(c, values, 1), 4); /* as many as fit */
  cr_assert_eq(values[0], 10);
  cr_assert_eq(values[1], 12);
  const pop_tensor mixed[] = {c, v};
  cr_assert_eq(pop_tensor_constant_values(pop_concat(mixed, 2, 0), values, 6), SIZE_MAX);
  pop_tensor index = pop_graph_add_replication_index_constant(graph, "replica");
  cr_assert_eq(pop_tensor_constant_values(index, values, 6), SIZE_MAX);
  pop_tensor huge = pop_tensor_broadcast(c, (size_t)1 << 60, 0); /* no step for each element */
  cr_assert_eq(pop_tensor_constant_values(huge, values, 6), (size_t)4 << 60);
  cr_assert_eq(pop_tensor_constant_values((pop_tensor){graph, 0}, values, 6), SIZE_MAX);
  assert_no_error(graph);
  pop_graph_free(graph);
}
