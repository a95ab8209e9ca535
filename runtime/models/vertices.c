/* Codelets and vertices of a lowering, until the codelets are compiled. */
#include "models/lowering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same source is one codelet, whatever it is for. */
uint32_t lowering_add_codelet(lowering *l, const char *source, const char *stem)
{
  for (size_t i = 0; i < l->num_codelets; ++i)
    if (strcmp(l->codelets[i].source, source) == 0) return (uint32_t)i;
  codelet c = {pop_arena_printf(l->m->arena, "hlo_%s_%zu", stem, l->num_codelets),
               pop_arena_strdup(l->m->arena, source)};
  pop_push(l->codelets, l->num_codelets, l->codelets_capacity, c);
  return (uint32_t)(l->num_codelets - 1);
}

planned_vertex *lowering_add_vertex(lowering *l, pop_compute_set set, uint32_t codelet, size_t tile,
                                    size_t max_connections)
{
  planned_vertex v = {.compute_set = set, .codelet = codelet, .tile = tile};
  v.connections = pop_arena_alloc(l->m->arena, (max_connections + 1) * sizeof *v.connections);
  pop_push(l->vertices, l->num_vertices, l->vertices_capacity, v);
  return &l->vertices[l->num_vertices - 1];
}

void vertex_connect(planned_vertex *v, const char *field, pop_tensor t)
{
  connection *c = &v->connections[v->num_connections++];
  snprintf(c->field, sizeof c->field, "%s", field);
  c->tensor = t;
}

static void add_codelet(text *t, const codelet *c)
{
  const char *at = c->source, *next;
  text_add(t, "\n");
  for (; (next = strstr(at, "NAME")); at = next + 4)
    text_add(t, "%.*s%s", (int)(next - at), at, c->name);
  text_add(t, "%s", at);
}

char *lowering_source(const lowering *l)
{
  text codelets = {0}, t = {0};
  for (size_t i = 0; i < l->num_codelets; ++i) add_codelet(&codelets, &l->codelets[i]);
  text_add(&t, "#include <populus/vertex.h>\n");
  lowering_add_headers(&t, codelets.data ? codelets.data : "");
  text_add(&t, "%s", codelets.data ? codelets.data : "");
  text_free(&codelets);
  return t.data;
}

pop_error *lowering_make_vertices(lowering *l)
{
  if (l->num_codelets) {
    char *source = lowering_source(l);
    const char *target =
        pop_graph_get_target(l->graph)->type == POP_TARGET_CPU ? "-O2 --target=cpu" : "-O2";
    pop_graph_add_codelets_source(l->graph, "c", source, "model.c", target);
    free(source);
  }
  for (size_t i = 0; i < l->num_vertices && !pop_graph_error(l->graph); ++i) {
    const planned_vertex *p = &l->vertices[i];
    pop_vertex v = pop_graph_add_vertex(l->graph, p->compute_set, l->codelets[p->codelet].name);
    for (size_t k = 0; k < p->num_connections; ++k)
      pop_graph_connect(l->graph, v, p->connections[k].field, p->connections[k].tensor);
    if (p->has_base) pop_graph_set_field_int(l->graph, v, "base", p->base);
    pop_graph_set_vertex_tile(l->graph, v, p->tile);
  }
  return pop_graph_take_error(l->graph);
}
