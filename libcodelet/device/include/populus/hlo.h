/* Building blocks of the codelets that runtime/models/ generates: StableHLO's operations on one
 * element.
 *
 * There is an hlo_<operation>_<type>(…) for each type that has the operation (hlo_values.h says
 * what an element is). Generated code includes only those of these headers whose functions it
 * calls. hlo_linear.h, hlo_random.h and hlo_sort.h work on more than one element, and are included
 * by themselves.
 *
 * Edge cases (NaN, infinities, signed zeros) follow the specification. Where it leaves the result
 * open (integer division by zero, floating point to integers out of range), they follow XLA. */
#ifndef POPULUS_HLO_H
#define POPULUS_HLO_H

#include <populus/hlo_complex.h>
#include <populus/hlo_convert.h>
#include <populus/hlo_float.h>
#include <populus/hlo_integer.h>
#include <populus/hlo_special.h>
#include <populus/hlo_values.h>

#endif
