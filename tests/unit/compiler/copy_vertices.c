/* The built-in copy vertices on the machine: copies of every element size, at every offset within a
 * word, straight and strided, short and longer than one worker's share. */
#include <populus/engine.h>
#include <populus/registers.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void assert_ok(pop_error *error, const char *where)
{
  cr_assert_null(error, "%s: %s", where, pop_error_message(error));
}

/* Copies t[begin : begin + count * stride : stride] to u[to : to + count], or back, on tile 1, and
 * compares the result with a loop. */
typedef struct copy_case {
  pop_type type;
  size_t begin, stride, to, count;
  bool scatter;
  bool remote; /* u is on tile 0 */
} copy_case;

static pop_tensor new_vector(pop_graph *graph, pop_type type, size_t count, size_t tile,
                             const char *name)
{
  pop_tensor v = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_set_tile_mapping(graph, v, tile);
  pop_graph_create_host_write(graph, name[0] == 't' ? "write t" : "write u", v);
  pop_graph_create_host_read(graph, name[0] == 't' ? "read t" : "read u", v);
  return v;
}

static void check_copy(const copy_case *k)
{
  enum { MAX_BYTES = 16384 };
  char where[128];
  snprintf(where, sizeof where, "%s, begin %zu, stride %zu, to %zu, count %zu%s%s",
           pop_type_name(k->type), k->begin, k->stride, k->to, k->count,
           k->scatter ? ", scatter" : "", k->remote ? ", remote" : "");
  pop_target target;
  assert_ok(pop_target_create("ipu2", 1, &target), where);
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  size_t wide = k->begin + k->count * k->stride, narrow = k->to + k->count + 1;
  size_t element = pop_type_bytes(k->type);
  pop_tensor t = new_vector(graph, k->type, wide, 1, "t");
  pop_tensor u = new_vector(graph, k->type, narrow, k->remote ? 0 : 1, "u");
  pop_tensor spread = pop_tensor_sub_sample(pop_tensor_slice(t, k->begin, wide, 0), k->stride, 0);
  pop_tensor dense = pop_tensor_slice(u, k->to, k->to + k->count, 0);
  pop_program program = k->scatter ? pop_program_copy(dense, spread, "scatter")
                                   : pop_program_copy(spread, dense, "gather");

  static uint8_t t_bytes[MAX_BYTES], u_bytes[MAX_BYTES], found[MAX_BYTES];
  cr_assert(wide * element <= MAX_BYTES && narrow * element <= MAX_BYTES);
  for (size_t i = 0; i < MAX_BYTES; i++) {
    t_bytes[i] = (uint8_t)(i * 7 + i / 251);
    u_bytes[i] = (uint8_t)(i * 13 + 101);
  }
  pop_engine *engine;
  assert_ok(pop_engine_create(graph, &program, 1, NULL, 0, &engine), where);
  assert_ok(pop_engine_load(engine), where);
  assert_ok(pop_engine_write_tensor(engine, "write t", t_bytes, wide * element), where);
  assert_ok(pop_engine_write_tensor(engine, "write u", u_bytes, narrow * element), where);
  assert_ok(pop_engine_run(engine, 0), where);
  for (size_t i = 0; i < k->count; i++) {
    uint8_t *in_t = t_bytes + (k->begin + i * k->stride) * element;
    uint8_t *in_u = u_bytes + (k->to + i) * element;
    memcpy(k->scatter ? in_t : in_u, k->scatter ? in_u : in_t, element);
  }
  assert_ok(pop_engine_read_tensor(engine, "read t", found, wide * element), where);
  cr_assert_arr_eq(found, t_bytes, wide * element, "%s: t", where);
  assert_ok(pop_engine_read_tensor(engine, "read u", found, narrow * element), where);
  cr_assert_arr_eq(found, u_bytes, narrow * element, "%s: u", where);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(copy_vertices, put_every_element_in_its_place)
{
  static const pop_type types[] = {POP_BOOL, POP_HALF, POP_FLOAT, POP_LONGLONG};
  static const size_t strides[] = {1, 2, 3}, counts[] = {1, 2, 5, 400};
  unsigned number = 0;
  for (size_t type = 0; type < 4; type++)
    for (size_t stride = 0; stride < 3; stride++)
      for (size_t count = 0; count < 4; count++)
        for (size_t shift = 0; shift < 4; shift++, number++) {
          copy_case k = {.type = types[type],
                         .begin = shift,
                         .stride = strides[stride],
                         .to = (shift * 3 + count) % 4,
                         .count = counts[count],
                         .scatter = number % 2 == 0,
                         .remote = number % 3 == 0};
          check_copy(&k);
        }
}

/* Copies `rows` rows of bytes, `gap` bytes apart, to a dense destination, both `shift` bytes
 * after the start of a variable; if `scattered`, in an order that is not that of addresses.
 * Returns the tile's cycles. */
static uint32_t cycles_of_copy(size_t rows, size_t bytes, size_t gap, size_t shift, bool scattered)
{
  pop_target target;
  assert_ok(pop_target_create("ipu2", 1, &target), "target");
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  pop_tensor t = new_vector(graph, POP_UNSIGNED_CHAR, rows * (bytes + gap) + shift, 1, "t");
  pop_tensor u = new_vector(graph, POP_UNSIGNED_CHAR, rows * bytes + shift, 1, "u");
  pop_program program = pop_program_sequence(graph, "copy");
  pop_tensor *from = calloc(rows, sizeof *from), *to = calloc(rows, sizeof *to);
  for (size_t i = 0; i < rows; i++) {
    size_t row = scattered ? i * i * 7919 % rows : i, at = shift + row * (bytes + gap);
    from[i] = pop_tensor_slice(t, at, at + bytes, 0);
    to[i] = pop_tensor_slice(u, shift + i * bytes, shift + (i + 1) * bytes, 0);
  }
  pop_sequence_add(program,
                   pop_program_copy(pop_concat(from, rows, 0), pop_concat(to, rows, 0), "copy"));
  pop_tensor count = pop_graph_cycle_count(graph, program, 1, POP_SYNC_INTERNAL, "count");
  pop_graph_create_host_read(graph, "count", count);
  pop_engine *engine;
  assert_ok(pop_engine_create(graph, &program, 1, NULL, 0, &engine), "create");
  assert_ok(pop_engine_load(engine), "load");
  assert_ok(pop_engine_run(engine, 0), "run");
  uint32_t cycles[2];
  assert_ok(pop_engine_read_tensor(engine, "count", cycles, sizeof cycles), "read");
  pop_engine_free(engine);
  pop_graph_free(graph);
  free(from);
  free(to);
  return cycles[0];
}

/* Chips copy about 4 bytes in a cycle (libarchive-ipu/target.c). The cycles of a copy of one byte,
 * with syncs and stamps, are subtracted. */
Test(copy_vertices, copy_as_many_bytes_in_a_cycle_as_chips_do)
{
  static const struct {
    size_t rows, bytes, gap, shift;
    double scattered, strided; /* at least so many bytes per cycle */
  } cases[] = {
      {1, 32768, 0, 0, 3.9, 3.9},  {1, 32767, 0, 3, 3.9, 3.9}, {137, 240, 16, 0, 3.7, 3.8},
      {137, 239, 16, 1, 3.4, 3.6}, {500, 32, 32, 0, 3.4, 3.8}, {1000, 16, 8, 0, 2.9, 3.6},
      {1000, 16, 7, 1, 2.1, 2.3},  {1000, 8, 8, 0, 2.2, 3.5},  {2000, 4, 4, 0, 1.2, 1.8},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int scattered = 0; scattered < 2; scattered++) {
      size_t rows = cases[i].rows, bytes = cases[i].bytes;
      uint32_t cycles = cycles_of_copy(rows, bytes, cases[i].gap, cases[i].shift, scattered) -
                        cycles_of_copy(1, 1, 0, 0, false);
      double rate = (double)(rows * bytes) / cycles;
      cr_expect(rate >= (scattered ? cases[i].scattered : cases[i].strided),
                "%zu rows of %zu, %zu apart, from %zu, %s: %.2f bytes a cycle", rows, bytes,
                cases[i].gap, cases[i].shift, scattered ? "scattered" : "strided", rate);
    }
}

Test(copy_vertices, X07_overlapping_copies_go_as_if_through_a_temporary)
{
  enum { SIZE = 37 };
  pop_target target;
  assert_ok(pop_target_create("ipu2", 1, &target), "target");
  target.tiles_per_ipu = 3;
  for (size_t tiles = 1; tiles <= 3; tiles++) {
    pop_graph *graph = pop_graph_create(&target);
    pop_tensor v =
        pop_graph_add_variable(graph, POP_UNSIGNED_SHORT, (const size_t[]){SIZE}, 1, "v");
    for (size_t i = 0; i < SIZE; i++)
      pop_graph_set_tile_mapping(graph, pop_tensor_slice(v, i, i + 1, 0), i / 5 % tiles);
    pop_program program = pop_program_copy(v, pop_tensor_reverse(v, 0), "reverse");
    pop_graph_create_host_write(graph, "write", v);
    pop_graph_create_host_read(graph, "read", v);
    uint16_t values[SIZE], found[SIZE];
    for (size_t i = 0; i < SIZE; i++) values[i] = (uint16_t)(500 + i);
    pop_engine *engine;
    assert_ok(pop_engine_create(graph, &program, 1, NULL, 0, &engine), "create");
    assert_ok(pop_engine_load(engine), "load");
    assert_ok(pop_engine_write_tensor(engine, "write", values, sizeof values), "write");
    assert_ok(pop_engine_run(engine, 0), "run");
    assert_ok(pop_engine_read_tensor(engine, "read", found, sizeof found), "read");
    for (size_t i = 0; i < SIZE; i++)
      cr_assert_eq(found[i], values[SIZE - 1 - i], "%zu tiles, element %zu", tiles, i);
    pop_engine_free(engine);
    pop_graph_free(graph);
  }
}
