/* The state of the reader, and its parts: types, attributes, literals, operations.
 *
 * `token` is the current one. Functions return false once there is an error; the first error is
 * kept. */
#ifndef POPULUS_MODELS_READER_H
#define POPULUS_MODELS_READER_H

#include "models/lexer.h"

/* A name in a scope: %name, or %name with several results. */
typedef struct binding {
  char *name;
  value **values;
  size_t count;
  uint32_t shadowed; /* the binding that this one hides, or UINT32_MAX */
} binding;

typedef struct reader {
  module *m;
  pop_arena *arena;
  const char *end;
  token token;
  pop_error *error;
  unsigned depth; /* nesting of regions, attributes and types */
  /* the current function's */
  binding *bindings;
  size_t num_bindings, bindings_capacity;
  uint32_t *slots; /* hash table of bindings by name; UINT32_MAX for an empty slot */
  size_t num_slots;
  /* #name = attribute, !name = type */
  attribute *aliases;
  size_t num_aliases, aliases_capacity;
  /* Entries of dialect_resources, name: "0x…". `text` is the place after the quote, `integer` the
   * length. */
  attribute *resources;
  size_t num_resources, resources_capacity;
} reader;

enum { READER_MAX_DEPTH = 200 };

/* reader.c: tokens */
uint32_t reader_offset(const reader *r);
/* Returns false. Sets an error at the current token, unless there is one already. */
bool reader_fail(reader *r, const char *format, ...) POP_PRINTF(2, 3);
bool reader_fail_at(reader *r, uint32_t offset, const char *format, ...) POP_PRINTF(3, 4);
void reader_advance(reader *r);
/* Continues reading at this place. */
void reader_jump(reader *r, const char *at);
bool reader_is(const reader *r, const char *text);
bool reader_take(reader *r, const char *text); /* if it is the current one */
bool reader_expect(reader *r, const char *text);
char *reader_text(reader *r); /* of the token, in the arena */
/* False, with an error, if nesting is too deep. Otherwise call reader_leave later. */
bool reader_enter(reader *r);
void reader_leave(reader *r);
int reader_base(const char *number);            /* 16 behind 0x; 010 is ten, not octal */
bool reader_integer(reader *r, int64_t *value); /* with a sign */
/* loc(…), if it is there. */
bool reader_skip_location(reader *r);

/* reader.c: names of values */
bool reader_use(reader *r, value **v); /* %name or %name#1 */
bool reader_define(reader *r, const char *name, uint32_t offset, value **values, size_t count);
/* Removes all names but the first `mark`. */
void reader_forget(reader *r, size_t mark);

/* read_types.c */
bool read_type(reader *r, const model_type **type);
/* "(a, b)", "()" or "a". */
bool read_type_list(reader *r, const model_type ***types, size_t *count);

/* read_attributes.c */
bool read_attribute(reader *r, attribute *a);
/* { … } or <{ … }>: appended. */
bool read_dictionary(reader *r, attribute **items, size_t *count);
void add_attribute(reader *r, operation *op, attribute a);
/* [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], as a dictionary of roles. */
bool read_conv_dimensions(reader *r, attribute *a);
/* Skips to the bracket that closes the one just taken. */
bool reader_skip_balanced(reader *r);
/* read_literals.c: -1 for other characters. */
int reader_hex_digit(char c);
/* What follows "dense". */
bool read_dense(reader *r, attribute *a);
/* Behind "dense_resource". */
bool read_dense_resource(reader *r, attribute *a);
/* {-# … #-} at the end of the text. Reading ends there. */
bool read_resources(reader *r);

/* read_operations.c */
bool read_region(reader *r, block *b, value **arguments, size_t num_arguments);
/* "%a: type, …)", after the opening bracket. */
bool read_block_arguments(reader *r, block *b);
/* The generic form, after the name. Sets the results' types. */
bool read_generic(reader *r, operation *op, const model_type ***results, size_t *num_results);
bool add_operand(reader *r, operation *op); /* the current value */
value *new_value(reader *r, const model_type *type, operation *op);

/* Fails at `offset` if the value does not have the type that is written there; or at the value's
 * definition, if that is wrong in itself. */
bool read_check_type(reader *r, const operation *op, const value *v, const model_type *type,
                     uint32_t offset);

/* read_required.c: checks that the operation has its required attributes, and only properties
 * between <{ and }>. */
bool read_check_required(reader *r, const operation *op);
bool read_check_properties(reader *r, const operation *op);
/* The same for fields of #stablehlo.dot<…>, gather and scatter. */
bool read_check_numbers(reader *r, const char *attribute_name, const attribute *a);

/* read_forms.c: the pretty form, after the operation's name, without the types. */
bool read_form(reader *r, operation *op, const model_type ***results, size_t *num_results);

#endif
