/* Double words: 64-bit integers, which a tile has in two registers.
 *
 * Tile code adds them with carries, multiplies them in three or four products, and shifts bits from
 * one half into the other. LLVM does not see that each of these is one operation of the host. So
 * between two of its passes:
 *
 *   double_words.c: demands   finds instructions that only 64-bit arithmetic needs (carries, high
 *                             products, bits from another word): they show two halves
 *   double_words_match.c      finds how such a pair could be computed as a whole, from other
 *                             pairs: `forms`
 *   double_words.c            chooses the pairs that are worth it (some form comes from worthwhile
 *                             pairs) and builds them
 *
 * Each form is an identity, so the choice matters for speed only. */
#ifndef TRANSLATOR_DOUBLE_WORDS_H
#define TRANSLATOR_DOUBLE_WORDS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Map of two pointers to a number; {0} is empty. */
typedef struct pair_map {
  struct pair_entry {
    const void *a, *b;
    uint32_t number;
  } *entries;
  uint32_t count, capacity;
} pair_map;

/* UINT32_MAX: not found. */
uint32_t pair_map_find(const pair_map *m, const void *a, const void *b);
void pair_map_add(pair_map *m, const void *a, const void *b, uint32_t number);

enum { NO_PAIR = -1, MAX_FORMS = 8 };

typedef enum form_kind {
  FORM_CONSTANT,
  FORM_ZERO_EXTENDED, /* of the low half */
  FORM_SIGN_EXTENDED,
  FORM_SHIFTED_UP, /* the low half is 0 */
  FORM_LOADED,     /* two words in a row */
  FORM_BINARY,     /* `opcode` of the pairs a and b */
  FORM_CHAIN,      /* `opcode` of the pairs that are terms, in any order */
  FORM_SHIFT,      /* `opcode` of the pair a by `amount` */
  FORM_ROTATED,    /* the pair a to the left by `amount` */
  FORM_SELECTED,   /* by `x`: a or b */
  FORM_PHI,        /* terms: pairs that come in, as the low half's */
  FORM_SUM         /* sum of the terms, and of the high addends << 32 */
} form_kind;

typedef struct form {
  form_kind kind;
  LLVMOpcode opcode;
  uint32_t amount;
  int32_t a, b;
  LLVMValueRef x;
  uint32_t first_term, num_terms, first_high_addend, num_high_addends; /* in double_words */
} form;

/* If x is NULL: the pair a, times the pair b if there is one. Otherwise the product of the words x
 * and y; the two may be extended differently. */
typedef struct term {
  int32_t a, b;
  LLVMValueRef x, y;
  LLVMOpcode extend_x, extend_y;
} term;

typedef struct high_addend {
  LLVMValueRef word;
  bool negative;
} high_addend;

typedef struct word_pair {
  LLVMValueRef low, high;
  form forms[MAX_FORMS];
  uint32_t num_forms;
  bool matched;    /* its forms are known */
  bool swapped;    /* made only to look at another pair with its halves exchanged */
  bool profitable; /* worth it */
  LLVMValueRef whole;
} word_pair;

typedef struct double_words {
  word_pair *pairs;
  size_t num_pairs, pairs_capacity;
  pair_map by_halves;
  term *terms;
  size_t num_terms, terms_capacity;
  high_addend *high_addends;
  size_t num_high_addends, high_addends_capacity;
} double_words;

/* double_words_match.c */

/* The pair of two words, with its forms; NO_PAIR if the search is too deep or there are too many
 * pairs. */
int32_t double_words_pair(double_words *d, LLVMValueRef low, LLVMValueRef high, unsigned depth);
bool is_operation(LLVMValueRef v, LLVMOpcode opcode);
/* Is it the word (x < y), unsigned? */
bool is_below(LLVMValueRef v, LLVMValueRef *x, LLVMValueRef *y);
/* Is it `sum`'s carry, as a word? */
bool is_carry_of(LLVMValueRef v, LLVMValueRef sum);
/* Is it (high << count) | (low >> (32 - count))? (A funnel shift.) */
bool is_funnel(LLVMValueRef v, LLVMValueRef *high, LLVMValueRef *low, uint32_t *count);
/* Is it the upper word of a product? Sets the operands and how they are extended. */
bool is_high_product(LLVMValueRef v, LLVMValueRef operands[2], LLVMOpcode extend[2]);

/* Is the word at `high` the one behind that at `low`? */
bool are_consecutive(LLVMValueRef low, LLVMValueRef high);

/* double_words.c: in all functions of the module. */
void double_words_join(LLVMModuleRef module);

#endif
