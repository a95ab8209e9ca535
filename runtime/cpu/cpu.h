/* The CPU device, as the engine sees it: a graph becomes a cpu_program, which is the content of an
 * executable for the CPU, and a cpu runs it. Like a machine it runs to an event, and moves data while it
 * waits. cpu_private.h says how. */
#ifndef CPU_CPU_H
#define CPU_CPU_H

#include "executable/executable.h"
#include "machine/machine.h"
#include <stdio.h>

typedef struct cpu_program cpu_program;
typedef struct cpu cpu;

typedef struct cpu_compile_options {
  bool check_equality; /* AssumeEqualAcrossReplicas is an event */
  bool trace; /* compute sets and copies have events around them that print (compiler/traced.h) */
} cpu_compile_options;

/* compile.c: the graph is checked as for tiles. */
POP_MUST_CHECK pop_error *cpu_compile(pop_graph *graph, const uint32_t *programs,
                                      size_t num_programs, const cpu_compile_options *options,
                                      cpu_program **out);
void cpu_program_free(cpu_program *p); /* NULL is fine */
/* That a cpu of it has for data. */
uint64_t cpu_memory_bytes(const cpu_program *p);
/* describe.c: what an engine needs to know, into an empty executable; no images. */
void cpu_describe(const cpu_program *p, pop_executable *executable);

/* The program must outlive it. `num_threads`: 0 for as many as the process may use. */
cpu *cpu_new(const cpu_program *program, uint32_t num_threads);
/* Another one for the same program, with a memory of its own; the first must outlive it, and only one of them
 * runs at a time. */
cpu *cpu_new_replica(cpu *first);
void cpu_free(cpu *c); /* NULL is fine */
/* Everything as at the start. Errors: MEMORY, LINK. */
POP_MUST_CHECK pop_error *cpu_load(cpu *c);
/* Begins a program, which must not run yet. */
void cpu_start(cpu *c, size_t program);
/* Ends the run that goes on with an error, before the next vertex or step, and each one from here on until cpu_go. From any
 * thread or signal handler. */
void cpu_stop(cpu *c);
void cpu_go(cpu *c);
/* Goes on to the next event; 0: the program is done; MACHINE_REPLICA_SYNC: to a copy between replicas. What codelets
 * print goes to the stream. Errors: RUNTIME if there is no event for so many seconds (0: any number), as soon as a
 * loop of the program comes round. */
POP_MUST_CHECK pop_error *cpu_run(cpu *c, FILE *print_stream, double seconds, uint32_t *event);
/* Moves the data of the host exchange whose event was the last. Errors: RUNTIME: there is no such row. */
POP_MUST_CHECK pop_error *cpu_host_exchange(cpu *c, const machine_window *windows,
                                            size_t num_windows);
/* All replicas: those of this process, one after the other, how many there are before them and in all; each rank has as
 * many. */
typedef struct cpu_group {
  cpu **own;
  uint32_t num_own, first, total;
  ranks *ranks;
} cpu_group;
/* Makes the copy between replicas that all of them have come to. Errors: RUNTIME if it is not the same. */
POP_MUST_CHECK pop_error *cpu_sync_replicas(const cpu_group *group);
/* A host tensor's elements, row-major; by their number in the executable. */
void cpu_read(const cpu *c, size_t host_tensor, void *data);
void cpu_write(cpu *c, size_t host_tensor, const void *data);

#endif
