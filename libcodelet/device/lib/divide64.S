/*
 * Division of 64-bit integers without sign: a0:a1 / a2:a3 is a0:a1, and the rest is a2:a3, which
 * int64.c uses (the low words first). Only t0 to t6 are written besides, and no memory is used.
 * Division by 0 gives all bits and the rest n, as the tile's instructions do.
 *
 * A quotient is estimated by a reciprocal of d, never too high, and estimated again from what is
 * left. The second estimate misses at most 1, which is corrected without a branch. If d has more
 * than 35 bits, that holds for the first estimate. So only five cases take different times: both
 * are words; n is longer; d has more than 35 bits; d has 33 to 35 bits; d is 0.
 *
 * The reciprocal v (t2) of the first 32 bits of d, which are D (t1, 2^31 <= D < 2^32): never above
 * 2^63 / D, and at most 4 below (for all D). It starts with the line 48/17 - 32/17 x, which is right
 * within a 17th. Two of Newton's steps square that error, and the last one adds what is missing.
 * D + 1 is above all d with these first bits, so a longer d takes 2 more off.
 *
 * Why not C: native code divides by the host's own instruction where it finds one of these
 * cases word by word (runtime/machine/translate_divisions.c, which must have the same words;
 * tests/unit/machine/divisions.c compares them). There it need not compute what is in t0 to t6, as
 * that is 0 in the end. (Otherwise a loop keeps all of it for the code behind its vertex.)
 */
.macro reciprocal less
  lui t3, 0xf0f0f
  mulhu t3, t1, t3
  lui t2, 0x69697
  sub t2, t2, t3
  mulhu t3, t2, t1
  neg t3, t3
  mulhu t2, t2, t3
  slli t2, t2, 1
  mulhu t3, t2, t1
  not t3, t3
  mulhu t2, t2, t3
  slli t2, t2, 1
  mulhu t3, t2, t1
  slli t3, t3, 1
  not t3, t3
  mulhu t3, t2, t3
  add t2, t2, t3
  addi t2, t2, -\less
.endm

.macro clear registers:vararg
  .irp r, \registers
  li \r, 0
  .endr
.endm

/* Of divisors that are longer than a word: the estimate from the upper words in t3; what is left in
 * a0:a1. */
.macro first_estimate
  clz t0, a3
  sll t1, a3, t0
  xori t0, t0, 31
  srli t2, a2, 1
  srl t2, t2, t0
  or t1, t1, t2
  reciprocal 3
  # estimate; what is left
  mulhu t3, a1, t2
  srl t3, t3, t0
  mul t4, t3, a2
  mulhu t5, t3, a2
  mul t1, t3, a3
  add t5, t5, t1
  sltu t1, a0, t4
  sub a0, a0, t4
  sub a1, a1, t5
  sub a1, a1, t1
.endm

/* The same divisors: one more in t3 if d is not above the rest; the results. */
.macro last_step
  sltu t4, a0, a2
  sub t5, a1, a3
  sltu t5, t5, t4
  sltu t4, a1, a3
  or t4, t4, t5
  addi t4, t4, -1
  sub t3, t3, t4
  and t5, a2, t4
  and t4, a3, t4
  sltu t1, a0, t5
  sub a2, a0, t5
  sub a3, a1, t4
  sub a3, a3, t1
  mv a0, t3
  clear a1, t0, t1, t2, t3, t4, t5
  ret
.endm

.section .text.__udivdi3, "ax", @progbits
.balign 4
.globl __udivdi3
.type __udivdi3, @function
__udivdi3:
  bnez a3, .Llong_divisor
  beqz a2, .Lzero
  bnez a1, .Llong_dividend

  clz t0, a2
  sll t1, a2, t0
  xori t0, t0, 31
  reciprocal 1
  # estimate; what is left
  mulhu t3, a0, t2
  srl t3, t3, t0
  mul t1, t3, a2
  sub a0, a0, t1
  # and again
  mulhu t1, a0, t2
  srl t1, t1, t0
  add t3, t3, t1
  mul t1, t1, a2
  sub a0, a0, t1
  # one more if d is not above the rest
  sltu t1, a0, a2
  addi t1, t1, -1
  sub t3, t3, t1
  and t1, t1, a2
  sub a2, a0, t1
  mv a0, t3
  clear t0, t1, t2, t3
  ret

.Llong_divisor:
  srli t1, a3, 3
  beqz t1, .Lmiddle_divisor

  first_estimate
  last_step

.Lmiddle_divisor:
  first_estimate
  # and again, with the lower word too
  mul t4, a1, t2
  mulhu t5, a1, t2
  mulhu t1, a0, t2
  add t1, t1, t4
  sltu t1, t1, t4
  add t5, t5, t1
  srl t5, t5, t0
  add t3, t3, t5
  mul t4, t5, a2
  mulhu t1, t5, a2
  mul t5, t5, a3
  add t1, t1, t5
  sltu t5, a0, t4
  sub a0, a0, t4
  sub a1, a1, t1
  sub a1, a1, t5
  last_step

.Llong_dividend:
  clz t0, a2
  sll t1, a2, t0
  reciprocal 1
  # n's upper word / d, as above
  xori t1, t0, 31
  mulhu t3, a1, t2
  srl t3, t3, t1
  mul t4, t3, a2
  sub a1, a1, t4
  mulhu t4, a1, t2
  srl t4, t4, t1
  add t3, t3, t4
  mul t4, t4, a2
  sub a1, a1, t4
  sltu t4, a1, a2
  addi t4, t4, -1
  sub t3, t3, t4
  and t4, t4, a2
  sub a1, a1, t4
  # what is left of it and n's lower word: estimate; what is left
  mul t4, a1, t2
  mulhu t5, a1, t2
  mulhu t6, a0, t2
  add t6, t6, t4
  sltu t4, t6, t4
  add t5, t5, t4
  srl t6, t6, t1
  slli t5, t5, 1
  sll t5, t5, t0
  or t6, t6, t5
  mul t4, t6, a2
  mulhu t5, t6, a2
  sltu a3, a0, t4
  sub a0, a0, t4
  sub a1, a1, t5
  sub a1, a1, a3
  # and again
  mul t4, a1, t2
  mulhu t5, a1, t2
  mulhu a3, a0, t2
  add a3, a3, t4
  sltu t4, a3, t4
  add t5, t5, t4
  srl a3, a3, t1
  slli t5, t5, 1
  sll t5, t5, t0
  or a3, a3, t5
  add t6, t6, a3
  mul t4, a3, a2
  mulhu t5, a3, a2
  sltu a3, a0, t4
  sub a0, a0, t4
  sub a1, a1, t5
  sub a1, a1, a3
  # one more if d is not above the rest
  sltu t4, a0, a2
  addi t4, t4, -1
  neg t5, a1
  or t4, t4, t5
  sub t6, t6, t4
  and t4, t4, a2
  sub a2, a0, t4
  mv a0, t6
  mv a1, t3
  clear a3, t0, t1, t2, t3, t4, t5, t6
  ret

.Lzero:
  mv a2, a0
  mv a3, a1
  li a0, -1
  li a1, -1
  ret
.size __udivdi3, . - __udivdi3
