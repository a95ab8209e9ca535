/* Tokens of MLIR text. */
#ifndef POPULUS_MODELS_LEXER_H
#define POPULUS_MODELS_LEXER_H

#include "models/module.h"

typedef enum token_kind {
  TOKEN_END,
  TOKEN_NAME,    /* letters, digits, '_', '$', '.'; does not begin with a digit */
  TOKEN_VALUE,   /* %name */
  TOKEN_SYMBOL,  /* @name or @"name" */
  TOKEN_BLOCK,   /* ^name */
  TOKEN_ALIAS,   /* #name: attributes */
  TOKEN_BANG,    /* !name: types */
  TOKEN_INTEGER, /* 12, 0x1F */
  TOKEN_NUMBER,  /* 1.0e+3 */
  TOKEN_STRING,  /* "…" */
  TOKEN_ARROW,   /* -> */
  TOKEN_PUNCTUATION,
  TOKEN_BAD
} token_kind;

typedef struct token {
  token_kind kind;
  const char *start;
  size_t length;
} token;

/* Reads the token at or behind `at`; `end` is the end of the text. */
token lexer_next(const char *at, const char *end);

#endif
