/* Which tiles can share a unit: those with its words and its windows.
 *
 * Native code compares most addresses with constant bounds. They are the windows that all tiles
 * have in common whose code begins alike at the unit's place. A tile with smaller windows, loaded
 * later or in another machine, gets a unit of its own. A tile with larger windows loses little:
 * native code tests the tile's own windows next. */
#include "translate.h"

#include <string.h>

static const uint8_t *code_at(const machine *m, const tile *t, uint32_t address)
{
  return t->memory + (address - m->target.memory_base);
}

static bool has_words(const machine *m, const tile *t, const code_unit *code)
{
  const uint32_t *words = code->words;
  for (size_t i = 0; i < code->num_ranges; i++) {
    uint32_t start = code->ranges[i].start, bytes = code->ranges[i].end - start;
    if (!memory_contains(t, start, bytes, false, true)) return false;
    if (memcmp(code_at(m, t, start), words, bytes)) return false;
    words += bytes / 4;
  }
  return true;
}

static bool lies_in(code_window inner, window outer)
{
  uint32_t offset = inner.start - outer.start;
  return !inner.bytes || (offset <= outer.size && inner.bytes <= outer.size - offset);
}

bool code_unit_fits(const machine *m, const tile *t, const code_unit *code)
{
  return lies_in(code->readable, t->readable) && lies_in(code->writable, t->writable) &&
         has_words(m, t, code);
}

/* A cheap test, right for nearly all tiles. Only speed depends on it. */
static bool begins_alike(const machine *m, const tile *t, const code_unit *code)
{
  enum { FIRST_BYTES = 64 };
  uint32_t start = code->ranges[0].start, bytes = code->ranges[0].end - start;
  if (bytes > FIRST_BYTES) bytes = FIRST_BYTES;
  return memory_contains(t, start, bytes, false, true) &&
         !memcmp(code_at(m, t, start), code->words, bytes);
}

static code_window common(code_window a, uint32_t start, uint32_t bytes)
{
  uint32_t first = a.start > start ? a.start : start;
  uint32_t a_end = a.start + a.bytes, end = start + bytes < a_end ? start + bytes : a_end;
  return first < end ? (code_window){first, end - first} : (code_window){0};
}

static bool has_constants(const code_unit *code)
{
  for (size_t i = 0; i < code->num_ops; i++)
    if (code->ops[i].id == OP_LUI) return true;
  return false;
}

void code_unit_find_windows(const machine *m, const tile *t, code_unit *code)
{
  code->readable = (code_window){t->readable.start, t->readable.size};
  code->writable = (code_window){t->writable.start, t->writable.size};
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    const tile *other = &m->tiles[i];
    if (!other->loaded || !begins_alike(m, other, code)) continue;
    code->readable = common(code->readable, other->readable.start, other->readable.size);
    code->writable = common(code->writable, other->writable.start, other->writable.size);
  }
  code->writable = common(code->writable, code->readable.start, code->readable.bytes);
  code->data_apart = has_constants(code) && memory_has_data_apart(t);
  code->reads_all = code->readable.bytes == m->target.memory_bytes;
}
