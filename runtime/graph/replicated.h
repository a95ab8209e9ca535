/* What a handle of a replicated graph (graph.h) stands for in each replica. */
#ifndef GRAPH_REPLICATED_H
#define GRAPH_REPLICATED_H

#include "graph/graph.h"

/* The number of replicas; 1 for replication 0, which is none. */
uint32_t replication_count(const pop_graph *graph, uint32_t replication);
/* How many things a handle stands for: 1 if it is not replicated or not valid. */
uint32_t tensor_replicas(pop_tensor t);
uint32_t vertex_replicas(const pop_graph *graph, pop_vertex v);

/* "no replicated graph", "replicated graph 1, of 4 replicas" */
const char *say_replication(pop_graph *graph, uint32_t replication);
/* Fails the graph if the tensor is of another replication; the message names both. */
bool check_replication(pop_graph *graph, const char *call, const tensor *t, uint32_t replication);

/* The tensor's elements in one replica. A tensor that is not replicated is returned as it is. */
pop_tensor tensor_of_replica(pop_graph *graph, const char *call, pop_tensor t, uint32_t replica);
/* The tensor's elements in all replicas, replica by replica, of shape {replicas, elements}. A
 * tensor that is not replicated is returned as it is. */
pop_tensor tensor_of_all_replicas(pop_graph *graph, const char *call, pop_tensor t);

#endif
