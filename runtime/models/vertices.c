/* Codelets and vertices of a lowering, until the codelets are compiled. */
#include "models/lowering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Equal sources share one codelet. */
uint32_t lowering_add_codelet(lowering *l, const char *source, const char *stem)
{
  for (size_t i = 0; i < l->num_codelets; ++i)
    if (strcmp(l->codelets[i].source, source) == 0) return (uint32_t)i;
  codelet c = {.stem = stem,
               .name = pop_arena_printf(l->m->arena, "hlo_%s_%zu", stem, l->num_codelets),
               .source = pop_arena_strdup(l->m->arena, source)};
  pop_push(l->codelets, l->num_codelets, l->codelets_capacity, c);
  return (uint32_t)(l->num_codelets - 1);
}

planned_vertex *lowering_add_vertex(lowering *l, pop_compute_set set, uint32_t codelet, size_t tile,
                                    size_t max_fields)
{
  planned_vertex v = {.compute_set = set, .codelet = codelet, .tile = tile};
  v.connections = pop_arena_alloc(l->m->arena, (max_fields + 1) * sizeof *v.connections);
  pop_push(l->vertices, l->num_vertices, l->vertices_capacity, v);
  return &l->vertices[l->num_vertices - 1];
}

void vertex_connect(planned_vertex *v, const char *field, pop_tensor t)
{
  connection *c = &v->connections[v->num_connections++];
  snprintf(c->field, sizeof c->field, "%s", field);
  c->tensor = t;
}

void vertex_set(planned_vertex *v, const char *field, int64_t number)
{
  connection *c = &v->connections[v->num_connections++];
  snprintf(c->field, sizeof c->field, "%s", field);
  c->is_number = true;
  c->number = number;
}

static void add_codelet(text *t, const codelet *c)
{
  const char *at = c->source, *next;
  text_add(t, "\n");
  for (; (next = strstr(at, "NAME")); at = next + 4)
    text_add(t, "%.*s%s", (int)(next - at), at, c->name);
  text_add(t, "%s", at);
}

static char *source_of(const codelet *list, size_t count)
{
  text codelets = {0}, t = {0};
  for (size_t i = 0; i < count; ++i) add_codelet(&codelets, &list[i]);
  text_add(&t, "#include <populus/vertex.h>\n");
  lowering_add_headers(&t, codelets.data ? codelets.data : "");
  text_add(&t, "%s", codelets.data ? codelets.data : "");
  text_free(&codelets);
  return t.data;
}

char *lowering_source(const lowering *l)
{
  return source_of(l->codelets, l->num_codelets);
}

/* ---- compiled together ---- */

typedef struct codelet_list {
  codelet *items;
  size_t count, capacity;
} codelet_list;

/* Adds codelets with new sources to the list, and gives all of them their common names, which are
 * in the first model's arena. */
static void join(codelet_list *list, lowering *l, pop_arena *arena)
{
  for (size_t i = 0; i < l->num_codelets; ++i) {
    codelet *c = &l->codelets[i];
    size_t at = 0;
    while (at < list->count && strcmp(list->items[at].source, c->source) != 0) ++at;
    if (at == list->count) {
      codelet joined = *c;
      joined.name = pop_arena_printf(arena, "hlo_%s_%zu", c->stem, at);
      pop_push(list->items, list->count, list->capacity, joined);
    }
    c->compiled = pop_arena_strdup(l->m->arena, list->items[at].name);
  }
}

static void compile(lowering *const *all, size_t count)
{
  codelet_list joined = {0};
  for (size_t i = 0; i < count; ++i) join(&joined, all[i], all[0]->m->arena);
  if (joined.count) {
    pop_graph **graphs = pop_xcalloc(count, sizeof *graphs);
    for (size_t i = 0; i < count; ++i) graphs[i] = all[i]->graph;
    char *source = source_of(joined.items, joined.count);
    pop_graph_add_codelets_source_to_all(graphs, count, "c", source, "model.c", "-O2");
    free(source);
    free(graphs);
  }
  free(joined.items);
}

/* If compilation fails, all graphs have the error. The codelets of each graph are then compiled
 * alone, to find whose error it is. */
void lowering_compile(lowering *const *all, size_t count)
{
  if (!count) return;
  compile(all, count);
  bool failed = count > 1;
  for (size_t i = 0; i < count; ++i) failed = failed && pop_graph_error(all[i]->graph);
  for (size_t i = 0; i < count && failed; ++i) {
    pop_error_free(pop_graph_take_error(all[i]->graph));
    compile(&all[i], 1);
  }
}

void lowering_make_vertices(lowering *l)
{
  for (size_t i = 0; i < l->num_vertices && !pop_graph_error(l->graph); ++i) {
    const planned_vertex *p = &l->vertices[i];
    pop_vertex v = pop_graph_add_vertex(l->graph, p->compute_set, l->codelets[p->codelet].compiled);
    for (size_t k = 0; k < p->num_connections; ++k) {
      const connection *c = &p->connections[k];
      if (c->is_number)
        pop_graph_set_field_int(l->graph, v, c->field, c->number);
      else
        pop_graph_connect(l->graph, v, c->field, c->tensor);
    }
    pop_graph_set_vertex_tile(l->graph, v, p->tile);
  }
}
