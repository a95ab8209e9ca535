/* For programs that write several files, or read some and write others. */
#ifndef POPULUS_SAME_FILE_H
#define POPULUS_SAME_FILE_H

#include <stdbool.h>

/* Would a file that is written as `a` be the one that is named `b`: by the same name, through a
 * link, or by a second name? If neither is there yet: are they one name in one folder? Standard
 * streams ("-") and what is no regular file, such as /dev/null, are the same as nothing. */
bool pop_is_same_file(const char *a, const char *b);

#endif
