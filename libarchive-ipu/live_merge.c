/* Merges constants and strings of mergeable sections: one of each set of equal ones is kept.
 *
 *   pieces referred to ──sort, each once──> pieces ──by content──> kept ones ──> pools in RODATA
 *
 * Pieces can share a copy only if they have the same demands (alignment, size of a character or
 * constant, string or not). The kept pieces with the same demands form a pool. Strings are compared
 * from their ends, and longer ones come first. So a string that is a tail of others comes right
 * after one of them:
 *
 *   "undeterred", "deterred", "red", "green"   the second and third are tails of the first
 *
 * The order in a pool is that of the set, whatever the strings are. It depends on which pieces are
 * referred to, but not on the order of the references.
 */
#include "live_sections.h"
#include <populus/arena.h>
#include <string.h>

bool live_sections_is_cut(const pop_live_sections *live, uint32_t section)
{
  return !live->set->keep_duplicates && link_set_section(live->set, section)->num_pieces;
}

/* The piece that a reference means. It is the piece around the symbol. If the symbol stands for
 * the section, it is the piece around symbol + addend. A place outside of the section counts as
 * near the symbol. */
static uint32_t piece_of(const pop_live_sections *live, const link_target *target, uint32_t addend)
{
  const object_section *section = link_set_section(live->set, target->section);
  uint32_t offset = target->value;
  if (target->whole_section && offset + addend < section->size) offset += addend;
  return object_piece_at(link_set_owner(live->set, target->section)->object, section, offset);
}

void live_sections_add_piece(pop_live_sections *live, const link_target *target, uint32_t addend)
{
  pop_push(live->pieces, live->num_pieces, live->pieces_capacity,
           (live_piece){.section = target->section, .piece = piece_of(live, target, addend)});
}

/* Pieces by place. */

