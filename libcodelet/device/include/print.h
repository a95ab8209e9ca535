/* printf for codelets: the text reaches the host's print stream, with tile and vertex named. */
#ifndef POPULUS_PRINT_H
#define POPULUS_PRINT_H

#include <stdio.h>

#endif
