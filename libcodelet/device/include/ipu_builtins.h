/* The types of the builtins; the builtins themselves are always there (populus/builtins.h). */
#ifndef POPULUS_IPU_BUILTINS_H
#define POPULUS_IPU_BUILTINS_H

#include <arch/gc_tile_defines.h>
#include <ipudef.h>
#include <populus/builtins.h>

#endif
