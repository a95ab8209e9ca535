/* What profiles are written as: trace events, folded stacks, summaries. */
#include "support/profiled_program.h"

#include <jansson.h>
#include <math.h>

TestSuite(profile_output, .init = enter_fresh_folder);

static char *written(const pop_engine *engine,
                     pop_error *(*write)(const pop_engine *engine, FILE *stream))
{
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  expect_ok(write(engine, stream));
  fclose(stream);
  return text;
}

static int64_t simulated_cycles(const pop_profile *profile)
{
  return pop_profile_as_int(pop_profile_find(pop_profile_root(profile), "simulation.cycles"));
}

Test(profile_output, trace_events_are_JSON_with_tracks_on_which_nothing_overlaps)
{
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 2});
  p->rounds = 2;
  pop_profile *profile = run(p, 2);
  char *text = written(p->engine, pop_engine_write_trace_events);
  json_error_t where;
  json_t *root = json_loads(text, 0, &where);
  cr_assert_not_null(root, "%s", where.text);
  double ends[4][64] = {{0}}, last = 0;
  size_t vertices = 0, blocks = 0, runs = 0, index;
  json_t *event;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event)
  {
    if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0) continue;
    const char *category = json_string_value(json_object_get(event, "cat"));
    json_int_t process = json_integer_value(json_object_get(event, "pid")),
               thread = json_integer_value(json_object_get(event, "tid"));
    double from = json_number_value(json_object_get(event, "ts")),
           to = from + json_number_value(json_object_get(event, "dur"));
    cr_assert(process < 4 && thread < 64);
    cr_assert_geq(from, ends[process][thread] - 1e-9, "%s on %lld/%lld", category,
                  (long long)process, (long long)thread);
    ends[process][thread] = to;
    if (to > last) last = to;
    vertices += strcmp(category, "vertex") == 0;
    blocks += strcmp(category, "block") == 0;
    runs += strcmp(category, "run") == 0;
  }
  cr_assert_eq(vertices, 3 * 45 + 2);
  cr_assert_eq(blocks, 1);
  cr_assert_eq(runs, 1);
  double cycles = (double)simulated_cycles(profile);
  cr_assert_float_eq(last * 1000, floor(cycles * 1e9 / p->engine->executable->target.clock_hz),
                     0.001, "times are whole nanoseconds");
  json_decref(root);
  free(text);
  pop_profile_free(profile);
  stop_profile(p);
}

/* A vertex of the supervisor is a part of its tile's step. Then all workers start: a vertex of all
 * of them is on each, before their own. */
Test(profile_output, trace_events_have_vertices_of_supervisors_and_of_all_workers)
{
  enum { TILE_THREAD = 1 + 2 * (SLOT + 1) };
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 0});
  pop_profile_free(run(p, 1));
  char *text = written(p->engine, pop_engine_write_trace_events);
  json_t *root = json_loads(text, 0, NULL), *event;
  cr_assert_not_null(root);
  double step[2] = {0}, one = 0, ends[SLOT] = {0};
  size_t index, all = 0, own = 0;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event)
  {
    const char *category = json_string_value(json_object_get(event, "cat")),
               *name = json_string_value(json_object_get(event, "name"));
    json_int_t context = json_integer_value(json_object_get(event, "tid")) - TILE_THREAD;
    double from = json_number_value(json_object_get(event, "ts")),
           to = from + json_number_value(json_object_get(event, "dur"));
    if (!category || context < 0 || context > SLOT) continue;
    if (strcmp(category, "OnTileExecute") == 0) memcpy(step, (double[]){from, to}, sizeof step);
    if (strcmp(category, "vertex") != 0) continue;
    cr_assert(step[0] <= from && from < to && to <= step[1], "%s", name);
    if (strcmp(name, "One") == 0) {
      cr_assert_eq(context, 0);
      one = to;
    } else if (strcmp(name, "All") == 0) {
      cr_assert(context == 1 + (json_int_t)all && from == one, "%s on %lld", name,
                (long long)context);
      ends[all++] = to;
    } else {
      cr_assert(context == 1 && from == ends[0], "%s on %lld", name, (long long)context);
      own++;
    }
  }
  cr_assert(one > step[0] && all == SLOT && own == 1, "%zu, %zu", all, own);
  for (size_t i = 1; i < SLOT; i++) /* each takes a round more than the one before */
    cr_assert_gt(ends[i], ends[i - 1]);
  json_decref(root);
  free(text);
  stop_profile(p);
}

