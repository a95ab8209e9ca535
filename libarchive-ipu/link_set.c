/* Adds objects to a link set: numbers sections, resolves symbols and COMDAT groups once for all
 * tiles. See link_set.h; the rules are those of the System V ABI ("Symbol Table", "Section
 * Groups"), with library objects behaving as members of an archive. */
#include "link_set.h"
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

pop_link_set *pop_link_set_new(void)
{
  return pop_xcalloc(1, sizeof(pop_link_set));
}

void pop_link_set_free(pop_link_set *set)
{
  if (!set) return;
  for (size_t i = 0; i < set->num_objects; ++i) {
    free(set->objects[i].symbols);
    free(set->objects[i].groups);
  }
  free(set->objects);
  free(set->section_owners);
  free(set->symbols);
  free(set->groups);
  pop_name_table_free(&set->symbol_names);
  pop_name_table_free(&set->group_names);
  free(set);
}

static void add_sections(pop_link_set *set, uint32_t object)
{
  set_object *added = &set->objects[object];
  added->first_section = (uint32_t)set->num_sections;
  for (uint32_t i = 0; i < added->object->num_sections; ++i)
    pop_push(set->section_owners, set->num_sections, set->sections_capacity, object);
}

/* The first group with a signature is kept. A program's group takes precedence over a library's. */
static uint32_t add_group(pop_link_set *set, uint32_t object, uint32_t group)
{
  const char *signature = set->objects[object].object->groups[group].signature;
  uint32_t found = pop_name_table_find(&set->group_names, signature);
  if (found == POP_NAME_NONE) {
    found = (uint32_t)set->num_groups;
    pop_name_table_add(&set->group_names, signature, found);
    pop_push(set->groups, set->num_groups, set->groups_capacity, (set_group){object, group});
  } else if (set->objects[set->groups[found].object].library && !set->objects[object].library) {
    set->groups[found] = (set_group){object, group};
  }
  return found;
}

static void add_groups(pop_link_set *set, uint32_t object)
{
  uint32_t count = set->objects[object].object->num_groups;
  set->objects[object].groups = pop_xcalloc(count, sizeof(uint32_t));
  for (uint32_t i = 0; i < count; ++i) set->objects[object].groups[i] = add_group(set, object, i);
}

const set_object *link_set_owner(const pop_link_set *set, uint32_t section)
{
  return &set->objects[set->section_owners[section]];
}

const object_section *link_set_section(const pop_link_set *set, uint32_t section)
{
  const set_object *owner = link_set_owner(set, section);
  return &owner->object->sections[section - owner->first_section];
}

const set_object *link_set_keeper(const pop_link_set *set, uint32_t section)
{
  const set_object *owner = link_set_owner(set, section);
  uint32_t group = link_set_section(set, section)->group;
  return group == OBJECT_NONE ? owner : &set->objects[set->groups[owner->groups[group]].object];
}

static definition_rank rank_of(const pop_link_set *set, uint32_t object,
                               const object_symbol *symbol)
{
  const set_object *owner = &set->objects[object];
  if (symbol->place == PLACE_UNDEFINED) return RANK_UNDEFINED;
  if (symbol->place == PLACE_SECTION &&
      link_set_keeper(set, owner->first_section + symbol->section) != owner)
    return RANK_UNDEFINED; /* discarded with its group */
  if (owner->library) return RANK_LIBRARY;
  if (symbol->common) return RANK_COMMON;
  return symbol->bind == STB_WEAK ? RANK_WEAK : RANK_STRONG;
}

static const object_symbol *definition(const pop_link_set *set, const set_symbol *symbol)
{
  return &set->objects[symbol->object].object->symbols[symbol->symbol];
}

static uint32_t intern_symbol(pop_link_set *set, const char *name)
{
  uint32_t found = pop_name_table_find(&set->symbol_names, name);
  if (found == POP_NAME_NONE) {
    found = (uint32_t)set->num_symbols;
    pop_name_table_add(&set->symbol_names, name, found);
    pop_push(set->symbols, set->num_symbols, set->symbols_capacity, (set_symbol){.name = name});
  }
  return found;
}

static char *say_place(const pop_object *object, const object_symbol *symbol)
{
  return symbol->place == PLACE_SECTION ? object_say_place(object, symbol->section, symbol->value)
                                        : pop_xstrdup(object->name);
}

static pop_error *defined_twice(const pop_link_set *set, const set_symbol *symbol, uint32_t object,
                                const object_symbol *again)
{
  char *first = say_place(set->objects[symbol->object].object, definition(set, symbol));
  char *second = say_place(set->objects[object].object, again);
  pop_error *error = pop_error_new(
      POP_ERROR_LINK, "%s is defined in %s and in %s: rename one, or make one static or weak",
      symbol->name, first, second);
  free(first);
  free(second);
  return error;
}

