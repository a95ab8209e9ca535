/* Functions of program.c that add programs, shared with control_flow.c and others. */
#ifndef GRAPH_ADD_PROGRAM_H
#define GRAPH_ADD_PROGRAM_H

#include "graph/graph.h"

/* Adds `p` with the name `name` (NULL: none). A null handle if the graph has no room for
 * programs. */
pop_program add_program(pop_graph *graph, const char *call, program p, const char *name);
/* Adds a program for each replica of the tensor, and a sequence of them. `source` of each is set
 * to the replica's tensor. If the tensor is not replicated, adds one program, whose replica is
 * GRAPH_NONE. */
typedef pop_program add_for_replica(pop_graph *graph, const char *call, program p, uint32_t replica,
                                    const char *name);
pop_program add_for_each_replica(pop_graph *graph, const char *call, program p, pop_tensor tensor,
                                 add_for_replica *add, const char *name);
/* Checks the tensors of a copy. `name` is the program's. */
bool check_copy(pop_graph *graph, const char *call, const char *name, pop_tensor source,
                pop_tensor destination);
/* Both are programs of one graph. The caller has checked that this makes no cycle. */
void add_child(pop_program parent, pop_program child);

#endif
