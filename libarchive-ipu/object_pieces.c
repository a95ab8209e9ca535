/* Which parts of an object may be merged and folded.
 *
 * Pieces: a section with SHF_MERGE holds constants of sh_entsize bytes or, with SHF_STRINGS,
 * strings of characters of that many bytes. A reference to one says nothing about the others.
 * So each piece is linked separately: only if it is used, and once. A section that breaks the
 * rules of its flags stays in one piece, as with lld. So does one with relocations, as equal
 * bytes then mean different values.
 *
 * Addresses: functions may share a copy if nobody compares their addresses. Clang lists the
 * symbols whose addresses matter in .llvm_addrsig, as ULEB128 symbol numbers. A local symbol
 * counts for its section, as relocations may name the section and an offset instead. A tool
 * that renumbers symbols without knowing .llvm_addrsig clears its sh_link. Then, as without the
 * section, the kinds of relocations decide (live_fold.c).
 *
 * Source: System V ABI, "Section Attribute Flags"; LLVM extensions, "SHT_LLVM_ADDRSIG".
 */
#include "object.h"
#include <string.h>

#ifndef SHT_LLVM_ADDRSIG
#define SHT_LLVM_ADDRSIG 0x6fff4c03
#endif

static bool is_zero(const uint8_t *bytes, uint32_t count)
{
  uint8_t any = 0;
  for (uint32_t i = 0; i < count; ++i) any |= bytes[i];
  return any == 0;
}

static bool can_be_cut(const object_section *section)
{
  const uint32_t wanted = SHF_ALLOC | SHF_MERGE;
  const uint32_t refused = SHF_WRITE | SHF_EXECINSTR | SHF_TLS;
  uint32_t entry = section->entry_bytes;
  if ((section->flags & (wanted | refused)) != wanted || !section->data || section->size == 0 ||
      section->num_relocations || entry == 0 || section->size % entry)
    return false;
  return !(section->flags & SHF_STRINGS) ||
         is_zero(section->data + section->size - entry, entry); /* ends the last string */
}

/* Bytes of the piece at `start`. */
static uint32_t piece_bytes(const object_section *section, uint32_t start)
{
  uint32_t end = start + section->entry_bytes;
  if (!(section->flags & SHF_STRINGS)) return end - start;
  if (section->entry_bytes == 1)
    return (uint32_t)(strlen((const char *)section->data + start) +
                      1); /* the section ends in NUL */
  while (!is_zero(section->data + end - section->entry_bytes, section->entry_bytes))
    end += section->entry_bytes;
  return end - start;
}

static uint32_t count_pieces(const object_section *section)
{
  uint32_t count = 0;
  for (uint32_t at = 0; at < section->size; at += piece_bytes(section, at)) ++count;
  return count;
}

static void cut(pop_object *object, object_section *section)
{
  section->first_piece = object->num_pieces;
  for (uint32_t at = 0, bytes; at < section->size; at += bytes) {
    bytes = piece_bytes(section, at);
    object->pieces[object->num_pieces++] = (object_piece){at, bytes};
  }
  section->num_pieces = object->num_pieces - section->first_piece;
}

static pop_error *cut_sections(pop_object *object)
{
  size_t count = 0;
  for (uint32_t i = 1; i < object->num_sections; ++i)
    if (can_be_cut(&object->sections[i])) count += count_pieces(&object->sections[i]);
  POP_TRY(OBJECT_ALLOCATE(object, object->pieces, count));
  for (uint32_t i = 1; i < object->num_sections; ++i)
    if (can_be_cut(&object->sections[i])) cut(object, &object->sections[i]);
  return NULL;
}

uint32_t object_piece_at(const pop_object *object, const object_section *section, uint32_t offset)
{
  uint32_t low = section->first_piece, high = low + section->num_pieces;
  while (high - low > 1) { /* pieces[low] starts at or before the offset */
    uint32_t middle = low + (high - low) / 2;
    if (object->pieces[middle].start <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Reads a number and moves *at behind it; false if it does not end in time or is too large. */
static bool read_uleb128(const uint8_t **at, const uint8_t *end, uint32_t *number)
{
  uint64_t value = 0;
  for (unsigned shift = 0; *at < end && shift < 35; shift += 7) {
    uint8_t byte = *(*at)++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    *number = (uint32_t)value;
    return value <= UINT32_MAX;
  }
  return false;
}

static pop_error *read_address_list(pop_object *object, const object_section *list)
{
  const uint8_t *at = list->data, *end = at + list->size;
  while (at < end) {
    uint32_t offset = (uint32_t)(at - list->data), symbol;
    if (!read_uleb128(&at, end, &symbol) || symbol >= object->num_symbols) {
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "section %s at offset 0x%x: no number of one of the %u symbols",
                           list->name, offset, object->num_symbols);
    }
    object_symbol *listed = &object->symbols[symbol];
    listed->listed = true;
    if (listed->place == PLACE_SECTION) object->sections[listed->section].listed = true;
  }
  object->lists_addresses = true;
  return NULL;
}

pop_error *object_read_pieces(pop_object *object)
{
  POP_TRY(cut_sections(object));
  for (uint32_t i = 1; i < object->num_sections; ++i) {
    const object_section *section = &object->sections[i];
    if (section->type != SHT_LLVM_ADDRSIG) continue;
    uint32_t table = object_raw_section(object, i).sh_link;
    if (table < object->num_sections && object->sections[table].type == SHT_SYMTAB)
      POP_TRY(read_address_list(object, section));
  }
  return NULL;
}
