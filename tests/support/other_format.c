/* other_format ARCHIVE: changes an archive's metadata, which are its first notes, to the next
 * format, with the digest that fits.
 *
 *   other_format ARCHIVE KEY OFFSET OLD NEW ...: changes other bytes of them instead, each so far
 *                    behind the first KEY, if they are OLD */
#include <elf.h>
#include <populus/arena.h>
#include <populus/file.h>
#define XXH_INLINE_ALL
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char owner[8] = "Populus";

/* The note that begins at or behind `from`; NULL if there is none. */
static uint8_t *find_note(uint8_t *from, const uint8_t *end, Elf32_Nhdr *header)
{
  uint8_t *name = memmem(from, (size_t)(end - from), owner, sizeof owner);
  if (!name || (size_t)(name - from) < sizeof *header) return NULL;
  memcpy(header, name - sizeof *header, sizeof *header);
  uint8_t *description = name + sizeof owner;
  bool good = header->n_namesz == sizeof owner && header->n_descsz <= (size_t)(end - description);
  return good ? description : find_note(description, end, header);
}

enum { TYPE_CBOR = 0x43424f52, TYPE_XXH3 = 0x58584833 };

/* A number below 24 is one byte of CBOR. */
static bool change_format(uint8_t *cbor, size_t size)
{
  uint8_t *format = memmem(cbor, size, "format", 6);
  if (!format) return false;
  format[6]++;
  return true;
}

/* KEY OFFSET OLD NEW */
static bool change_byte(uint8_t *cbor, size_t size, char *const *words)
{
  size_t key_bytes = strlen(words[0]), offset = strtoul(words[1], NULL, 10);
  uint8_t *key = memmem(cbor, size, words[0], key_bytes);
  if (!key || offset >= (size_t)(cbor + size - key - key_bytes)) return false;
  uint8_t *byte = key + key_bytes + offset;
  if (*byte != strtoul(words[2], NULL, 10)) return false;
  *byte = (uint8_t)strtoul(words[3], NULL, 10);
  return true;
}

static bool change_metadata(uint8_t *cbor, size_t size, int count, char *const *words)
{
  bool good = count ? true : change_format(cbor, size);
  for (; count >= 4 && good; count -= 4, words += 4) good = change_byte(cbor, size, words);
  return good;
}

static bool change(uint8_t *bytes, size_t size, int count, char *const *words)
{
  Elf32_Nhdr header;
  uint8_t *cbor = NULL, *digest = NULL;
  size_t cbor_size = 0;
  for (uint8_t *note = bytes; (!cbor || !digest) && (note = find_note(note, bytes + size, &header));
       note += header.n_descsz) {
    if (header.n_type == TYPE_CBOR) cbor = note, cbor_size = header.n_descsz;
    if (header.n_type == TYPE_XXH3 && header.n_descsz == sizeof(uint64_t)) digest = note;
  }
  if (!cbor || !digest || !change_metadata(cbor, cbor_size, count, words)) return false;
  uint64_t hash = XXH3_64bits(cbor, cbor_size);
  for (size_t i = 0; i < sizeof hash; i++) digest[i] = (uint8_t)(hash >> 8 * i);
  return true;
}

int main(int argc, char **argv)
{
  if (argc < 2 || argc % 4 != 2) return 2;
  uint8_t *bytes;
  size_t size;
  pop_error *error = pop_file_read(argv[1], SIZE_MAX, &bytes, &size);
  if (error) {
    fprintf(stderr, "%s\n", pop_error_message(error));
    pop_error_free(error);
    return 1;
  }
  FILE *out = change(bytes, size, argc - 2, argv + 2) ? fopen(argv[1], "wb") : NULL;
  bool written = out && fwrite(bytes, 1, size, out) == size;
  if (out) written = fclose(out) == 0 && written;
  free(bytes);
  return written ? 0 : 1;
}
