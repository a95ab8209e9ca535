/* Constants and strings of mergeable sections: of equal ones a closure holds one.
 *
 *   pieces referred to ──sort, each once──> pieces ──by content──> kept ones ──> pools in RODATA
 *
 * Only pieces with the same demands (alignment, size of a character or constant, string or not) can
 * share a copy; the kept ones of the same demands lie together, a pool. Strings are compared from
 * their ends and longer ones come first, so that a string which is the tail of others comes right
 * behind one of them:
 *
 *   "undeterred", "deterred", "red", "green"   the second and third are tails of the first
 *
 * The order in a pool is that of the set, whatever the strings: it depends on what is referred to,
 * and not on who does so first.
 */
#include "closure.h"
#include <populus/arena.h>
#include <string.h>

bool closure_is_cut(const pop_closure *closure, uint32_t section)
{
  return !closure->set->keep_duplicates && link_set_section(closure->set, section)->num_pieces;
}

/* The piece that a reference means is the one around its symbol or, if the symbol stands for the
 * section, around symbol and addend; a place outside of the section is near the symbol. */
static uint32_t piece_of(const pop_closure *closure, const link_target *target, uint32_t addend)
{
  const object_section *section = link_set_section(closure->set, target->section);
  uint32_t offset = target->value;
  if (target->whole_section && offset + addend < section->size) offset += addend;
  return object_piece_at(link_set_owner(closure->set, target->section)->object, section, offset);
}

void closure_add_piece(pop_closure *closure, const link_target *target, uint32_t addend)
{
  pop_push(closure->pieces, closure->num_pieces, closure->pieces_capacity,
           (closure_piece){.section = target->section, .piece = piece_of(closure, target, addend)});
}

/* Pieces by place. */

static int compare_places(const void *left, const void *right)
{
  const closure_piece *a = left, *b = right;
  if (a->section != b->section) return a->section < b->section ? -1 : 1;
  return (a->piece > b->piece) - (a->piece < b->piece);
}

static void remove_duplicates(pop_closure *closure)
{
  qsort(closure->pieces, closure->num_pieces, sizeof *closure->pieces, compare_places);
  size_t count = 0;
  for (size_t i = 0; i < closure->num_pieces; ++i) {
    if (count == 0 || compare_places(&closure->pieces[count - 1], &closure->pieces[i]) != 0)
      closure->pieces[count++] = closure->pieces[i];
  }
  closure->num_pieces = count;
}

static uint32_t find_piece(const pop_closure *closure, uint32_t section, uint32_t piece)
{
  const closure_piece wanted = {.section = section, .piece = piece};
  const closure_piece *found =
      closure->num_pieces
          ? bsearch(&wanted, closure->pieces, closure->num_pieces, sizeof wanted, compare_places)
          : NULL;
  return found ? (uint32_t)(found - closure->pieces) : OBJECT_NONE;
}

closure_reference closure_refer(const pop_closure *closure, const link_target *target,
                                uint32_t addend)
{
  uint32_t offset = target->value + addend;
  if (!closure_is_cut(closure, target->section)) return (closure_reference){OBJECT_NONE, offset};
  uint32_t piece = piece_of(closure, target, addend);
  offset -= link_set_owner(closure->set, target->section)->object->pieces[piece].start;
  return (closure_reference){find_piece(closure, target->section, piece), offset};
}

bool closure_resolve(const pop_closure *closure, const link_target *target, uint32_t addend,
                     pop_link_group *group, uint32_t *offset)
{
  closure_reference place = closure_refer(closure, target, addend);
  *offset = place.offset;
  if (place.piece != OBJECT_NONE) {
    const closure_piece *piece = &closure->pieces[place.piece];
    *group = POP_LINK_RODATA;
    *offset += closure->pieces[piece->kept].offset + piece->shift;
    return true;
  }
  const closure_section *section = closure_find(closure, target->section);
  if (!section || closure_is_cut(closure, target->section)) return false;
  *group = section->group;
  *offset += section->offset;
  return true;
}

/* Pieces by content. */

static const object_section *section_of(const pop_closure *closure, const closure_piece *piece)
{
  return link_set_section(closure->set, piece->section);
}

static const object_piece *extent_of(const pop_closure *closure, const closure_piece *piece)
{
  return &link_set_owner(closure->set, piece->section)->object->pieces[piece->piece];
}

static const uint8_t *bytes_of(const pop_closure *closure, const closure_piece *piece)
{
  return section_of(closure, piece)->data + extent_of(closure, piece)->start;
}

