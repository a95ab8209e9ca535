/* What a tile needs: follows relocations from the roots, then lays the reached sections out.
 *
 * The layout depends only on the set of reached sections, not on the order in which they were
 * reached or in which the roots were given: sections keep the order of objects in the set and
 * of sections in an object. So tiles that need the same functions get the same bytes, and the
 * machine translates them once.
 *
 * Work and memory are proportional to what is reached: a graph may have thousands of sets of live
 * sections over a link set of a thousand objects.
 */
#include "live_sections.h"
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

typedef struct reach {
  pop_live_sections *live;
  const char *const *roots;
  const char *const *needed_by;
} reach;

/* Sections by number. */

static live_slot *slot_of(const pop_live_sections *live, uint32_t section)
{
  uint32_t at = section * 2654435761u; /* 2^32 / golden ratio: spreads neighbours */
  for (;; ++at) {
    live_slot *slot = &live->slots[at & (live->slots_capacity - 1)];
    if (slot->index == OBJECT_NONE || slot->section == section) return slot;
  }
}

static void index_sections(pop_live_sections *live)
{
  memset(live->slots, 0xff, live->slots_capacity * sizeof *live->slots);
  for (uint32_t i = 0; i < live->num_sections; ++i) {
    const live_section *kept = &live->sections[i];
    *slot_of(live, kept->section) = (live_slot){kept->section, i};
    for (uint32_t j = 0; j < kept->num_folded; ++j) {
      uint32_t section = live->folded[kept->first_folded + j];
      *slot_of(live, section) = (live_slot){section, i};
    }
  }
}

static void grow_slots(pop_live_sections *live)
{
  live->slots_capacity = live->slots_capacity ? live->slots_capacity * 2 : 64;
  live->slots = pop_xrealloc(live->slots, live->slots_capacity, sizeof *live->slots);
  index_sections(live);
}

const live_section *live_sections_find(const pop_live_sections *live, uint32_t section)
{
  uint32_t found = slot_of(live, section)->index;
  return found == OBJECT_NONE ? NULL : &live->sections[found];
}

/* Reaching. */

static const char *root_name(const reach *reach, uint32_t root)
{
  return reach->needed_by && reach->needed_by[root] ? reach->needed_by[root] : reach->roots[root];
}

/* The function that the first entry of a list of start-up functions names. */
static const char *constructor_name(const pop_object *object)
{
  const object_section *list = &object->sections[object->constructors];
  if (list->num_relocations == 0) return "unnamed";
  const object_relocation *entry = &object->relocations[list->first_relocation];
  const object_symbol *symbol = &object->symbols[entry->symbol];
  if (entry->symbol == 0 || symbol->place != PLACE_SECTION || symbol->type != STT_SECTION)
    return symbol->name;
  return object_name_at(object, symbol->section, entry->addend);
}

/* Constructors of globals would have to run before the first vertex. An object whose sections are
 * used may rely on them. So it is refused, rather than run with globals of value zero. */
static pop_error *check_constructors(const reach *reach, const live_section *section)
{
  const set_object *owner = link_set_owner(reach->live->set, section->section);
  uint32_t list = owner->object->constructors;
  if (list == OBJECT_NONE ||
      link_set_keeper(reach->live->set, owner->first_section + list) != owner)
    return NULL;
  return pop_error_new(POP_ERROR_LINK,
                       "%s needs the start-up function %s (constructor of a global variable), for "
                       "%s: tile code has no start-up; make the variable constexpr or constinit, "
                       "or a local variable or a field of the vertex",
                       owner->object->name, constructor_name(owner->object),
                       root_name(reach, section->root));
}

static pop_error *check_section(const reach *reach, const link_target *target, const char *referrer,
                                uint32_t root)
{
  const pop_link_set *set = reach->live->set;
  const set_object *owner = link_set_owner(set, target->section);
  const object_section *section = link_set_section(set, target->section);
  const set_object *keeper = link_set_keeper(set, target->section);
  if (keeper != owner) {
    return pop_error_new(POP_ERROR_LINK,
                         "%s, for %s, refers to section %s of %s, which was discarded because %s "
                         "has the same COMDAT group",
                         referrer, root_name(reach, root), section->name, owner->object->name,
                         keeper->object->name);
  }
  if (object_section_group(section) == POP_LINK_GROUP_COUNT) {
    return pop_error_new(POP_ERROR_LINK,
                         "%s, for %s, refers to section %s of %s, which is not loaded", referrer,
                         root_name(reach, root), section->name, owner->object->name);
  }
  return NULL;
}

