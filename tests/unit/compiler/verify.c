/* verify_compilation finds what a broken pass would leave behind. A finished compilation is changed
 * in one place, as such a pass might do, and is then restored. */
#include "compiler/verify.h"
#include "compiler/script.h"
#include "support/graph_test.h"

#include "support/expect.h"
#include <populus/program.h>

static compilation *compiled(void)
{
  const size_t shape[] = {64};
  pop_graph *graph = new_graph_with_tiles(4);
  pop_tensor t[3];
  pop_program main = pop_program_sequence(graph, "main");
  for (int i = 0; i < 3; i++) {
    static const char *const names[] = {"first", "second", "third"};
    t[i] = pop_graph_add_variable(graph, POP_INT, shape, 1, names[i]);
    for (size_t k = 0; k < 4; k++)
      pop_graph_set_tile_mapping(graph, pop_tensor_slice(t[i], 16 * k, 16 * k + 16, 0),
                                 (k + (size_t)i) % 4);
  }
  pop_sequence_add(main, pop_program_copy(t[0], t[1], "forward"));
  pop_graph_add_codelets_source(graph, "c",
                                "#include <populus/vertex.h>\n"
                                "typedef struct { INOUT(VECTOR(int)) x; } Add;\n"
                                "COMPUTE(Add) { vertex->x.data[0]++; return true; }\n",
                                "add", NULL);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  for (size_t k = 0; k < 4; k++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Add");
    pop_graph_set_vertex_tile(graph, v, k);
    pop_graph_connect(graph, v, "x", pop_tensor_slice(t[1], 16 * k, 16 * k + 16, 0));
  }
  pop_sequence_add(main, pop_program_execute(graph, set, "set"));
  pop_sequence_add(main, pop_program_copy(pop_tensor_reverse(t[1], 0), t[2], "reversed"));
  pop_graph_create_host_read(graph, "third", t[2]);
  pop_graph_create_host_write(graph, "first", t[0]);
  const uint32_t program = main.index - 1;
  const compile_options options = {.num_threads = 1};
  compilation *c;
  expect_ok(compile(graph, &program, 1, &options, &c));
  pop_graph_free(graph);
  return c;
}

static compilation *c;