static pop_error *define_symbol(pop_link_set *set, set_symbol *symbol, uint32_t object,
                                uint32_t index)
{
  const object_symbol *candidate = &set->objects[object].object->symbols[index];
  definition_rank rank = rank_of(set, object, candidate);
  if (rank == RANK_STRONG && symbol->rank == RANK_STRONG)
    return defined_twice(set, symbol, object, candidate);
  bool larger = rank == RANK_COMMON && symbol->rank == RANK_COMMON &&
                candidate->size > definition(set, symbol)->size;
  if (rank > symbol->rank || larger) {
    symbol->object = object;
    symbol->symbol = index;
    symbol->rank = rank;
  }
  return NULL;
}

static pop_error *add_symbols(pop_link_set *set, uint32_t object)
{
  const pop_object *added = set->objects[object].object;
  uint32_t *symbols = pop_xcalloc(added->num_symbols, sizeof *symbols);
  set->objects[object].symbols = symbols;
  for (uint32_t i = 0; i < added->num_symbols; ++i) {
    symbols[i] = OBJECT_NONE;
    if (added->symbols[i].bind == STB_LOCAL) continue;
    symbols[i] = intern_symbol(set, added->symbols[i].name);
    POP_TRY(define_symbol(set, &set->symbols[symbols[i]], object, i));
  }
  return NULL;
}

pop_error *pop_link_set_add(pop_link_set *set, const pop_object *object, bool library)
{
  uint32_t index = (uint32_t)set->num_objects;
  pop_push(set->objects, set->num_objects, set->objects_capacity,
           (set_object){.object = object, .library = library});
  add_sections(set, index);
  add_groups(set, index);
  return add_symbols(set, index);
}

void pop_link_set_define(pop_link_set *set, const char *name, uint32_t value)
{
  uint32_t index = intern_symbol(set, name);
  set->symbols[index].rank = RANK_GIVEN;
  set->symbols[index].value = value;
}

void pop_link_set_keep_duplicates(pop_link_set *set)
{
  set->keep_duplicates = true;
}

static link_target target_of(const pop_link_set *set, uint32_t object, const object_symbol *symbol)
{
  link_target target = {.value = symbol->value,
                        .size = symbol->size,
                        .whole_section = symbol->type == STT_SECTION,
                        .name = symbol->name};
  switch ((object_place)symbol->place) {
  case PLACE_SECTION:
    target.kind = TARGET_SECTION;
    target.section = set->objects[object].first_section + symbol->section;
    break;
  case PLACE_ABSOLUTE:
    target.kind = TARGET_ABSOLUTE;
    break;
  case PLACE_UNDEFINED:
    target.kind = TARGET_UNDEFINED;
    break;
  }
  return target;
}

static link_target target_of_global(const pop_link_set *set, const set_symbol *symbol)
{
  if (symbol->rank == RANK_UNDEFINED)
    return (link_target){.kind = TARGET_UNDEFINED, .name = symbol->name};
  if (symbol->rank == RANK_GIVEN)
    return (link_target){.kind = TARGET_ABSOLUTE, .value = symbol->value, .name = symbol->name};
  return target_of(set, symbol->object, definition(set, symbol));
}

link_target link_set_find(const pop_link_set *set, const char *name)
{
  uint32_t found = pop_name_table_find(&set->symbol_names, name);
  if (found == POP_NAME_NONE) return (link_target){.kind = TARGET_UNDEFINED, .name = name};
  return target_of_global(set, &set->symbols[found]);
}

/* Symbol 0 means "no symbol" in a relocation: its value is 0. A weak symbol that nothing defines
 * has the value 0, too. A program tests it before use (`if (f) f();`). One that does not test it
 * jumps to address 0, where no tile has memory, and ends in a fault that names the vertex. */
link_target link_set_resolve(const pop_link_set *set, uint32_t object, uint32_t symbol)
{
  const set_object *owner = &set->objects[object];
  if (symbol == 0) return (link_target){.kind = TARGET_ABSOLUTE, .name = ""};
  const object_symbol *local = &owner->object->symbols[symbol];
  if (owner->symbols[symbol] == OBJECT_NONE) return target_of(set, object, local);
  link_target target = target_of_global(set, &set->symbols[owner->symbols[symbol]]);
  if (target.kind == TARGET_UNDEFINED && local->bind == STB_WEAK) target.kind = TARGET_ABSOLUTE;
  return target;
}

bool pop_link_set_defines(const pop_link_set *set, const char *symbol)
{
  return link_set_find(set, symbol).kind != TARGET_UNDEFINED;
}
