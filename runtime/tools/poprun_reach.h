/* poprun as what reaches other machines for mpirun: ssh, with a word when it fails. */
#ifndef POPRUN_REACH_H
#define POPRUN_REACH_H

#include <signal.h>
#include <stdbool.h>

/* In the environment of mpirun: the process number of the poprun that has started it, and where that one reads what is to be
 * said of a machine that cannot be reached: "PROCESS:DESCRIPTOR". */
#define POPRUN_REACH "POPULUS_POPRUN"
/* What that one gets when a machine cannot be reached. */
#define POPRUN_UNREACHED SIGRTMIN

/* Is this mpirun's call of ssh (`-x host command`, of both MPIs)? */
bool poprun_is_reaching(int argc, char *const *argv);
/* Does it; the exit status. */
int poprun_reach(int argc, char **argv);

#endif