/* After the pass, the verifier finds the value `wrong` of `field` and reports it with `words`. */
#define EXPECT_FOUND(pass, field, wrong, words)                                                    \
  do {                                                                                             \
    __typeof__(field) right = (field);                                                             \
    (field) = (wrong);                                                                             \
    expect_error(verify_compilation(c, pass), POP_ERROR_INTERNAL, words, #field);                  \
    (field) = right;                                                                               \
    expect_ok(verify_compilation(c, pass));                                                        \
  } while (0)

/* The first block that some step uses and that is not always live. */
static block *block_with_life(uint32_t *number)
{
  for (size_t i = 0; i < c->num_accesses; i++) {
    block *b = &c->blocks[ *number = c->accesses[i].block];
    if (!(b->flags & BLOCK_ALWAYS_LIVE)) return b;
  }
  cr_assert_fail("nothing shares memory");
  return NULL;
}

static block *with_fixups(void)
{
  for (size_t i = 0; i < c->num_blocks; i++)
    if (c->blocks[i].content != COMPILER_NONE && c->contents[c->blocks[i].content].num_fixups)
      return &c->blocks[i];
  cr_assert_fail("no addresses");
  return NULL;
}

/* Rows of acknowledgements are checked: tile 1 must not acknowledge an exchange that it takes part
 * in, nor one that does not exist. */
static void expect_rows_are_looked_at(void)
{
  script s;
  script_build(c, &s);
  acknowledged_row row = {COMPILER_NONE, 0, 1, 1};
  for (uint32_t i = 0; i < s.num_ops; i++) {
    if (s.ops[i].kind != SCRIPT_EXCHANGE) continue;
    if (row.first == COMPILER_NONE) row.first = i;
    row.last = i;
  }
  script_free(&s);
  cr_assert_lt(row.first, row.last);
  pop_push(c->acknowledged, c->num_acknowledged, c->acknowledged_capacity, row);
  expect_error(verify_compilation(c, COMPILE_EMIT), POP_ERROR_INTERNAL, "have a part in", "part");
  c->acknowledged[0].first = 0;
  expect_error(verify_compilation(c, COMPILE_EMIT), POP_ERROR_INTERNAL, "no row of exchanges",
               "row");
  c->num_acknowledged = 0;
  expect_ok(verify_compilation(c, COMPILE_EMIT));
}

Test(verify, what_broken_passes_leave_is_found)
{
  c = compiled();
  expect_ok(verify_compilation(c, COMPILE_ACCOUNT));
  expect_ok(verify_compilation(c, COMPILE_EXCHANGE));

  /* place, lower */
  EXPECT_FOUND(COMPILE_PLACE, c->blocks[0].tile, 4u, "on tile 4, which is not there");
  EXPECT_FOUND(COMPILE_PLACE, c->blocks[0].size, 0u, "has 0 bytes");
  EXPECT_FOUND(COMPILE_PLACE, c->blocks[0].align, 12u, "alignment 12");
  EXPECT_FOUND(COMPILE_PLACE, c->intervals[0].end, 65u, "are not on tile 0");
  EXPECT_FOUND(COMPILE_PLACE, c->intervals[1].begin, 3u, "twice or out of order");
  block *addresses = with_fixups();
  content *content = &c->contents[addresses->content];
  EXPECT_FOUND(COMPILE_LOWER, addresses->content, (uint32_t)c->num_contents, "or not there");
  EXPECT_FOUND(COMPILE_LOWER, content->first_byte, c->num_bytes, "bytes of another one");
  EXPECT_FOUND(COMPILE_LOWER, content->first_fixup, c->num_fixups, "addresses of another one");
  EXPECT_FOUND(COMPILE_LOWER, c->fixups[content->first_fixup].at, content->size, "an address at");
  EXPECT_FOUND(COMPILE_LOWER, c->fixups[content->first_fixup].target.block, (uint32_t)c->num_blocks,
               "which is not there");
  EXPECT_FOUND(COMPILE_LOWER, addresses->tile, (addresses->tile + 1) % 4, "tile");
  EXPECT_FOUND(COMPILE_LOWER, c->works[0].num_vertices, (uint32_t)c->num_vertices + 1,
               "vertices that are not there");
  EXPECT_FOUND(COMPILE_LOWER, c->messages[0].source.offset, 1u << 20, "is not on tile");
  EXPECT_FOUND(COMPILE_LOWER, c->receivers[0].tile, (c->receivers[0].tile + 1) % 4, "no room");
  EXPECT_FOUND(COMPILE_LOWER, c->control_programs[0], (uint32_t)c->num_steps, "program 0 is step");
  EXPECT_FOUND(COMPILE_LOWER, c->accesses[0].bytes_written, 1u << 20, "writes 1048576 bytes");
  EXPECT_FOUND(COMPILE_LOWER, c->host_runs[0].bytes, 4u, "runs of");

  /* exchange */
  EXPECT_FOUND(COMPILE_EXCHANGE, c->exchange_ops[0].count, 0u, "the plan of exchange '");
  EXPECT_FOUND(COMPILE_EXCHANGE, c->receivers[0].destination.offset,
               c->receivers[0].destination.offset + 4, "");

  /* liveness */
  uint32_t number;
  block *b = block_with_life(&number);
  EXPECT_FOUND(COMPILE_LIVENESS, b->last_step, 0u, "block");
  EXPECT_FOUND(COMPILE_LIVENESS, b->first_step, b->last_step + 1, "lives from step");

  /* emit */
  EXPECT_FOUND(COMPILE_EMIT, c->tiles[1].control_code, c->tiles[0].control_code,
               "tile 1 has no control code");
  EXPECT_FOUND(COMPILE_EMIT, c->code_patches[0].target.block, (uint32_t)c->num_blocks,
               "code of tile 0");
  expect_rows_are_looked_at();

  /* allocate, account */
  b = &c->blocks[c->blocks_by_tile[c->tiles[2].first_block + 1]];
  const block *before = &c->blocks[c->blocks_by_tile[c->tiles[2].first_block]];
  EXPECT_FOUND(COMPILE_ALLOCATE, b->address, before->address, "tile 2");
  EXPECT_FOUND(COMPILE_ALLOCATE, b->address, b->address + 2, "tile 2");
  EXPECT_FOUND(COMPILE_ALLOCATE, c->blocks[c->tiles[3].control_code].address,
               c->target.interleaved_base, "tile 3");
  EXPECT_FOUND(COMPILE_ALLOCATE, c->tiles[2].end, c->tiles[2].end - 1, "cannot be at");
  EXPECT_FOUND(COMPILE_ALLOCATE, c->tiles[2].num_blocks, c->tiles[2].num_blocks - 1,
               "blocks have addresses");
  EXPECT_FOUND(COMPILE_ACCOUNT, c->memory[0].total_including_gaps, 4u, "tile 0 is said to have");
  compilation_free(c);
}
