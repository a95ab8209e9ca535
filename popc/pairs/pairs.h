/* Vectors of 64 bits in 64-bit registers: what popc does to a module between clang's optimizer and
 * clang's code generator.
 *
 *   source --clang -emit-llvm--> bitcode --popc-pairs--> bitcode --clang -x ir, no passes--> object
 *
 * The tile has loads, stores and arithmetic on pairs of floats and on four halves (isa.h: PACKED).
 * LLVM does not know these and would scalarize. But it knows 64-bit registers that hold a double.
 * So a <2 x float> or <4 x half> that is loaded, stored, added, subtracted, multiplied, compared,
 * or is the operand of a function (exp …) becomes a double, on which inline assembly operates. The
 * function gets the feature "d", so that LLVM has these registers, their loads, stores and copies.
 *
 * That is done only around arithmetic, where it helps. Every other user of such a vector (elements,
 * shuffles, calls) gets its elements. A function that computes with doubles itself is left alone,
 * as the tile has no instructions for them.
 *
 *   choose.c     which instructions of a function become pairs
 *   rewrite.c    makes them
 *   divide.c     64-bit quotients by constants become products
 *   loops.c      counts loops as the chip's compiler does
 *   main.c       the program: bitcode in, bitcode out
 */
#ifndef POPC_PAIRS_H
#define POPC_PAIRS_H

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <stdbool.h>
#include <stddef.h>

/* A vector of a function that is a pair, or that an instruction needs as one. */
typedef struct pair_value {
  LLVMValueRef vector;
  LLVMValueRef pair; /* NULL: not made yet */
  bool chosen;       /* an instruction that is removed when its pair exists */
} pair_value;

/* One function. */
typedef struct pairs {
  LLVMValueRef function;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMBasicBlockRef *
      blocks; /* that can be reached, in an order in which values come before their uses, but for phis */
  size_t num_blocks;
  LLVMValueRef *order; /* the chosen instructions, in the blocks' order */
  size_t num_order, order_capacity;
  pair_value *values; /* a hash table by `vector`, of which at most half is taken */
  size_t num_values, values_capacity;
} pairs;

/* choose.c */
bool pairs_is_floats(LLVMTypeRef type); /* <2 x float> */
bool pairs_is_halves(LLVMTypeRef type); /* <4 x half> */
/* funct7 of the packed instruction that does to pairs what `i` does; -1: none. */
int pairs_operation(LLVMValueRef i);
/* The same for a function of pairs; `of` becomes its operand. */
int pairs_function(LLVMValueRef i, LLVMValueRef *of);
/* An operation on floats that is done word by word, as on the chip: a quotient, a root. */
bool pairs_is_by_words(LLVMValueRef i);
/* A store of a vector that is aligned to 8 bytes, as fsd wants it. */
bool pairs_is_wide_store(LLVMValueRef user);
/* NULL: it is not in the table. Valid until the next value is added. */
pair_value *pairs_find(const pairs *p, LLVMValueRef vector);
/* The same; it is added if it is not there. */
pair_value *pairs_get(pairs *p, LLVMValueRef vector);
bool pairs_is_chosen(const pairs *p, LLVMValueRef value);
/* Fills in blocks and order. False: there is nothing to do in this function. */
bool pairs_choose(pairs *p);

/* rewrite.c */
/* Replaces the chosen instructions and removes them. */
void pairs_rewrite(pairs *p);

/* All functions of a module; was one changed? */
bool pairs_transform(LLVMModuleRef module);

/* divide.c */
/* In all functions; was there one? */
bool pairs_divide(LLVMModuleRef module);

/* loops.c */
/* Loops that the chip would repeat count down to zero by tile.count, which marks them. */
LLVMErrorRef pairs_count_loops(LLVMModuleRef module);

#endif
