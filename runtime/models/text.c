#include "models/text.h"

#include <populus/arena.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(text *t, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *piece = NULL;
  int length = vasprintf(&piece, format, args);
  va_end(args);
  if (length < 0) return;
  if (t->size + (size_t)length + 1 > t->capacity)
    pop_reserve(t->data, 2 * (t->size + (size_t)length + 1), t->capacity);
  memcpy(t->data + t->size, piece, (size_t)length + 1);
  t->size += (size_t)length;
  free(piece);
}

void text_free(text *t)
{
  free(t->data);
  *t = (text){0};
}
