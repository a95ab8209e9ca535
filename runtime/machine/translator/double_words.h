/* Double words: 64-bit integers, which a tile has in two registers.
 *
 * Tile code adds them with carries, multiplies them in three or four products, and shifts bits from one half into the
 * other. LLVM does not see that this is one operation of the host. So between two of its passes:
 *
 *   double_words.c: demands   instructions that only 64-bit arithmetic has (carries, high products, bits that come from another
 *                             word) say which values are two halves
 *   double_words_match.c      how such a pair could be computed as a whole, from other pairs: `ways`
 *   double_words.c            which pairs are worth it (those whose ways come from worthwhile pairs), building them
 *
 * Each way is an identity, so what is chosen matters for speed only. */
#ifndef TRANSLATOR_DOUBLE_WORDS_H
#define TRANSLATOR_DOUBLE_WORDS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two pointers to a number; {0} is empty. */
typedef struct pair_map {
  struct pair_entry {
    const void *a, *b;
    uint32_t number;
  } *entries;
  uint32_t count, capacity;
} pair_map;

/* UINT32_MAX: there is none. */
uint32_t pair_map_find(const pair_map *m, const void *a, const void *b);
void pair_map_add(pair_map *m, const void *a, const void *b, uint32_t number);

enum { NO_PAIR = -1, MAX_WAYS = 8 };

typedef enum way_kind {
  WAY_CONSTANT,
  WAY_ZERO_EXTENDED, /* of the low half */
  WAY_SIGN_EXTENDED,
  WAY_SHIFTED_UP, /* the low half is 0 */
  WAY_LOADED,     /* two words in a row */
  WAY_BINARY,     /* `opcode` of the pairs a and b */
  WAY_CHAIN,      /* `opcode` of the pairs that are terms, in any order */
  WAY_SHIFT,      /* `opcode` of the pair a by `amount` */
  WAY_ROTATED,    /* the pair a to the left by `amount` */
  WAY_SELECTED,   /* by `x`: a or b */
  WAY_PHI,        /* terms: pairs that come in, as the low half's */
  WAY_SUM         /* of terms, and of rests << 32 */
} way_kind;

typedef struct way {
  way_kind kind;
  LLVMOpcode opcode;
  uint32_t amount;
  int32_t a, b;
  LLVMValueRef x;
  uint32_t first_term, num_terms, first_rest, num_rests; /* in double_words */
} way;

/* A pair, if x is NULL: times the pair `b`, if there is one; else the product of two words, both extended alike or not. */
typedef struct term {
  int32_t a, b;
  LLVMValueRef x, y;
  LLVMOpcode extend_x, extend_y;
} term;

typedef struct rest {
  LLVMValueRef word;
  bool negative;
} rest;

typedef struct word_pair {
  LLVMValueRef low, high;
  way ways[MAX_WAYS];
  uint32_t num_ways;
  bool matched; /* its ways are known */
  bool reverse; /* looked at because its halves are those of another pair, exchanged */
  bool good;    /* worth it */
  LLVMValueRef whole;
} word_pair;

typedef struct double_words {
  word_pair *pairs;
  size_t num_pairs, pairs_capacity;
  pair_map by_halves;
  term *terms;
  size_t num_terms, terms_capacity;
  rest *rests;
  size_t num_rests, rests_capacity;
} double_words;

/* double_words_match.c */

/* The pair of two words with its ways; NO_PAIR if that would lead too far. */
int32_t double_words_pair(double_words *d, LLVMValueRef low, LLVMValueRef high, unsigned depth);
bool is_operation(LLVMValueRef v, LLVMOpcode opcode);
/* Is it 1 where x < y, without signs, else 0? */
bool is_below(LLVMValueRef v, LLVMValueRef *x, LLVMValueRef *y);
/* Is it `sum`'s carry, as a word? */
bool is_carry_of(LLVMValueRef v, LLVMValueRef sum);
/* Does v have the bits of `high`, shifted up by `count`, and below them the uppermost of `low`? */
bool is_funnel(LLVMValueRef v, LLVMValueRef *high, LLVMValueRef *low, uint32_t *count);
/* The upper word of a product; how its operands are extended. */
bool is_high_product(LLVMValueRef v, LLVMValueRef operands[2], LLVMOpcode extend[2]);

/* Is the word at `high` the one behind that at `low`? */
bool are_in_a_row(LLVMValueRef low, LLVMValueRef high);

/* double_words.c: in all functions of the module. */
void double_words_join(LLVMModuleRef module);

#endif
