/* The codelets of a graph: .gp files, and source that is compiled first.
 *
 *   source --popc_compile--> .gp in memory --pop_gp_read_memory--> pop_gp --> vertex_types
 *
 * A .gp that shares vertices with those of the graph is merged with them by the .gp builder,
 * which checks whether their code is the same. The merged .gp replaces all of them, so that no
 * code is there twice. They stay until the graph is freed: names of vertex types and fields that
 * callers have been given are in them. */
#include "base/log.h"
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/flags.h"

#include <populus/data_dir.h>
#include <populus/popc.h>
#include <stdlib.h>
#include <string.h>

/* ---- from a .gp to vertex types ---- */

/* A vertex type that exists gets the entry of `gp`, so that handles of vertices stay valid. */
static void register_vertex_types(pop_graph *graph, const pop_gp *gp)
{
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); i++) {
    vertex_type_entry entry = {.type = pop_gp_vertex_type(gp, i), .gp = gp};
    uint32_t index = pop_name_table_find(&graph->vertex_type_names, entry.type->name);
    if (index != POP_NAME_NONE) {
      graph->vertex_types[index].type = entry.type;
      graph->vertex_types[index].gp = gp;
      continue;
    }
    /* The table outlives any gp that is merged. */
    pop_name_table_add(&graph->vertex_type_names, pop_arena_strdup(graph->arena, entry.type->name),
                       (uint32_t)graph->num_vertex_types);
    pop_push(graph->vertex_types, graph->num_vertex_types, graph->vertex_types_capacity, entry);
  }
}

static bool have_vertex_in_common(const pop_graph *graph, const pop_gp *there, const pop_gp *gp)
{
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); i++) {
    const char *name = pop_gp_vertex_type(gp, i)->name;
    uint32_t index = pop_name_table_find(&graph->vertex_type_names, name);
    if (index != POP_NAME_NONE && graph->vertex_types[index].gp == there) return true;
  }
  return false;
}

/* Moves the codelets that share a vertex with `gp` to `shared`. */
static size_t take_out_shared(pop_graph *graph, const pop_gp *gp, pop_gp **shared)
{
  size_t num_shared = 0, num_kept = 0;
  for (size_t i = 0; i < graph->num_codelets; i++) {
    pop_gp *there = graph->codelets[i];
    if (have_vertex_in_common(graph, there, gp))
      shared[num_shared++] = there;
    else
      graph->codelets[num_kept++] = there;
  }
  graph->num_codelets = num_kept;
  return num_shared;
}

static pop_error *merge(pop_gp *const *shared, size_t num_shared, const pop_gp *gp, pop_gp **merged)
{
  pop_gp_builder *builder = pop_gp_builder_new();
  uint8_t *bytes = NULL;
  size_t size;
  pop_error *error = NULL;
  for (size_t i = 0; i < num_shared && !error; i++)
    error = pop_gp_builder_add_gp(builder, shared[i]);
  if (!error) error = pop_gp_builder_add_gp(builder, gp);
  if (!error) error = pop_gp_builder_write(builder, NULL, &bytes, &size);
  if (!error) error = pop_gp_read_memory(bytes, size, pop_gp_name(gp), merged);
  free(bytes);
  pop_gp_builder_free(builder);
  return error;
}

static bool is_same(const pop_gp *a, const pop_gp *b)
{
  pop_gp_digest of_a = pop_gp_get_digest(a), of_b = pop_gp_get_digest(b);
  return memcmp(&of_a, &of_b, sizeof of_a) == 0;
}

/* Replaces `*gp` by one .gp, merged with all that share vertices with it. If it adds nothing, what
 * was there stays. */
static pop_error *merge_with_shared(pop_graph *graph, pop_gp **gp)
{
  pop_gp **shared = pop_xcalloc(graph->num_codelets, sizeof(pop_gp *)), *merged = NULL;
  size_t num_shared = take_out_shared(graph, *gp, shared);
  pop_error *error = num_shared ? merge(shared, num_shared, *gp, &merged) : NULL;
  for (size_t i = 0; i < num_shared; i++) {
    if (error || is_same(merged, shared[i])) /* vertices refer to it */
      pop_push(graph->codelets, graph->num_codelets, graph->codelets_capacity, shared[i]);
    else
      pop_push(graph->merged, graph->num_merged, graph->merged_capacity, shared[i]);
  }
  free(shared);
  if (merged) {
    pop_gp_free(*gp);
    *gp = merged;
  }
  return error;
}

static bool is_there(const pop_graph *graph, const pop_gp *gp)
{
  for (size_t i = 0; i < graph->num_codelets; i++)
    if (is_same(graph->codelets[i], gp)) return true;
  return false;
}

