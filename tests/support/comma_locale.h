/* A locale whose decimal point is a comma, for tests of text that must not depend on the program's
 * locale. It is made here, because hardly any machine of a test has one. */
#ifndef POPULUS_TEST_COMMA_LOCALE_H
#define POPULUS_TEST_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Makes it the locale of this process, in the current folder. False: there is no localedef. (Its
 * exit status says only that a locale of numbers alone is unusual.) */
static inline bool use_comma_locale(void)
{
  char folder[4096];
  FILE *source = fopen("comma.src", "w");
  if (!source || !getcwd(folder, sizeof folder)) return false;
  fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n",
        source);
  fclose(source);
  (void)!system("localedef -c --no-archive -i comma.src ./comma >comma.txt 2>&1");
  setenv("LOCPATH", folder, 1);
  return setlocale(LC_NUMERIC, "comma") != NULL;
}

#endif
