/* Replicas of a graph that is no replicated one itself (graph.h): what a handle stands for in each of them. */
#ifndef GRAPH_REPLICATED_H
#define GRAPH_REPLICATED_H

#include "graph/graph.h"

/* Replicas of a replication; 1 for 0, which is none. */
uint32_t replication_count(const pop_graph *graph, uint32_t replication);
/* Things that a handle stands for: 1 if it is not replicated, or not good. */
uint32_t tensor_replicas(pop_tensor t);
uint32_t vertex_replicas(const pop_graph *graph, pop_vertex v);

/* "no replicated graph", "replicated graph 1, of 4 replicas" */
const char *say_replication(pop_graph *graph, uint32_t replication);
/* Fails the graph, naming both, if the tensor is of another replication. */
bool check_replication(pop_graph *graph, const char *call, const tensor *t, uint32_t replication);

/* The elements in one replica, as a tensor that is not replicated; of one that is not, itself. */
pop_tensor tensor_of_replica(pop_graph *graph, const char *call, pop_tensor t, uint32_t replica);
/* Those in all replicas, one replica's behind the other's, of shape {replicas, elements}; the same. */
pop_tensor tensor_of_all_replicas(pop_graph *graph, const char *call, pop_tensor t);

#endif
