/* Section `.populus.symbols`: properties of symbols for which .symtab has no field.
 *
 *   word            number of records
 *   records         one for each function and object of .symtab, in its order: 2 words each
 *                     the symbol's address
 *                     bits 0 to 7: category; bits 8 to 31: offset of the type, 0 if it has none
 *   NUL, then NUL-terminated types and shapes of variables: "float[300,40]" (readelf -p shows them)
 *
 * Tools that change .symtab (strip, objcopy) copy this section unchanged. That is why records
 * repeat the addresses: a table that does not match the symbols counts as missing.
 */
#include "image_internal.h"

#include <populus/memory.h>

#include <inttypes.h>
#include <string.h>

#define WORD_BYTES sizeof(uint32_t)
#define RECORD_WORDS 2
#define CATEGORY_BITS 8
#define TYPES_BYTES_MAX (UINT32_MAX >> CATEGORY_BITS)

_Static_assert(POP_MEMORY_CATEGORY_COUNT <= 1 << CATEGORY_BITS, "a category fits its bits");

/* Does the type differ from that of the last symbol with the same binding? Pieces of one variable
 * follow each other, so only the last one is compared. */
static bool has_new_type(const pop_image_symbol *symbol, const char **last)
{
  if (!symbol->type || (*last && strcmp(*last, symbol->type) == 0)) return false;
  *last = symbol->type;
  return true;
}

bool image_measure_details(const pop_image *image, uint32_t *bytes)
{
  uint64_t types = 1;
  const char *last[2] = {NULL, NULL};
  for (size_t i = 0; i < image->num_symbols; i++) {
    const pop_image_symbol *symbol = &image->symbols[i];
    if (has_new_type(symbol, &last[symbol->local])) types += strlen(symbol->type) + 1;
  }
  uint64_t total = (1 + RECORD_WORDS * (uint64_t)image->num_symbols) * WORD_BYTES + types;
  *bytes = (uint32_t)total;
  return types <= TYPES_BYTES_MAX && total <= UINT32_MAX;
}

static uint8_t *put_word(uint8_t *at, uint32_t word)
{
  for (size_t i = 0; i < WORD_BYTES; i++) at[i] = (uint8_t)(word >> 8 * i);
  return at + WORD_BYTES;
}

/* Where the next record and the next type go. */
typedef struct details {
  uint8_t *record;
  char *types;
  uint32_t next_type, last_type; /* offsets */
} details;

static void put_record(details *details, const pop_image_symbol *symbol, const char **last)
{
  if (has_new_type(symbol, last)) {
    size_t bytes = strlen(symbol->type) + 1;
    memcpy(details->types + details->next_type, symbol->type, bytes);
    details->last_type = details->next_type;
    details->next_type += (uint32_t)bytes;
  }
  uint32_t type = symbol->type ? details->last_type : 0;
  details->record = put_word(details->record, symbol->address);
  details->record = put_word(details->record, symbol->category | type << CATEGORY_BITS);
}

static void put_records(details *details, const pop_image *image, bool local)
{
  const char *last = NULL;
  for (size_t i = 0; i < image->num_symbols; i++)
    if (image->symbols[i].local == local) put_record(details, &image->symbols[i], &last);
}

void image_put_details(const pop_image *image, uint8_t *section)
{
  details details = {.record = put_word(section, (uint32_t)image->num_symbols), .next_type = 1};
  details.types = (char *)details.record + RECORD_WORDS * image->num_symbols * WORD_BYTES;
  put_records(&details, image, true); /* .symtab starts with those */
  put_records(&details, image, false);
}

static uint32_t get_word(const uint8_t *at)
{
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static const uint8_t *record_of(const uint8_t *section, size_t symbol)
{
  return section + (1 + RECORD_WORDS * symbol) * WORD_BYTES;
}

static bool fits_symbols(const uint8_t *section, uint32_t bytes, const pop_image_symbol *symbols,
                         size_t count)
{
  uint64_t records_bytes = (1 + RECORD_WORDS * (uint64_t)count) * WORD_BYTES;
  if (bytes <= records_bytes || get_word(section) != count) return false;
  for (size_t i = 0; i < count; i++)
    if (get_word(record_of(section, i)) != symbols[i].address) return false;
  return true;
}

pop_error *image_read_details(const uint8_t *section, uint32_t bytes, pop_image_symbol *symbols,
                              pop_image *image)
{
  size_t count = image->num_symbols;
  if (!fits_symbols(section, bytes, symbols, count)) return NULL;
  const char *types = (const char *)record_of(section, count);
  size_t types_bytes = bytes - (size_t)(record_of(section, count) - section);
  if (types[0] || types[types_bytes - 1])
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "the types in .populus.symbols do not start and end with NUL");
  for (size_t i = 0; i < count; i++) {
    uint32_t detail = get_word(record_of(section, i) + WORD_BYTES);
    uint32_t category = detail & ((1 << CATEGORY_BITS) - 1), type = detail >> CATEGORY_BITS;
    if (category >= POP_MEMORY_CATEGORY_COUNT || type >= types_bytes)
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           ".populus.symbols gives symbol '%s' category %" PRIu32
                           " of %d and a type at byte %" PRIu32 " of %zu",
                           symbols[i].name, category, POP_MEMORY_CATEGORY_COUNT, type, types_bytes);
    symbols[i].category = (uint8_t)category;
    symbols[i].type = type ? types + type : NULL;
  }
  image->symbols_have_categories = true;
  return NULL;
}
