/* What getopt_long refuses, as it was given. */
#ifndef TOOLS_OPTION_GIVEN_H
#define TOOLS_OPTION_GIVEN_H

#include <getopt.h>
#include <string.h>

/* The option, for a message: the argument or, of several letters in one argument, the letter alone.
 * `option` is what getopt_long has returned for `letters`; the text may be in `letter`. */
static inline const char *option_given(int option, char *const *argv, const char *letters,
                                       char letter[3])
{
  if (option != '?' || optopt <= ' ' || optopt > '~' || strchr(letters, optopt))
    return argv[optind - 1];
  letter[0] = '-';
  letter[1] = (char)optopt;
  letter[2] = '\0';
  return letter;
}

#endif
