/* poprun in the place of ssh: it reaches other machines for mpirun, and reports a failure. */
#ifndef POPRUN_REACH_H
#define POPRUN_REACH_H

#include <signal.h>
#include <stdbool.h>

/* In the environment of mpirun: the process id of the poprun that started it, and the descriptor
 * from which that reads messages about machines that cannot be reached: "PROCESS:DESCRIPTOR". */
#define POPRUN_REACH "POPULUS_POPRUN"
/* The signal to that poprun when a machine cannot be reached. */
#define POPRUN_UNREACHED SIGRTMIN

/* Is this mpirun's call of ssh (`-x host command`, of both MPIs)? */
bool poprun_is_reaching(int argc, char *const *argv);
/* Runs ssh; returns the exit status. */
int poprun_reach(int argc, char **argv);

#endif
