/* Text that grows: codelets, and what one notation becomes in another. */
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
