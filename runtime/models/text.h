/* A growing text buffer, for codelets and generated StableHLO. */
#ifndef POPULUS_MODELS_TEXT_H
#define POPULUS_MODELS_TEXT_H

#include <populus/error.h>
#include <stddef.h>

typedef struct text {
  char *data;
  size_t size, capacity;
} text;
void text_add(text *t, const char *format, ...) POP_PRINTF(2, 3);
void text_free(text *t);

#endif
