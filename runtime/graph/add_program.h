/* How programs come into being: program.c has the functions, for itself and control_flow.c. */
#ifndef GRAPH_ADD_PROGRAM_H
#define GRAPH_ADD_PROGRAM_H

#include "graph/graph.h"

/* Adds `p`, whose name is `name` (NULL: none). A null handle if the graph is full of programs. */
pop_program add_program(pop_graph *graph, const char *call, program p, const char *name);
/* Adds one for each replica of the tensor, and a sequence of them; `source` of `p` is the tensor, and it is set
 * to that of each. Of a tensor that is not replicated there is one, as it is, whose replica is GRAPH_NONE. */
typedef pop_program add_for_replica(pop_graph *graph, const char *call, program p, uint32_t replica,
                                    const char *name);
pop_program add_for_each_replica(pop_graph *graph, const char *call, program p, pop_tensor tensor,
                                 add_for_replica *add, const char *name);
/* What a copy needs of its tensors, whatever way it goes; `name` is the program's. */
bool check_copy(pop_graph *graph, const char *call, const char *name, pop_tensor source,
                pop_tensor destination);
/* Both are programs of one graph; the caller has seen to it that no ring closes. */
void add_child(pop_program parent, pop_program child);

#endif
