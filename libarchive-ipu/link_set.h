/* A link set, as the linker's own files see it (public view: populus/link.h).
 *
 *   objects ──link_set.c──> one numbering of sections, one table of symbols, one of COMDAT groups
 *
 * "Section 17 of the set" is section 17 - first_section of the object that owns it. A set does not
 * change after its last object was added. Then any number of threads may make live sections of it.
 */
#ifndef POPULUS_LINK_SET_H
#define POPULUS_LINK_SET_H

#include "object.h"
#include <populus/names.h>

/* The definition with the highest rank is used; within a rank, that of the first object. */
typedef enum definition_rank {
  RANK_UNDEFINED,
  RANK_LIBRARY, /* weak or strong: as an archive member that nobody needed would not count */
  RANK_WEAK,
  RANK_COMMON, /* among these the largest */
  RANK_STRONG, /* there may be only one */
  RANK_GIVEN   /* by pop_link_set_define: a number, in no object */
} definition_rank;

typedef struct set_symbol {
  const char *name;
  uint32_t object, symbol; /* where it is defined, unless RANK_UNDEFINED or RANK_GIVEN */
  uint32_t value;          /* RANK_GIVEN */
  definition_rank rank;
} set_symbol;

typedef struct set_group {
  uint32_t object, group; /* the one that is kept */
} set_group;

typedef struct set_object {
  const pop_object *object;
  uint32_t first_section;
  uint32_t *symbols; /* object's symbol -> set's symbol; OBJECT_NONE for local ones */
  uint32_t *groups;  /* object's group -> set's group */
  bool library;
} set_object;

struct pop_link_set {
  set_object *objects;
  size_t num_objects, objects_capacity;
  uint32_t *section_owners; /* section of the set -> object */
  size_t num_sections, sections_capacity;
  set_symbol *symbols;
  size_t num_symbols, symbols_capacity;
  set_group *groups;
  size_t num_groups, groups_capacity;
  pop_name_table symbol_names, group_names;
  bool keep_duplicates;
};

/* What a symbol of an object stands for in the set. */
typedef enum link_target_kind {
  TARGET_SECTION,  /* `value` bytes into `section` */
  TARGET_ABSOLUTE, /* the number `value`; 0 for a weak symbol that nothing defines */
  TARGET_UNDEFINED
} link_target_kind;

typedef struct link_target {
  link_target_kind kind;
  uint32_t section; /* of the set */
  uint32_t value, size;
  bool
      whole_section; /* the symbol stands for the section: value + addend says what is meant in it */
  const char *name;
} link_target;

link_target link_set_resolve(const pop_link_set *set, uint32_t object, uint32_t symbol);
/* The definition of a global symbol. */
link_target link_set_find(const pop_link_set *set, const char *name);

const set_object *link_set_owner(const pop_link_set *set, uint32_t section);
const object_section *link_set_section(const pop_link_set *set, uint32_t section);
/* The object whose copy of the section's COMDAT group is kept; the owner itself if there is none. */
const set_object *link_set_keeper(const pop_link_set *set, uint32_t section);

#endif