/* popc makes no compressed .gp; other compilers do. Warns once for a file. */
static void warn_of_compressed(const pop_gp *gp)
{
  bool library;
  for (size_t i = 0; i < pop_gp_num_tile_objects(gp); i++) {
    const pop_object *object = pop_gp_tile_object(gp, i, &library);
    const char *section = pop_object_compressed_debug(object);
    if (!section) continue;
    log_write(
        LOG_WARN, "GRAPH",
        "codelets %s: section %s is compressed, so no source lines are known of them, and archives "
        "hold no debug information: compile them without -gz",
        pop_object_name(object), section);
    return;
  }
}

/* ---- the same for the host ---- */

static bool same_code(const pop_gp *a, const pop_vertex_type *in_a, const pop_gp *b,
                      const pop_vertex_type *in_b)
{
  size_t size_a, size_b;
  const void *bytes_a = pop_gp_host_object(a, pop_gp_find_host_object(a, in_a), &size_a);
  const void *bytes_b = pop_gp_host_object(b, pop_gp_find_host_object(b, in_b), &size_b);
  return size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0;
}

/* Host objects are not merged. The first one that has a vertex is used; others must be the same. */
static pop_error *register_host_types(pop_graph *graph, const pop_gp *gp)
{
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); i++) {
    vertex_type_entry entry = {.type = pop_gp_vertex_type(gp, i), .gp = gp};
    uint32_t index = pop_name_table_find(&graph->vertex_type_names, entry.type->name);
    if (index == POP_NAME_NONE) {
      pop_name_table_add(&graph->vertex_type_names,
                         pop_arena_strdup(graph->arena, entry.type->name),
                         (uint32_t)graph->num_vertex_types);
      pop_push(graph->vertex_types, graph->num_vertex_types, graph->vertex_types_capacity, entry);
      continue;
    }
    const vertex_type_entry *there = &graph->vertex_types[index];
    if (!same_code(there->gp, there->type, gp, entry.type))
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "vertex '%s' is in '%s' (%s) and, with other code, in '%s' (%s)",
                           entry.type->name, pop_gp_name(there->gp), there->type->source,
                           pop_gp_name(gp), entry.type->source);
  }
  return NULL;
}

/* Takes the gp over, also after an error: vertex types may refer to it. */
static pop_error *add_host_gp(pop_graph *graph, pop_gp *gp)
{
  if (is_there(graph, gp)) {
    pop_gp_free(gp);
    return NULL;
  }
  pop_push(graph->codelets, graph->num_codelets, graph->codelets_capacity, gp);
  return register_host_types(graph, gp);
}

/* Takes the gp over. */
static pop_error *add_gp(pop_graph *graph, pop_gp *gp)
{
  if (graph->target.type == POP_TARGET_CPU) return add_host_gp(graph, gp);
  if (!is_there(graph, gp)) warn_of_compressed(gp);
  pop_error *error = is_there(graph, gp) ? NULL : merge_with_shared(graph, &gp);
  if (error || is_there(graph, gp)) {
    pop_gp_free(gp);
    return error;
  }
  pop_push(graph->codelets, graph->num_codelets, graph->codelets_capacity, gp);
  register_vertex_types(graph, gp);
  return NULL;
}

/* ---- from source to a .gp ---- */

/* The target whose code the graph runs. Targets that the user named are variants of the default
 * one. */
static const char *architecture(const pop_graph *graph)
{
  if (graph->target.type == POP_TARGET_CPU) return POP_GP_HOST_TARGET;
  const char *const *names = pop_target_names();
  for (size_t i = 0; names[i]; i++)
    if (strcmp(names[i], graph->target.name) == 0) return names[i];
  return "ipu2";
}

/* "--target=ipu2,cpu": the targets of the graphs, without duplicates. */
static const char *targets_flag(pop_arena *arena, pop_graph *const *graphs, size_t count)
{
  const char *flag = "--target=";
  for (size_t i = 0; i < count; i++) {
    const char *name = architecture(graphs[i]);
    bool there = false;
    for (size_t k = 0; k < i && !there; k++) there = strcmp(architecture(graphs[k]), name) == 0;
    if (!there) flag = pop_arena_printf(arena, "%s%s%s", flag, i ? "," : "", name);
  }
  return flag;
}

/* Compiles a file or a text for all graphs at once. Only their targets are compiled for, unless
 * the flags say otherwise. Uses only the graphs' targets: no turn is held if there are several. */
static pop_error *compile(pop_graph *const *graphs, size_t count, const char *path,
                          const popc_text *text, const char *flags, pop_gp **gp)
{
  pop_arena *arena = pop_arena_new();
  flag_list users, list = {0};
  pop_error *error = split_flags(arena, flags, &users);
  pop_push(list.items, list.count, list.capacity, (char *)targets_flag(arena, graphs, count));
  for (size_t i = 0; i < users.count; i++)
    pop_push(list.items, list.count, list.capacity, users.items[i]);
  popc_options options = {.size = sizeof options,
                          .inputs = &path,
                          .num_inputs = path != NULL,
                          .texts = text,
                          .num_texts = text != NULL,
                          .flags = (const char *const *)list.items,
                          .num_flags = list.count,
                          .diagnostics_fd = -1};
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (!error) error = popc_compile(&options, &bytes, &size);
  if (!error) error = pop_gp_read_memory(bytes, size, text ? text->name : path, gp);
  free(bytes);
  free(list.items);
  free(users.items);
  pop_arena_free(arena);
  return error;
}

