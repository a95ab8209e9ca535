/* One instance of a program under poprun. */
#ifndef POPRUN_INSTANCE_H
#define POPRUN_INSTANCE_H

#include "poprun_options.h"

/* The first argument of a poprun that mpirun has started: `--instance-of KIND:…` */
#define POPRUN_INSTANCE "--instance-of"

/* The instance's settings, as one argument; the caller frees. `kind`: of MPI. */
char *poprun_describe(const poprun_options *options, const char *kind);

/* Was this process started by nohup? Then SIGHUP stays ignored, by mpirun and instances, too. */
bool poprun_is_without_hangup(void);

/* Runs one; the exit status. */
int poprun_instance(const char *described, char *const *program);

#endif
