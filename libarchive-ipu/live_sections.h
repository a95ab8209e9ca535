/* Live sections as the linker's own files see it (public view: populus/link.h).
 *
 *   set, roots ──live_sections.c──> reached sections and pieces, in the order of the layout
 *              ──live_merge.c──> of equal pieces one
 *              ──live_fold.c──> of equal sections one
 *              ──live_sections.c──> laid out in their groups
 *              ──relocate.c──> bytes in tile memory        (relocation.c: types and fields)
 *              ──live_symbols.c──> names and addresses
 *              ──live_debug.c──> debug information at these addresses
 */
#ifndef POPULUS_LIVE_SECTIONS_H
#define POPULUS_LIVE_SECTIONS_H

#include "link_set.h"

typedef struct live_section {
  uint32_t section; /* of the set */
  uint32_t root;    /* index of the root that led here first, for messages */
  uint32_t offset;  /* in its group; nothing of a section that is cut into pieces */
  pop_link_group group;
  uint32_t first_folded, num_folded; /* of `folded`: sections that share this copy */
} live_section;

/* A reached piece of a section with pieces; always in POP_LINK_RODATA. */
typedef struct live_piece {
  uint32_t section; /* of the set */
  uint32_t piece;   /* of its object */
  uint32_t kept;    /* index in `pieces` of the one whose copy serves, maybe itself … */
  uint32_t shift;   /* … from this byte on: a string may be the tail of another */
  uint32_t offset;  /* in its group; of those that are kept */
} live_piece;

/* A run of kept pieces with equal demands: one name for all. */
typedef struct live_pool {
  uint32_t section;       /* of the set: that of its first piece */
  uint32_t offset, bytes; /* in POP_LINK_RODATA */
} live_pool;

typedef struct live_slot {
  uint32_t section, index; /* index in `sections`, OBJECT_NONE: free */
} live_slot;

struct pop_live_sections {
  const pop_link_set *set;
  live_section *sections; /* by group; within one, code of libraries last, content before zeros,
                              * then as in the set */
  size_t num_sections, sections_capacity;
  live_slot *slots; /* section of the set -> the copy that serves: open addressing */
  size_t slots_capacity;
  uint32_t *folded; /* sections of the set, by the section whose copy serves */
  size_t num_folded, folded_capacity;
  live_piece *pieces; /* by section, then piece */
  size_t num_pieces, pieces_capacity;
  uint32_t *kept_pieces; /* in the order of the layout */
  size_t num_kept_pieces;
  live_pool *pools;
  size_t num_pools, pools_capacity;
  uint32_t first[POP_LINK_GROUP_COUNT + 1]; /* sections[first[g]] to [first[g + 1] - 1] */
  uint32_t bytes[POP_LINK_GROUP_COUNT];
  uint32_t align[POP_LINK_GROUP_COUNT];
  bool has_library_code;
  uint32_t library_code; /* offset in CODE */
};

/* The copy that serves for a section; NULL if the live sections do not hold it. */
const live_section *live_sections_find(const pop_live_sections *live, uint32_t section);

/* The place `addend` bytes after a symbol in a section. In a section with pieces it is relative to
 * a piece. `piece` is the index in live->pieces; it is OBJECT_NONE if the live sections do not hold
 * the piece or if the section has no pieces. `offset` may lie outside of section or piece. */
typedef struct live_reference {
  uint32_t piece;
  uint32_t offset;
} live_reference;
live_reference live_sections_refer(const pop_live_sections *live, const link_target *target,
                                   uint32_t addend);
/* Where that is in a group; false if the live sections do not hold it. */
bool live_sections_resolve(const pop_live_sections *live, const link_target *target,
                           uint32_t addend, pop_link_group *group, uint32_t *offset);

bool live_sections_is_cut(const pop_live_sections *live,
                          uint32_t section); /* does it have pieces? */
void live_sections_add_piece(pop_live_sections *live, const link_target *target, uint32_t addend);
/* Orders the pieces and finds out which are kept, in which order. */
void live_sections_merge(pop_live_sections *live);
/* Gives addresses in the group to the kept pieces, from `end` on; returns their end. */
uint64_t live_sections_lay_out_pieces(pop_live_sections *live, uint64_t end, uint32_t *align);
void live_sections_write_pieces(const pop_live_sections *live, uint8_t *group_bytes);

/* For each of live->sections, which are in layout order, the first section that may share its copy;
 * itself if no earlier one may. Freed by the caller. */
uint32_t *live_sections_fold(const pop_live_sections *live);

/* "undefined symbol …, needed by …, for …" and the way out, if there is one. The reference is at
 * `offset` in a section of `object`; NULL if it is the root itself. Without `object`, `root` is
 * needed; otherwise NULL leaves it out. */
POP_MUST_CHECK pop_error *undefined_symbol(const char *symbol, const pop_object *object,
                                           uint32_t section, uint32_t offset, const char *root);

#endif