static int compare_places(const void *left, const void *right)
{
  const live_piece *a = left, *b = right;
  if (a->section != b->section) return a->section < b->section ? -1 : 1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

static void remove_duplicates(pop_live_sections *live)
{
  qsort(live->pieces, live->num_pieces, sizeof *live->pieces, compare_places);
  size_t count = 0;
  for (size_t i = 0; i < live->num_pieces; ++i) {
    if (count == 0 || compare_places(&live->pieces[count - 1], &live->pieces[i]) != 0)
      live->pieces[count++] = live->pieces[i];
  }
  live->num_pieces = count;
}

static uint32_t find_piece(const pop_live_sections *live, uint32_t section, uint32_t piece)
{
  const live_piece wanted = {.section = section, .piece = piece};
  const live_piece *found = live->num_pieces ? bsearch(&wanted, live->pieces, live->num_pieces,
                                                       sizeof wanted, compare_places)
                                             : NULL;
  return found ? (uint32_t)(found - live->pieces) : OBJECT_NONE;
}

live_reference live_sections_refer(const pop_live_sections *live, const link_target *target,
                                   uint32_t addend)
{
  uint32_t offset = target->value + addend;
  if (!live_sections_is_cut(live, target->section)) return (live_reference){OBJECT_NONE, offset};
  uint32_t piece = piece_of(live, target, addend);
  offset -= link_set_owner(live->set, target->section)->object->pieces[piece].start;
  return (live_reference){find_piece(live, target->section, piece), offset};
}

bool live_sections_resolve(const pop_live_sections *live, const link_target *target,
                           uint32_t addend, pop_link_group *group, uint32_t *offset)
{
  live_reference place = live_sections_refer(live, target, addend);
  *offset = place.offset;
  if (place.piece != OBJECT_NONE) {
    const live_piece *piece = &live->pieces[place.piece];
    *group = POP_LINK_RODATA;
    *offset += live->pieces[piece->kept].offset + piece->shift;
    return true;
  }
  const live_section *section = live_sections_find(live, target->section);
  if (!section || live_sections_is_cut(live, target->section)) return false;
  *group = section->group;
  *offset += section->offset;
  return true;
}

/* Pieces by content. */

static const object_section *section_of(const pop_live_sections *live, const live_piece *piece)
{
  return link_set_section(live->set, piece->section);
}

static const object_piece *extent_of(const pop_live_sections *live, const live_piece *piece)
{
  return &link_set_owner(live->set, piece->section)->object->pieces[piece->piece];
}

static const uint8_t *bytes_of(const pop_live_sections *live, const live_piece *piece)
{
  return section_of(live, piece)->data + extent_of(live, piece)->start;
}

/* Demands that pieces must share. The strictest alignment comes first, as that leaves no gaps. */
static int compare_demands(const object_section *a, const object_section *b)
{
  if (a->align != b->align) return a->align > b->align ? -1 : 1;
  if (a->entry_bytes != b->entry_bytes) return a->entry_bytes > b->entry_bytes ? -1 : 1;
  uint32_t a_strings = a->flags & SHF_STRINGS, b_strings = b->flags & SHF_STRINGS;
  return (a_strings > b_strings) - (a_strings < b_strings);
}

/* Compares from the end. A text comes before its tails. */
static int compare_backwards(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size)
{
  uint32_t common = a_size < b_size ? a_size : b_size;
  for (uint32_t i = 1; i <= common; ++i)
    if (a[a_size - i] != b[b_size - i]) return a[a_size - i] < b[b_size - i] ? -1 : 1;
  return (a_size < b_size) - (a_size > b_size);
}

static int compare_contents(const void *left, const void *right, void *context)
{
  const pop_live_sections *live = context;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  const live_piece *a = &live->pieces[i], *b = &live->pieces[j];
  int order = compare_demands(section_of(live, a), section_of(live, b));
  if (order == 0) {
    order = compare_backwards(bytes_of(live, a), extent_of(live, a)->size, bytes_of(live, b),
                              extent_of(live, b)->size);
  }
  return order ? order : (i > j) - (i < j);
}

/* Can `piece` be the end of `kept`, which is as long or longer? */
static bool is_tail(const pop_live_sections *live, const live_piece *piece, const live_piece *kept)
{
  const object_section *section = section_of(live, piece);
  uint32_t size = extent_of(live, piece)->size, kept_size = extent_of(live, kept)->size;
  return compare_demands(section, section_of(live, kept)) == 0 && size <= kept_size &&
         (kept_size - size) % section->align == 0 &&
         memcmp(bytes_of(live, piece), bytes_of(live, kept) + (kept_size - size), size) == 0;
}

static int compare_layout(const void *left, const void *right, void *context)
{
  const pop_live_sections *live = context;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  int order =
      compare_demands(section_of(live, &live->pieces[i]), section_of(live, &live->pieces[j]));
  return order ? order : (i > j) - (i < j);
}

void live_sections_merge(pop_live_sections *live)
{
  if (live->num_pieces == 0) return;
  remove_duplicates(live);
  uint32_t *order = pop_xcalloc(live->num_pieces, sizeof *order);
  for (uint32_t i = 0; i < live->num_pieces; ++i) order[i] = i;
  qsort_r(order, live->num_pieces, sizeof *order, compare_contents, live);
  size_t count = 0;
  for (size_t i = 0; i < live->num_pieces; ++i) {
    live_piece *piece = &live->pieces[order[i]];
    const live_piece *last = count ? &live->pieces[order[count - 1]] : NULL;
    if (last && is_tail(live, piece, last)) {
      piece->kept = order[count - 1];
      piece->shift = extent_of(live, last)->size - extent_of(live, piece)->size;
    } else {
      piece->kept = order[i];
      order[count++] = order[i];
    }
  }
  qsort_r(order, count, sizeof *order, compare_layout, live);
  live->kept_pieces = order;
  live->num_kept_pieces = count;
}

/* Pools. */

uint64_t live_sections_lay_out_pieces(pop_live_sections *live, uint64_t end, uint32_t *align)
{
  for (size_t i = 0; i < live->num_kept_pieces; ++i) {
    live_piece *piece = &live->pieces[live->kept_pieces[i]];
    const object_section *section = section_of(live, piece);
    if (section->align > *align) *align = section->align;
    end = (end + section->align - 1) & ~((uint64_t)section->align - 1);
    live_pool *pool = live->num_pools ? &live->pools[live->num_pools - 1] : NULL;
    if (!pool || compare_demands(link_set_section(live->set, pool->section), section) != 0) {
      pop_push(live->pools, live->num_pools, live->pools_capacity,
               (live_pool){.section = piece->section, .offset = (uint32_t)end});
      pool = &live->pools[live->num_pools - 1];
    }
    piece->offset = (uint32_t)end;
    end += extent_of(live, piece)->size;
    pool->bytes = (uint32_t)end - pool->offset;
    if (end > OBJECT_SECTION_BYTES_MAX) break; /* the caller reports it */
  }
  return end;
}

void live_sections_write_pieces(const pop_live_sections *live, uint8_t *group_bytes)
{
  for (size_t i = 0; i < live->num_kept_pieces; ++i) {
    const live_piece *piece = &live->pieces[live->kept_pieces[i]];
    memcpy(group_bytes + piece->offset, bytes_of(live, piece), extent_of(live, piece)->size);
  }
}
