/* What the files that describe a compilation do: describe.c; steps.c: programs and exchanges. */
#ifndef COMPILER_DESCRIBE_DESCRIBE_H
#define COMPILER_DESCRIBE_DESCRIBE_H

#include "compiler/compilation.h"
#include "executable/executable.h"

void describe_steps(const compilation *c, pop_executable *e);
void describe_measures(const compilation *c, pop_executable *e);
void describe_acknowledged(const compilation *c, pop_executable *e);
void describe_exchanges(const compilation *c, pop_executable *e);
/* Adds what tiles do in a host exchange to its event. */
void describe_host_parts(const compilation *c, const host_exchange *x, executable_event *event,
                         pop_executable *e);

#endif