static pop_error *reach_section(const reach *reach, const link_target *target, const char *referrer,
                                uint32_t root)
{
  pop_live_sections *live = reach->live;
  if (live->num_sections * 2 >= live->slots_capacity) grow_slots(live);
  live_slot *slot = slot_of(live, target->section);
  if (slot->index != OBJECT_NONE) return NULL;
  POP_TRY(check_section(reach, target, referrer, root));
  const object_section *section = link_set_section(live->set, target->section);
  live_section reached = {
      .section = target->section, .root = root, .group = object_section_group(section)};
  POP_TRY(check_constructors(reach, &reached));
  *slot = (live_slot){target->section, (uint32_t)live->num_sections};
  pop_push(live->sections, live->num_sections, live->sections_capacity, reached);
  return NULL;
}

static pop_error *reach_target(const reach *reach, const link_target *target, uint32_t addend,
                               const char *referrer, uint32_t root)
{
  if (target->kind != TARGET_SECTION) return NULL;
  POP_TRY(reach_section(reach, target, referrer, root));
  if (live_sections_is_cut(reach->live, target->section))
    live_sections_add_piece(reach->live, target, addend);
  return NULL;
}

static pop_error *follow(const reach *reach, live_section from)
{
  const pop_link_set *set = reach->live->set;
  uint32_t object = set->section_owners[from.section];
  const pop_object *owner = set->objects[object].object;
  uint32_t index = from.section - set->objects[object].first_section;
  const object_section *section = &owner->sections[index];
  for (uint32_t i = 0; i < section->num_relocations; ++i) {
    const object_relocation *entry = &owner->relocations[section->first_relocation + i];
    if (entry->type->value == VALUE_NONE) continue;
    link_target target = link_set_resolve(set, object, entry->symbol);
    if (target.kind == TARGET_UNDEFINED) {
      return undefined_symbol(target.name, owner, index, entry->offset,
                              root_name(reach, from.root));
    }
    POP_TRY(reach_target(reach, &target, entry->addend, owner->name, from.root));
  }
  return NULL;
}

static pop_error *reach_all(const reach *reach, size_t num_roots)
{
  pop_live_sections *live = reach->live;
  for (uint32_t i = 0; i < num_roots; ++i) {
    link_target target = link_set_find(live->set, reach->roots[i]);
    if (target.kind == TARGET_UNDEFINED)
      return undefined_symbol(reach->roots[i], NULL, 0, 0, root_name(reach, i));
    POP_TRY(reach_target(reach, &target, 0, reach->roots[i], i));
  }
  for (size_t i = 0; i < live->num_sections; ++i) /* grows while it is followed */
    POP_TRY(follow(reach, live->sections[i]));
  return NULL;
}

/* Order, and one of each set of equal sections. */

static bool is_library_code(const pop_link_set *set, const live_section *section)
{
  return section->group == POP_LINK_CODE && link_set_owner(set, section->section)->library;
}

static int compare_layout(const void *left, const void *right, void *context)
{
  const live_section *a = left, *b = right;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  bool a_library = is_library_code(context, a), b_library = is_library_code(context, b);
  if (a_library != b_library) return a_library ? 1 : -1;
  bool a_zeros = !link_set_section(context, a->section)->data;
  bool b_zeros = !link_set_section(context, b->section)->data;
  if (a_zeros != b_zeros) return a_zeros ? 1 : -1;
  return (a->section > b->section) - (a->section < b->section);
}

static void order_sections(pop_live_sections *live)
{
  if (live->num_sections) {
    qsort_r(live->sections, live->num_sections, sizeof *live->sections, compare_layout,
            (void *)live->set);
  }
  index_sections(live);
}

/* Removes from `sections` those that share the copy of an earlier one. */
static void fold_sections(pop_live_sections *live)
{
  uint32_t *first = live_sections_fold(live);
  size_t kept = 0;
  for (uint32_t i = 0; i < live->num_sections; ++i) {
    if (first[i] != i) ++live->sections[first[i]].num_folded;
  }
  uint32_t behind = 0;
  for (uint32_t i = 0; i < live->num_sections; ++i) {
    live->sections[i].first_folded = behind;
    behind += live->sections[i].num_folded;
  }
  live->folded = pop_xcalloc(behind + 1, sizeof *live->folded);
  for (uint32_t i = 0; i < live->num_sections; ++i) {
    if (first[i] != i)
      live->folded[live->sections[first[i]].first_folded++] = live->sections[i].section;
  }
  for (uint32_t i = 0; i < live->num_sections; ++i) {
    if (first[i] != i) continue;
    live->sections[kept] = live->sections[i];
    live->sections[kept].first_folded -= live->sections[kept].num_folded;
    ++kept;
  }
  live->num_sections = kept;
  free(first);
}

/* Layout. */

static bool has_bytes(const pop_live_sections *live, const live_section *section)
{
  return !live_sections_is_cut(live, section->section);
}