/* The characters that names may have. Bytes that are not UTF-8 become U+FFFD in JSON. */
static const char odd_name[] = "a\"b\\c/d;e\n\x01\xc3\xa9</script>\xff";
static const char odd_in_json[] = "a\"b\\c/d;e\n\x01\xc3\xa9</script>\xef\xbf\xbd";

static pop_engine *run_odd_names(void)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, NULL, 0, odd_name);
  pop_graph_set_tile_mapping(graph, n, 0);
  pop_graph_set_initial_value(graph, n, &(int){0});
  pop_compute_set set = pop_graph_add_compute_set(graph, odd_name);
  pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
  pop_graph_set_vertex_tile(graph, v, 0);
  pop_graph_connect(graph, v, "n", n);
  pop_graph_set_field_int(graph, v, "rounds", 1);
  pop_program main = pop_program_sequence(graph, odd_name);
  pop_sequence_add(main,
                   pop_program_block(graph, pop_program_execute(graph, set, odd_name), odd_name));
  const pop_option options[] = {{"debug.instrument", "true"}, {"profiler.blocks.filter", "."}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  return engine;
}

Test(profile_output, P12_any_name_is_escaped_for_other_tools)
{
  pop_engine *engine = run_odd_names();
  char *text = written(engine, pop_engine_write_trace_events);
  for (const char *c = text; *c; c++)
    cr_assert((unsigned char)*c >= ' ' || *c == '\n', "byte %d", *c);
  json_error_t where;
  json_t *root = json_loads(text, 0, &where), *event;
  cr_assert_not_null(root, "%s", where.text);
  size_t index, runs = 0, steps = 0, blocks = 0, timed = 0;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event)
  {
    const char *category = json_string_value(json_object_get(event, "cat"));
    if (!category || strcmp(json_string_value(json_object_get(event, "name")), odd_in_json) != 0)
      continue;
    runs += strcmp(category, "run") == 0;
    steps += strcmp(category, "OnTileExecute") == 0;
    blocks += strcmp(category, "block") == 0;
    timed += strcmp(category, "Common") == 0;
  }
  cr_assert(runs == 1 && steps == 2 && blocks == 1 && timed == 1, "%zu %zu %zu %zu", runs, steps,
            blocks, timed);
  json_decref(root);
  free(text);
  /* Each stack is a line. ';' separates frames, so a ';' in a name becomes ':'. */
  text = written(engine, pop_engine_write_folded_stacks);
  cr_assert_not_null(strstr(text, "a\"b\\c/d:e \x01"));
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    const char *space = strrchr(line, ' ');
    cr_assert(space && strspn(space + 1, "0123456789") == strlen(space + 1), "%s", line);
  }
  free(text);
  pop_engine_free(engine);
}

/* A copy without a name is called "/…". */
Test(profile_output, folded_stacks_have_no_frames_without_a_name)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  pop_tensor from = pop_graph_add_variable(graph, POP_INT, NULL, 0, "from"),
             to = pop_graph_add_variable(graph, POP_INT, NULL, 0, "to");
  pop_graph_set_tile_mapping(graph, from, 0);
  pop_graph_set_tile_mapping(graph, to, 1);
  pop_program copies[] = {pop_program_copy(from, to, NULL), pop_program_copy(from, to, "/a//b/")};
  pop_program main = pop_program_sequence(graph, "main");
  for (size_t i = 0; i < 2; i++) pop_sequence_add(main, copies[i]);
  const pop_option options[] = {{"debug.instrument", "true"}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 1, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  char *text = written(engine, pop_engine_write_folded_stacks);
  cr_assert_null(strstr(text, ";;"), "%s", text);
  cr_assert_not_null(strstr(text, "main;ExchangePre;DoExchange "), "%s", text);
  cr_assert_not_null(strstr(text, "main;a;b;ExchangePre;DoExchange "), "%s", text);
  free(text);
  pop_engine_free(engine);
}

/* Lines of summaries contain a program's names too. */
Test(profile_output, P12_any_name_is_a_part_of_a_line_in_summaries)
{
  static const pop_option options[] = {{"showExecutionSteps", "true"}, {"showVarStorage", "true"}};
  pop_engine *engine = run_odd_names();
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_engine_print_profile_summary(engine, options, 2, stream));
  fclose(stream);
  for (const char *c = text; *c; c++)
    cr_assert((unsigned char)*c >= ' ' || *c == '\n', "byte %d", *c);
  const char *shown = strstr(text, "a\"b\\c/d;e\\x0a\\x01\xc3\xa9</script>\\xff  ");
  cr_assert_not_null(shown, "a variable's line: %s", text);
  cr_assert_not_null(strstr(text, ": a\"b\\c/d;e\\x0a\\x01\xc3\xa9</script>\\xff\n"),
                     "a step's line");
  free(text);
  pop_engine_free(engine);
}

