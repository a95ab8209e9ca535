/* The programs that an executable describes, as profiles number them, also after it was saved and
 * loaded. */
#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>
#include <unistd.h>

TestSuite(executable_steps, .init = enter_fresh_folder);

enum { TILES = 4 };

/* Each step on a line, followed by its children: "Sequence 3:main", "Call >0", "OnTileExecute
 * a". */
static void print_tree(FILE *stream, const pop_executable *e, uint32_t number, int depth)
{
  const executable_step *s = &e->steps[number];
  fprintf(stream, "%*s%s", depth, "", executable_step_tag(s->kind));
  if (s->kind == EXECUTABLE_STEP_CALL) fprintf(stream, " >%u", s->index);
  if (s->kind == EXECUTABLE_STEP_REPEAT) fprintf(stream, " %u", s->count);
  if (s->kind == EXECUTABLE_STEP_EXECUTE)
    fprintf(stream, " %s", e->compute_sets[s->index].name);
  else if (*s->name)
    fprintf(stream, " '%s'", s->name);
  fprintf(stream, "\n");
  for (uint32_t i = 0; i < s->num_children; i++) {
    uint32_t child = e->step_children[s->first_child + i];
    cr_assert_gt(child, number);
    print_tree(stream, e, child, depth + 1);
  }
}

static char *tree_of(const pop_executable *e)
{
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  for (size_t i = 0; i < e->num_control_steps; i++) print_tree(stream, e, e->control_steps[i], 0);
  for (size_t i = 0; i < e->num_functions; i++) {
    fprintf(stream, "function %zu\n", i);
    print_tree(stream, e, e->functions[i], 1);
  }
  fclose(stream);
  return text;
}

static const char expected[] = "Sequence 'main'\n"
                               " StreamCopy 'in'\n"
                               " Block 'both'\n"
                               "  Sequence\n"
                               "   Call >0 'tell/ExchangePre'\n"
                               "   Sync 'wait'\n"
                               " Repeat 3 'thrice'\n"
                               "  Sequence\n"
                               "   Call >0 'tell/ExchangePre'\n"
                               " DoExchange 'choice/Broadcast/ExchangePre'\n"
                               " SetLocalConsensusFromVar 'choice'\n"
                               " IfElse 'choice'\n"
                               "  Sequence\n"
                               "  Sequence\n"
                               "   WriteUndef 'forget'\n"
                               " RepeatWhileFalse 'until'\n"
                               "  Sequence\n"
                               "   OnTileExecute count\n"
                               "   DoExchange 'until/Broadcast/ExchangePre'\n"
                               "  Sequence\n"
                               "   StreamCopy 'sum'\n"
                               "function 0\n"
                               " Sequence 'tell/ExchangePre'\n"
                               "  DoExchange 'tell/ExchangePre'\n";

static const char codelets[] = "#include <populus/vertex.h>\n"
                               "typedef struct { INOUT(int) n; } Count;\n"
                               "COMPUTE(Count) { ++*vertex->n; return true; }\n";

static pop_executable *compile(void)
{
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){2}, 1, "n"),
             from = pop_tensor_slice(n, 0, 1, 0), to = pop_tensor_slice(n, 1, 2, 0);
  pop_graph_set_tile_mapping(graph, from, 1);
  pop_graph_set_tile_mapping(graph, to, 2);
  pop_compute_set set = pop_graph_add_compute_set(graph, "count");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
  pop_graph_set_vertex_tile(graph, v, 1);
  pop_graph_connect(graph, v, "n", from);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 1);
  pop_program tell = pop_program_copy(from, to, "tell"), main = pop_program_sequence(graph, "main"),
              both = pop_program_sequence(graph, NULL);
  pop_sequence_add(both, tell);
  pop_sequence_add(both, pop_program_sync(graph, POP_SYNC_EXTERNAL, "wait"));
  pop_sequence_add(main, pop_program_copy_from_stream(in, from, "in"));
  pop_sequence_add(main, pop_program_block(graph, both, "both"));
  pop_sequence_add(main, pop_program_repeat(graph, 3, tell, "thrice"));
  pop_sequence_add(main, pop_program_if(from, pop_program_write_undef(to, "forget"),
                                        (pop_program){0}, "choice"));
  pop_sequence_add(main,
                   pop_program_repeat_while_false(pop_program_execute(graph, set, NULL), from,
                                                  pop_program_print_tensor(n, "sum"), "until"));
  assert_no_error(graph);
  pop_executable *executable;
  expect_ok(pop_compile_graph(graph, &main, 1, NULL, 0, &executable));
  pop_graph_free(graph);
  return executable;
}

Test(executable_steps, programs_are_described_with_their_tags_children_and_functions)
{
  pop_executable *compiled = compile(), *loaded;
  char *text = tree_of(compiled);
  cr_assert_str_eq(text, expected, "%s", text);
  expect_ok(pop_executable_save(compiled, "archive.a"));
  expect_ok(pop_executable_load("archive.a", &loaded));
  char *again = tree_of(loaded);
  cr_assert_str_eq(text, again, "%s", again);
  free(text);
  free(again);
  pop_executable_free(loaded);
  pop_executable_free(compiled);
}

static const executable_exchange_part *part_of(const pop_executable *e, size_t first, size_t count,
                                               uint32_t tile)
{
  for (size_t i = first; i < first + count; i++)
    if (e->exchange_parts[i].tile == tile) return &e->exchange_parts[i];
  return NULL;
}

Test(executable_steps, exchanges_have_what_each_tile_sends_and_receives)
{
  pop_executable *e = compile();
  const executable_exchange *tell = e->exchanges;
  while (strcmp(tell->name, "tell/ExchangePre") != 0) tell++;
  cr_assert_eq(tell->zone, 0);
  cr_assert_eq(tell->num_parts, 2);
  const executable_exchange_part *sends = part_of(e, tell->first_part, 2, 1),
                                 *receives = part_of(e, tell->first_part, 2, 2);
  cr_assert(sends && receives);
  cr_assert(sends->bytes_sent == 4 && sends->bytes_received == 0);
  cr_assert(receives->bytes_sent == 0 && receives->bytes_received == 4);
  cr_assert(sends->cycles > 0 && receives->cycles > 0);
  const executable_event *in = e->events;
  while (in->kind != EXECUTABLE_EVENT_EXCHANGE) in++;
  cr_assert_eq(in->num_parts, 1);
  const executable_exchange_part *part = part_of(e, in->first_part, 1, 1);
  cr_assert_not_null(part);
  cr_assert(part->bytes_received == 4 && part->bytes_sent == 0);
  cr_assert_eq(part->cycles, 2); /* hostRead, end */
  pop_executable_free(e);
}