static bool is_source(const char *path)
{
  static const char *const extensions[] = {".c", ".cpp", ".cc", ".cxx", ".C", ".c++", ".S", ".s"};
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  for (size_t i = 0; dot && i < sizeof extensions / sizeof *extensions; i++)
    if (strcmp(dot, extensions[i]) == 0) return true;
  return false;
}

/* Replaces `*gp` by the part that is for the graph's target. */
static pop_error *take_part(const pop_graph *graph, pop_gp **gp)
{
  pop_gp *part = NULL;
  pop_error *error = pop_gp_for_target(*gp, architecture(graph), &part);
  pop_gp_free(*gp);
  *gp = part;
  return error;
}

static void finish(pop_graph *graph, const char *call, pop_error *error, pop_gp *gp)
{
  if (!error) error = take_part(graph, &gp);
  if (!error) error = add_gp(graph, gp);
  if (error) graph_fail(graph, pop_error_prefix(error, "%s", call));
}

void pop_graph_add_codelets(pop_graph *graph, const char *path, const char *flags)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_add_codelets";
  if (!graph_enter(&graph, __func__)) return;
  if (!path) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the path is NULL", call);
    return;
  }
  pop_gp *gp = NULL;
  pop_error *error =
      is_source(path) ? compile(&graph, 1, path, NULL, flags, &gp) : pop_gp_read(path, &gp);
  finish(graph, call, error, gp);
}

void graph_add_library_codelets(pop_graph *graph, const char *name)
{
  char *path = pop_xasprintf("%s/%s.gp", pop_data_dir(), name);
  size_t before = graph->top->num_vertex_types;
  pop_graph_add_codelets(graph, path, NULL);
  for (size_t i = before; i < graph->top->num_vertex_types; i++)
    graph->top->vertex_types[i].of_library = true;
  free(path);
}

bool graph_add_built_in_codelets(pop_graph *graph, const char *call)
{
  graph_add_library_codelets(graph, "poplibs");
  return graph_usable(graph, call);
}

/* The language and the text. */
static bool check_source(pop_graph *graph, const char *call, const char *language, const char *text)
{
  bool c = language && strcmp(language, "c") == 0, cpp = language && strcmp(language, "c++") == 0;
  if (text && (c || cpp)) return true;
  graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: %s%s", call,
              text ? "the language must be \"c\" or \"c++\", not " : "the text is NULL",
              text ? say_name(graph, language) : "");
  return false;
}

static popc_text source_text(const char *language, const char *text, const char *name)
{
  return (popc_text){name && *name ? name : "codelets from memory", language, text, strlen(text)};
}

void pop_graph_add_codelets_source(pop_graph *graph, const char *language, const char *text,
                                   const char *name, const char *flags)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_add_codelets_source";
  if (!graph_enter(&graph, __func__) || !check_source(graph, call, language, text)) return;
  pop_gp *gp = NULL;
  popc_text source = source_text(language, text, name);
  pop_error *error = compile(&graph, 1, NULL, &source, flags, &gp);
  finish(graph, call, error, gp);
}

void pop_graph_add_codelets_source_to_all(pop_graph *const *graphs, size_t count,
                                          const char *language, const char *text, const char *name,
                                          const char *flags)
{
  static const char call[] = "pop_graph_add_codelets_source_to_all";
  pop_graph *none = NULL;
  if (!graphs && !graph_enter(&none, __func__)) return;
  size_t num_good = 0;
  pop_graph **good = pop_xcalloc(count + 1, sizeof *good);
  for (size_t i = 0; i < count; i++) {
    pop_graph *graph = graphs[i];
    GRAPH_TURN(graph);
    if (graph_enter(&graph, __func__) && check_source(graph, call, language, text))
      good[num_good++] = graph;
  }
  pop_gp *gp = NULL;
  pop_error *error = NULL;
  if (num_good) {
    popc_text source = source_text(language, text, name);
    error = compile(good, num_good, NULL, &source, flags, &gp);
  }
  for (size_t i = 0; i < num_good; i++) {
    GRAPH_TURN(good[i]);
    pop_error *own = NULL;
    if (error) own = pop_error_new(pop_error_get_code(error), "%s", pop_error_message(error));
    finish(good[i], call, own, gp ? pop_gp_retain(gp) : NULL);
  }
  pop_gp_free(gp);
  pop_error_free(error);
  free(good);
}
