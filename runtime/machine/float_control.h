/* What a context's control registers make of floating-point operations (isa.h): faults, NaN on overflow of halves,
 * stochastic rounding. Contexts in which nothing of it is on never come here. */
#ifndef MACHINE_FLOAT_CONTROL_H
#define MACHINE_FLOAT_CONTROL_H

#include "state.h"

/* Does the operation raise flags, or round halves? */
bool float_is_controlled(uint32_t id);
bool float_gives_half(uint32_t id);
/* Does this control round halves at random? */
bool float_is_random(uint32_t control);
/* The operation with its operands from the context's registers, rounded as `mode` says where it rounds; its result goes
 * to `rd`, its flags to fflags. If it is a fault, its kind is the answer, and nothing is written. */
machine_fault_kind float_operate_controlled(tile *t, context *c, const operation *op,
                                            uint32_t mode);

/* Registers that programs see as CSRs; false: there is none with this number, or it is not to be written here. */
bool float_control_read(const tile *t, const context *c, uint32_t number, uint32_t *value);
bool float_control_write(tile *t, context *c, uint32_t number, uint32_t value);

/* Of a tile that is loaded: as the machine's options say. */
void float_control_start(const machine *m, tile *t);

#endif