static pop_error *too_large(const reach *reach, const live_section *section, uint64_t bytes)
{
  const pop_link_set *set = reach->live->set;
  return pop_error_new(POP_ERROR_LINK,
                       "section %s of %s, for %s, makes code or data of %llu bytes, more than any "
                       "tile's memory",
                       link_set_section(set, section->section)->name,
                       link_set_owner(set, section->section)->object->name,
                       root_name(reach, section->root), (unsigned long long)bytes);
}

enum { GROUP_ALIGN = 4 };

/* If the section is the first library code, that code begins here, at a place where a
 * group could begin. */
static uint64_t start_library(pop_live_sections *live, const live_section *section, uint64_t end)
{
  if (live->has_library_code || !is_library_code(live->set, section)) return end;
  uint64_t align = link_set_section(live->set, section->section)->align;
  if (align < GROUP_ALIGN) align = GROUP_ALIGN;
  live->has_library_code = true;
  end = (end + align - 1) & ~(align - 1);
  live->library_code = (uint32_t)end;
  return end;
}

static pop_error *lay_out_group(const reach *reach, pop_link_group group)
{
  pop_live_sections *live = reach->live;
  uint64_t end = 0;
  uint64_t limit = group == POP_LINK_TLS ? OBJECT_TLS_BYTES_MAX : OBJECT_SECTION_BYTES_MAX;
  live->align[group] = GROUP_ALIGN;
  for (uint32_t i = live->first[group]; i < live->first[group + 1]; ++i) {
    const object_section *section = link_set_section(live->set, live->sections[i].section);
    if (!has_bytes(live, &live->sections[i])) continue;
    if (section->align > live->align[group]) live->align[group] = section->align;
    end = start_library(live, &live->sections[i], end);
    end = (end + section->align - 1) & ~((uint64_t)section->align - 1);
    live->sections[i].offset = (uint32_t)end;
    end += section->size;
    if (end > limit) return too_large(reach, &live->sections[i], end);
  }
  if (group == POP_LINK_RODATA) end = live_sections_lay_out_pieces(live, end, &live->align[group]);
  if (end > OBJECT_SECTION_BYTES_MAX)
    return too_large(reach, &live->sections[live->first[group]], end);
  live->bytes[group] = (uint32_t)end;
  return NULL;
}

static pop_error *lay_out(const reach *reach)
{
  pop_live_sections *live = reach->live;
  for (size_t i = 0; i < live->num_sections; ++i) ++live->first[live->sections[i].group + 1];
  for (int group = 0; group < POP_LINK_GROUP_COUNT; ++group) {
    live->first[group + 1] += live->first[group];
    POP_TRY(lay_out_group(reach, (pop_link_group)group));
  }
  return NULL;
}

pop_error *pop_live_sections_create(const pop_link_set *set, const char *const *roots,
                                    const char *const *needed_by, size_t count,
                                    pop_live_sections **live)
{
  pop_live_sections *made = pop_xcalloc(1, sizeof *made);
  made->set = set;
  grow_slots(made);
  reach reach = {made, roots, needed_by};
  pop_error *error = reach_all(&reach, count);
  if (!error) {
    order_sections(made);
    live_sections_merge(made);
    if (!set->keep_duplicates) fold_sections(made);
    index_sections(made);
    error = lay_out(&reach);
  }
  if (error) {
    pop_live_sections_free(made);
    return error;
  }
  *live = made;
  return NULL;
}

void pop_live_sections_free(pop_live_sections *live)
{
  if (!live) return;
  free(live->sections);
  free(live->slots);
  free(live->folded);
  free(live->pieces);
  free(live->kept_pieces);
  free(live->pools);
  free(live);
}

uint32_t pop_live_sections_group_bytes(const pop_live_sections *live, pop_link_group group)
{
  return live->bytes[group];
}

uint32_t pop_live_sections_library_code(const pop_live_sections *live)
{
  return live->has_library_code ? live->library_code : live->bytes[POP_LINK_CODE];
}

uint32_t pop_live_sections_group_align(const pop_live_sections *live, pop_link_group group)
{
  return live->align[group];
}

void pop_live_sections_notes(const pop_live_sections *live, const char *name,
                             void (*visit)(void *context, const void *bytes, size_t size),
                             void *context)
{
  const pop_link_set *set = live->set;
  bool *is_used = pop_xcalloc(set->num_objects + 1, sizeof *is_used);
  for (size_t i = 0; i < live->num_sections; i++)
    is_used[set->section_owners[live->sections[i].section]] = true;
  for (size_t i = 0; i < live->num_pieces; i++)
    is_used[set->section_owners[live->pieces[i].section]] = true;
  for (size_t i = 0; i < set->num_objects; i++) {
    size_t size;
    const void *bytes = is_used[i] ? pop_object_section(set->objects[i].object, name, &size) : NULL;
    if (bytes) visit(context, bytes, size);
  }
  free(is_used);
}