/* What pieces have to have in common: strictest alignment first, as that leaves no gaps. */
static int compare_demands(const object_section *a, const object_section *b)
{
  if (a->align != b->align) return a->align > b->align ? -1 : 1;
  if (a->entry_bytes != b->entry_bytes) return a->entry_bytes > b->entry_bytes ? -1 : 1;
  uint32_t a_strings = a->flags & SHF_STRINGS, b_strings = b->flags & SHF_STRINGS;
  return (a_strings > b_strings) - (a_strings < b_strings);
}

/* From the end; of a text and its tail the text comes first. */
static int compare_backwards(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size)
{
  uint32_t common = a_size < b_size ? a_size : b_size;
  for (uint32_t i = 1; i <= common; ++i)
    if (a[a_size - i] != b[b_size - i]) return a[a_size - i] < b[b_size - i] ? -1 : 1;
  return (a_size < b_size) - (a_size > b_size);
}

static int compare_contents(const void *left, const void *right, void *context)
{
  const pop_closure *closure = context;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  const closure_piece *a = &closure->pieces[i], *b = &closure->pieces[j];
  int order = compare_demands(section_of(closure, a), section_of(closure, b));
  if (order == 0) {
    order = compare_backwards(bytes_of(closure, a), extent_of(closure, a)->size,
                              bytes_of(closure, b), extent_of(closure, b)->size);
  }
  return order ? order : (i > j) - (i < j);
}

/* Can `piece` be the end of `kept`, which is as long or longer? */
static bool is_tail(const pop_closure *closure, const closure_piece *piece,
                    const closure_piece *kept)
{
  const object_section *section = section_of(closure, piece);
  uint32_t size = extent_of(closure, piece)->size, kept_size = extent_of(closure, kept)->size;
  return compare_demands(section, section_of(closure, kept)) == 0 && size <= kept_size &&
         (kept_size - size) % section->align == 0 &&
         memcmp(bytes_of(closure, piece), bytes_of(closure, kept) + (kept_size - size), size) == 0;
}

static int compare_layout(const void *left, const void *right, void *context)
{
  const pop_closure *closure = context;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  int order = compare_demands(section_of(closure, &closure->pieces[i]),
                              section_of(closure, &closure->pieces[j]));
  return order ? order : (i > j) - (i < j);
}

void closure_merge(pop_closure *closure)
{
  if (closure->num_pieces == 0) return;
  remove_duplicates(closure);
  uint32_t *order = pop_xcalloc(closure->num_pieces, sizeof *order);
  for (uint32_t i = 0; i < closure->num_pieces; ++i) order[i] = i;
  qsort_r(order, closure->num_pieces, sizeof *order, compare_contents, closure);
  size_t count = 0;
  for (size_t i = 0; i < closure->num_pieces; ++i) {
    closure_piece *piece = &closure->pieces[order[i]];
    const closure_piece *last = count ? &closure->pieces[order[count - 1]] : NULL;
    if (last && is_tail(closure, piece, last)) {
      piece->kept = order[count - 1];
      piece->shift = extent_of(closure, last)->size - extent_of(closure, piece)->size;
    } else {
      piece->kept = order[i];
      order[count++] = order[i];
    }
  }
  qsort_r(order, count, sizeof *order, compare_layout, closure);
  closure->kept_pieces = order;
  closure->num_kept_pieces = count;
}

/* Pools. */

uint64_t closure_lay_out_pieces(pop_closure *closure, uint64_t end, uint32_t *align)
{
  for (size_t i = 0; i < closure->num_kept_pieces; ++i) {
    closure_piece *piece = &closure->pieces[closure->kept_pieces[i]];
    const object_section *section = section_of(closure, piece);
    if (section->align > *align) *align = section->align;
    end = (end + section->align - 1) & ~((uint64_t)section->align - 1);
    closure_pool *pool = closure->num_pools ? &closure->pools[closure->num_pools - 1] : NULL;
    if (!pool || compare_demands(link_set_section(closure->set, pool->section), section) != 0) {
      pop_push(closure->pools, closure->num_pools, closure->pools_capacity,
               (closure_pool){.section = piece->section, .offset = (uint32_t)end});
      pool = &closure->pools[closure->num_pools - 1];
    }
    piece->offset = (uint32_t)end;
    end += extent_of(closure, piece)->size;
    pool->bytes = (uint32_t)end - pool->offset;
    if (end > OBJECT_SECTION_BYTES_MAX) break; /* the caller reports it */
  }
  return end;
}

void closure_write_pieces(const pop_closure *closure, uint8_t *group_bytes)
{
  for (size_t i = 0; i < closure->num_kept_pieces; ++i) {
    const closure_piece *piece = &closure->pieces[closure->kept_pieces[i]];
    memcpy(group_bytes + piece->offset, bytes_of(closure, piece), extent_of(closure, piece)->size);
  }
}
