/* Names: a table from names to numbers, the names that a user may have meant, and their bytes. */
#ifndef POPULUS_NAMES_H
#define POPULUS_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POP_NAME_NONE UINT32_MAX

/* A hash table; {0} is an empty one. Names are not copied: they must live as long as the table.
 * Several threads may look names up while nobody adds any. */
typedef struct pop_name_table {
  struct pop_name_slot *slots;
  size_t capacity; /* a power of two, or 0 */
  size_t count;
} pop_name_table;

/* The number of `name`, or POP_NAME_NONE. */
uint32_t pop_name_table_find(const pop_name_table *table, const char *name);
/* Adds a name that is not in the table yet. */
void pop_name_table_add(pop_name_table *table, const char *name, uint32_t number);
void pop_name_table_free(pop_name_table *table); /* what it holds; it is empty then */

/* Which of `count` names may be meant by `name`, for messages. First those at a small edit
 * distance, regardless of case, then those that contain `name` or are contained in it. Writes up to
 * `max` (8 at most) to `nearest`, nearest first, and returns how many. Of equally near ones the
 * first stays first. */
size_t pop_nearest_names(const char *name, const char *const *names, size_t count,
                         const char **nearest, size_t max);
/* The nearest one; NULL if none is near. */
const char *pop_nearest_name(const char *name, const char *const *names, size_t count);

/* Bytes of the UTF-8 sequence at `p`, which ends in NUL; 0 if there is none. */
size_t pop_utf8_length(const unsigned char *p);

/* The size of the first character of the `size` (> 0) bytes at `text`, if a terminal may get it
 * unchanged. 0 if its first byte has to be escaped: control characters (C0 but line feed and
 * tab, DEL, C1), and bytes that are not UTF-8, which terminals with other character sets may
 * take for C1. */
size_t pop_printable_length(const char *text, size_t size);

/* The bytes of a character at `text` whose end is missing from the `size` (> 0) bytes: more may
 * come. 0 if they hold a whole character, or cannot become one. */
size_t pop_utf8_begun(const char *text, size_t size);

/* Writes text that anybody may have made. Bytes that must not reach a terminal become "\\x9b",
 * byte by byte. */
void pop_write_printable(const char *text, size_t size, FILE *stream);

/* The same for a name within a line: line feeds and tabs are escaped, too. Returns the bytes that
 * it takes. With `stream` NULL they are only counted. */
size_t pop_write_name(const char *name, FILE *stream);
/* With blanks behind it, up to `width` bytes. */
void pop_write_name_in_column(const char *name, size_t width, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
