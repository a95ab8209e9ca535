/* The CPU device, as the engine sees it. A graph becomes a cpu_program, which is the content of an
 * executable for the CPU; a cpu runs it. Like a machine it runs to an event, and moves data while
 * it waits. cpu_private.h says how. */
#ifndef CPU_CPU_H
#define CPU_CPU_H

#include "executable/executable.h"
#include "machine/machine.h"
#include <stdio.h>

typedef struct cpu_program cpu_program;
typedef struct cpu cpu;

typedef struct cpu_compile_options {
  bool check_equality; /* makes AssumeEqualAcrossReplicas an event */
  bool trace; /* puts events that print around compute sets and copies (compiler/traced.h) */
} cpu_compile_options;

/* compile.c: the graph is checked as for tiles. */
POP_MUST_CHECK pop_error *cpu_compile(pop_graph *graph, const uint32_t *programs,
                                      size_t num_programs, const cpu_compile_options *options,
                                      cpu_program **out);
void cpu_program_free(cpu_program *p); /* NULL is fine */
/* Bytes of data memory of a cpu that runs it. */
uint64_t cpu_memory_bytes(const cpu_program *p);
/* describe.c: fills an empty executable with what an engine needs to know; no images. */
void cpu_describe(const cpu_program *p, pop_executable *executable);

/* The program must outlive it. `num_threads`: 0 for as many as the process may use. */
cpu *cpu_new(const cpu_program *program, uint32_t num_threads);
/* Another cpu for the same program, with a memory of its own. The first must outlive it, and only
 * one of them may run at a time. */
cpu *cpu_new_replica(cpu *first);
void cpu_free(cpu *c); /* NULL is fine */
/* Sets everything as at the start. Errors: MEMORY, LINK. */
POP_MUST_CHECK pop_error *cpu_load(cpu *c);
/* Begins a program; none may be running. */
void cpu_start(cpu *c, size_t program);
/* Ends the current run with an error, before the next vertex or step, and each later one until
 * cpu_clear_stop. From any thread or signal handler. */
void cpu_stop(cpu *c);
void cpu_clear_stop(cpu *c);
/* Runs to the next event. 0: the program is done; MACHINE_REPLICA_SYNC: it has come to a copy
 * between replicas. Codelets print to the stream. Errors: RUNTIME if there is no event for so many
 * seconds (0: no limit); that is noticed when a loop of the program begins a round. */
POP_MUST_CHECK pop_error *cpu_run(cpu *c, FILE *print_stream, double seconds, uint32_t *event);
/* Has a codelet printed anything since cpu_load or cpu_start? */
bool cpu_has_printed(const cpu *c);
/* Moves the data of the host exchange whose event was the last. Errors: RUNTIME: a row does not
 * exist. */
POP_MUST_CHECK pop_error *cpu_host_exchange(cpu *c, const machine_window *windows,
                                            size_t num_windows);
/* All replicas. Those of this process are consecutive; `first` is the number before them, `total`
 * the number of all. Each rank has as many as the others. */
typedef struct cpu_group {
  cpu **own;
  uint32_t num_own, first, total;
  ranks *ranks;
} cpu_group;
/* Does the copy between replicas at which all of them wait. Errors: RUNTIME if they wait at
 * different ones. */
POP_MUST_CHECK pop_error *cpu_sync_replicas(const cpu_group *group);
/* The elements of a host tensor, row-major. `host_tensor`: its number in the executable. */
void cpu_read(const cpu *c, size_t host_tensor, void *data);
void cpu_write(cpu *c, size_t host_tensor, const void *data);

#endif
