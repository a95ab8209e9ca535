/* The bytes of an `ar` archive, shared by its writer and its reader.
 *
 *   "!<arch>\n"
 *   header (60 bytes of ASCII, fields filled up with spaces)   at an even offset
 *   content, then "\n" if its size is odd
 *   header ...
 *
 * GNU's conventions for names, as GNU ar and llvm-ar read and write them:
 *   "name/"   a name of up to 15 characters
 *   "/123"    the name starts at byte 123 of the member "//" and ends at the next "/\n"
 *   "//"      the table of long names          "/" and "/SYM64/"   index of symbols
 */
#ifndef POPULUS_ARCHIVE_INTERNAL_H
#define POPULUS_ARCHIVE_INTERNAL_H

#define AR_MAGIC "!<arch>\n"
#define AR_THIN_MAGIC "!<thin>\n" /* members are other files' names: not self-contained */
#define AR_MAGIC_BYTES 8
#define AR_HEADER_END "`\n"

typedef struct ar_header {
  char name[16];
  char date[12], owner[6], group[6]; /* decimal */
  char mode[8];                      /* octal */
  char size[10];                     /* decimal, of the content */
  char end[2];                       /* AR_HEADER_END */
} ar_header;
_Static_assert(sizeof(ar_header) == 60, "ar headers have 60 bytes");

#endif