static char *summary_of(const pop_profile *graph, const pop_profile *profile)
{
  static const pop_option steps = {"showExecutionSteps", "true"};
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_profile_print_execution_summary(pop_profile_root(graph), pop_profile_root(profile),
                                                &steps, 1, stream));
  fclose(stream);
  return text;
}

static pop_error *write_summary_with_steps(const pop_engine *engine, FILE *stream)
{
  return pop_engine_print_execution_summary(engine, true, stream);
}

Test(profile_output, summaries_of_profiles_are_those_of_the_engine)
{
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 0});
  p->rounds = 2;
  pop_profile_free(run(p, 0));
  pop_profile *graph, *profile = run(p, 2);
  expect_ok(pop_engine_graph_profile(p->engine, &graph));
  char *own = written(p->engine, write_summary_with_steps), *read = summary_of(graph, profile);
  cr_assert_not_null(strstr(own, "  --- External Sync ---\n  StreamCopy"), "%s", own);
  cr_assert_str_eq(own, read);
  free(own);
  free(read);
  pop_profile_free(graph);
  pop_profile_free(profile);
  stop_profile(p);
}

/* There are too many to search all for each one. */
Test(profile_output, a_tile_may_have_many_vertices)
{
  enum { VERTICES = 20000, ROUNDS = 80 };
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 1;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "count.c", NULL);
  pop_tensor n = pop_graph_add_variable(graph, POP_INT, (size_t[]){VERTICES}, 1, "n");
  pop_graph_set_tile_mapping(graph, n, 0);
  pop_compute_set set = pop_graph_add_compute_set(graph, "many");
  for (size_t i = 0; i < VERTICES; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
    pop_graph_set_vertex_tile(graph, v, 0);
    pop_graph_connect(graph, v, "n", pop_tensor_index(n, i));
    pop_graph_set_field_int(graph, v, "rounds", 0);
  }
  pop_program main =
      pop_program_repeat(graph, ROUNDS, pop_program_execute(graph, set, NULL), "main");
  const pop_option options[] = {{"debug.instrument", "true"},
                                {"debug.computeInstrumentationLevel", "vertex"}};
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  char *text = written(engine, write_summary_with_steps);
  cr_assert_not_null(strstr(text, "(20000 instances): "), "%.2000s", text);
  free(text);
  pop_engine_free(engine);
}

/* `kinds` has a vertex of the type, too, but is not executed at first. */
Test(profile_output, summaries_count_vertices_that_were_executed)
{
  profiled *p = start(&(setting){"vertex", "interpreter", "1", 0});
  pop_profile *graph, *profile;
  expect_ok(pop_executable_graph_profile(p->engine->executable, &graph));
  for (size_t i = 0; i < 2; i++) {
    pop_profile_free(run(p, 0));
    profile = run(p, i); /* `count` again; then `kinds` */
    char *own = written(p->engine, write_summary_with_steps), *read = summary_of(graph, profile);
    const char *types = strstr(own, "  Cycles by vertex type:\n");
    unsigned count = 0;
    cr_assert_not_null(types, "%s", own);
    cr_assert_eq(sscanf(types, " Cycles by vertex type: Count (%u instances)", &count), 1, "%s",
                 types);
    cr_assert_eq(count, 45 + i, "%s", types);
    cr_assert_str_eq(own, read);
    free(own);
    free(read);
    pop_profile_free(profile);
  }
  pop_profile_free(graph);
  stop_profile(p);
}

Test(profile_output, folded_stacks_have_all_cycles_once)
{
  profiled *p = start(&(setting){"tile", "interpreter", "1", 0});
  p->rounds = 2;
  pop_profile_free(run(p, 2));
  pop_profile *profile = run(p, 0);
  char *text = written(p->engine, pop_engine_write_folded_stacks);
  int64_t sum = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    char *space = strrchr(line, ' ');
    cr_assert_not_null(space);
    sum += atoll(space);
    if (strstr(line, "loops;three times;count;OnTileExecute")) sum += 1000000;
  }
  cr_assert_eq(sum, simulated_cycles(profile) + 1000000);
  free(text);
  pop_profile_free(profile);
  stop_profile(p);
}
