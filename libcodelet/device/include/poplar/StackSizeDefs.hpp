/* The stack that a function needs, for functions whose code does not show it: recursion,
 * calls through pointers, assembly.
 *
 *   DEF_STACK_USAGE(bytes, function)           bytes with all that it calls
 *   DEF_RECURSION_LEVELS(levels, function)     nested calls of itself, the first one included
 *   DEF_FUNC_CALL_PTRS(function, "f,g")        it calls f or g through pointers
 *
 * `function` is the name of a symbol, with or without quotes; in assembly the arguments follow the
 * name of the macro, without parentheses. The records are in the sections .populus.stack,
 * .populus.levels and .populus.calls of the tile's object: libcodelet/device/README.md has their
 * layout.
 */
#ifndef POPLAR_STACK_SIZE_DEFS_HPP
#define POPLAR_STACK_SIZE_DEFS_HPP

#ifdef __ASSEMBLER__

/* clang-format off */
.macro POPULUS_STACK_NUMBER section, number, function
.pushsection \section, "", @progbits
.asciz "\function"
.balign 4
.4byte \number
.popsection
.endm

.macro DEF_STACK_USAGE bytes, function
POPULUS_STACK_NUMBER .populus.stack, \bytes, \function
.endm

.macro DEF_RECURSION_LEVELS levels, function
POPULUS_STACK_NUMBER .populus.levels, \levels, \function
.endm

.macro DEF_FUNC_CALL_PTRS function, callees
.pushsection .populus.calls, "", @progbits
.asciz "\function"
.balign 4
.asciz "\callees"
.balign 4
.popsection
.endm
/* clang-format on */

#elif defined(__riscv)

#define DEF_STACK_USAGE(bytes, function)                                                           \
  POPULUS_STACK_NUMBER(".populus.stack", bytes, function, __COUNTER__)
#define DEF_RECURSION_LEVELS(levels, function)                                                     \
  POPULUS_STACK_NUMBER(".populus.levels", levels, function, __COUNTER__)
#define DEF_FUNC_CALL_PTRS(function, callees) POPULUS_STACK_CALLS(function, callees, __COUNTER__)

/* A function's name may be a macro, which these levels expand. */
#define POPULUS_STACK_NUMBER(records, value, function, number)                                     \
  POPULUS_STACK_NUMBER_2(records, value, #function, number)
#define POPULUS_STACK_NUMBER_2(records, value, name, number)                                       \
  __attribute__((used, section(records))) static const struct {                                    \
    char function[(sizeof name + 3) / 4 * 4];                                                      \
    unsigned stated;                                                                               \
  } populus_stack_number_##number = {name, value}
#define POPULUS_STACK_CALLS(function, callees, number)                                             \
  POPULUS_STACK_CALLS_2(#function, #callees, number)
#define POPULUS_STACK_CALLS_2(name, names, number)                                                 \
  __attribute__((used, section(".populus.calls"), aligned(4))) static const struct {               \
    char function[(sizeof name + 3) / 4 * 4], callees[(sizeof names + 3) / 4 * 4];                 \
  } populus_stack_calls_##number = {name, names}

#else /* the host's stack needs no planning */

#define DEF_STACK_USAGE(bytes, function) extern int populus_no_stack_use
#define DEF_RECURSION_LEVELS(levels, function) extern int populus_no_stack_use
#define DEF_FUNC_CALL_PTRS(function, callees) extern int populus_no_stack_use

#endif
#endif
