/* The codelets of our libraries, and the check that a process has our libraries.
 *
 * The include path and the library path decide whose popops, poplin, popnn and poprand a program
 * uses. If the headers are ours and the libraries the original's, the process has both. Then
 * inline functions of our headers replace those that the original's libraries call among
 * themselves, and the vertices lack the fields that these functions set. The check is here,
 * where a program adds a library's codelets. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <link.h>
#include <populus/introspection.h>
#include <populus/popops.h>
#include <stdio.h>
#include <string.h>

typedef struct search {
  char name[32];     /* "libpopops.so" */
  const char *found; /* path; lives as long as the library is loaded */
} search;

/* Finds the original's library in the process. Ours are linker scripts, which are never loaded. */
static int match_library(struct dl_phdr_info *info, size_t size, void *context)
{
  (void)size;
  search *s = context;
  const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
  size_t length = strlen(s->name);
  if (strncmp(name, s->name, length) != 0 || (name[length] && name[length] != '.')) return 0;
  s->found = info->dlpi_name;
  return 1;
}

void poplibs_add_codelets(pop_graph *graph, const char *call, const char *library)
{
  search s = {.found = NULL};
  snprintf(s.name, sizeof s.name, "lib%s.so", library);
  dl_iterate_phdr(match_library, &s);
  if (s.found)
    poplibs_fail(
        graph, POP_ERROR_INVALID_ARGUMENT,
        "%s: this call was compiled with Populus' headers, and the process has another %s, "
        "'%s': name the headers and the libraries of one prefix first, with -I and -L",
        call, library, s.found);
  else
    graph_add_library_codelets(graph, library);
}

void pop_popops_add_codelets(pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_add_codelets(graph, __func__, "popops");
  if (!pop_graph_error(graph)) poplibs_add_estimates(graph);
}

/* A vertex type that no other popops has. */
static const char of_popops[] = "popops::FillWords<unsigned int>";

bool poplibs_has_popops(pop_graph *graph)
{
  return pop_graph_has_vertex_type(graph, of_popops);
}

void poplibs_need_popops(pop_graph *graph)
{
  if (pop_graph_error(graph) || poplibs_has_popops(graph)) return;
  graph_add_library_codelets(graph, "popops");
  poplibs_add_estimates(graph);
}
