/* Numbers as the guide's summaries print them. */
#ifndef PROFILE_GROUPED_H
#define PROFILE_GROUPED_H

#include <stdint.h>
#include <stdio.h>

/* `n` with commas between groups of three digits. */
static inline const char *grouped(uint64_t n, char buffer[32])
{
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
  char *to = buffer;
  for (int i = 0; i < length; ++i) {
    if (i && (length - i) % 3 == 0) *to++ = ',';
    *to++ = digits[i];
  }
  *to = '\0';
  return buffer;
}

#endif
