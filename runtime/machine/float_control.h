/* Floating point under a context's control registers (isa.h): faults, NaN on overflow of halves,
 * stochastic rounding. Contexts without any of these never come here. */
#ifndef MACHINE_FLOAT_CONTROL_H
#define MACHINE_FLOAT_CONTROL_H

#include "state.h"

/* Does the operation raise flags, or round halves? */
bool float_is_controlled(uint32_t id);
bool float_gives_half(uint32_t id);
/* Does this control round halves at random? */
bool float_is_random(uint32_t control);
/* Executes the operation on the context's registers, rounded by `mode` if it rounds. The result
 * goes to `rd`, flags to fflags. If it is a fault, returns its kind, and nothing is written. */
machine_fault_kind float_operate_controlled(tile *t, context *c, const operation *op,
                                            uint32_t mode);

/* Access to control registers as CSRs; false: there is none with this number, or it may not be
 * written here. */
bool float_control_read(const tile *t, const context *c, uint32_t number, uint32_t *value);
bool float_control_write(tile *t, context *c, uint32_t number, uint32_t value);

/* Sets the control registers of a loaded tile as the machine's options say. */
void float_control_start(const machine *m, tile *t);

#endif
