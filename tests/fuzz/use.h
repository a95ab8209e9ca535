/* What fuzz targets do with their results. */
#ifndef POPULUS_FUZZ_USE_H
#define POPULUS_FUZZ_USE_H

#include <populus/error.h>

#include <string.h>

/* Reads every byte, for AddressSanitizer to see. */
static inline void touch(const void *bytes, size_t size)
{
  uint8_t sum = 0;
  for (size_t i = 0; i < size; ++i) sum ^= ((const uint8_t *)bytes)[i];
  __asm__ volatile("" : : "r"(sum));
}

static inline void touch_text(const char *text)
{
  touch(text, strlen(text) + 1);
}

/* Frees the error. True if there was none. */
static inline bool forget(pop_error *error)
{
  if (!error) return true;
  touch_text(pop_error_message(error));
  pop_error_free(error);
  return false;
}

#endif
