/* Names of what the live sections hold, and the section at an address. See live_sections.h. */
#include "live_sections.h"
#include <string.h>

/* Assembly code often gives no size. A symbol without one reaches to the next real symbol or to the
 * end of the section. `from` is its position among the section's symbols. */
static uint32_t symbol_size(const pop_object *object, const object_section *section, uint32_t from)
{
  const uint32_t *index = object->by_place + section->first_symbol;
  const object_symbol *symbol = &object->symbols[index[from]];
  if (symbol->size) return symbol->size;
  for (uint32_t i = from + 1; i < section->num_symbols; ++i) {
    const object_symbol *next = &object->symbols[index[i]];
    if (next->value > symbol->value && !object_mapping_kind(next))
      return next->value - symbol->value;
  }
  return section->size - symbol->value;
}

bool pop_live_sections_symbol(const pop_live_sections *live, const pop_link_addresses *addresses,
                              const char *name, uint32_t *address, uint32_t *size)
{
  link_target target = link_set_find(live->set, name);
  if (target.kind != TARGET_SECTION) return false;
  pop_link_group group;
  if (!live_sections_resolve(live, &target, 0, &group, address)) return false;
  const set_object *owner = link_set_owner(live->set, target.section);
  const object_section *section = link_set_section(live->set, target.section);
  *address += addresses->start[group];
  *size = target.size;
  for (uint32_t i = 0; i < section->num_symbols; ++i) {
    const object_symbol *symbol =
        &owner->object->symbols[owner->object->by_place[section->first_symbol + i]];
    if (symbol->name == target.name) *size = symbol_size(owner->object, section, i);
  }
  return true;
}

/* Visiting. */

typedef struct visitor {
  void (*visit)(void *context, const pop_link_symbol *symbol);
  void *context;
} visitor;

static void visit(const visitor *visitor, pop_link_symbol symbol)
{
  visitor->visit(visitor->context, &symbol);
}

static void visit_mapping(const visitor *visitor, const live_section *place, uint32_t address,
                          char kind)
{
  visit(visitor, (pop_link_symbol){.name = kind == 'x' ? "$x" : "$d",
                                   .address = address,
                                   .group = place->group,
                                   .local = true});
}

/* GNU as 2.39, which made picolibc, writes no mapping symbols: a section of code starts with code
 * unless its object says otherwise. */
static void visit_start(const visitor *visitor, const live_section *place, uint32_t address,
                        const pop_object *object, const object_section *section)
{
  for (uint32_t i = 0; i < section->num_symbols; ++i) {
    const object_symbol *first = &object->symbols[object->by_place[section->first_symbol + i]];
    if (first->value != 0) break;
    if (object_mapping_kind(first)) return; /* it says so itself */
  }
  visit_mapping(visitor, place, address, 'x');
}

static void visit_symbol(const visitor *visitor, pop_link_group group, const object_symbol *symbol,
                         uint32_t address, uint32_t size)
{
  visit(visitor, (pop_link_symbol){.name = symbol->name,
                                   .address = address,
                                   .size = size,
                                   .group = group,
                                   .function = group == POP_LINK_CODE && symbol->type != STT_OBJECT,
                                   .local = symbol->bind == STB_LOCAL});
}

/* Bytes without a name of their own are visited under the name of their section. */
static void visit_unnamed(const visitor *visitor, pop_link_group group, const char *name,
                          uint32_t address, uint32_t size)
{
  visit(visitor, (pop_link_symbol){.name = name,
                                   .address = address,
                                   .size = size,
                                   .group = group,
                                   .function = group == POP_LINK_CODE,
                                   .local = true});
}

/* The names of a section whose copy, maybe another section's, is at `address`. Returns whether there
 * is one with a size. */
static bool visit_names(const visitor *visitor, const live_section *place, const pop_object *object,
                        const object_section *section, uint32_t address)
{
  bool named = false;
  for (uint32_t i = 0; i < section->num_symbols; ++i) {
    const object_symbol *symbol = &object->symbols[object->by_place[section->first_symbol + i]];
    char mapping = object_mapping_kind(symbol);
    if (mapping && place->group == POP_LINK_CODE)
      visit_mapping(visitor, place, address + symbol->value, mapping);
    if (mapping) continue;
    uint32_t size = symbol_size(object, section, i);
    named = named || size > 0;
    visit_symbol(visitor, place->group, symbol, address + symbol->value, size);
  }
  return named;
}

static void visit_section(const visitor *visitor, const pop_live_sections *live,
                          const live_section *place, uint32_t address)
{
  const pop_object *object = link_set_owner(live->set, place->section)->object;
  const object_section *section = link_set_section(live->set, place->section);
  if (place->group == POP_LINK_CODE) visit_start(visitor, place, address, object, section);
  bool named = visit_names(visitor, place, object, section, address);
  if (!named && section->size > 0)
    visit_unnamed(visitor, place->group, section->name, address, section->size);
  for (uint32_t i = 0; i < place->num_folded; ++i) {
    uint32_t folded = live->folded[place->first_folded + i];
    visit_names(visitor, place, link_set_owner(live->set, folded)->object,
                link_set_section(live->set, folded), address);
  }
}

/* The names of pieces that are used. */
static void visit_piece_names(const visitor *visitor, const pop_live_sections *live,
                              const live_section *place, uint32_t start)
{
  const pop_object *object = link_set_owner(live->set, place->section)->object;
  const object_section *section = link_set_section(live->set, place->section);
  for (uint32_t i = 0; i < section->num_symbols; ++i) {
    const object_symbol *symbol = &object->symbols[object->by_place[section->first_symbol + i]];
    const link_target target = {
        .kind = TARGET_SECTION, .section = place->section, .value = symbol->value};
    pop_link_group group;
    uint32_t offset;
    if (!object_mapping_kind(symbol) && live_sections_resolve(live, &target, 0, &group, &offset))
      visit_symbol(visitor, group, symbol, start + offset, symbol->size);
  }
}

void pop_live_sections_symbols(const pop_live_sections *live, const pop_link_addresses *addresses,
                               void (*visit)(void *context, const pop_link_symbol *symbol),
                               void *context)
{
  visitor visitor = {visit, context};
  for (size_t i = 0; i < live->num_sections; ++i) {
    const live_section *place = &live->sections[i];
    uint32_t start = addresses->start[place->group];
    if (i == live->first[place->group] && place->group != POP_LINK_CODE)
      visit_mapping(&visitor, place, start, 'd'); /* to its end */
    if (live_sections_is_cut(live, place->section))
      visit_piece_names(&visitor, live, place, start);
    else
      visit_section(&visitor, live, place, start + place->offset);
  }
  for (size_t i = 0; i < live->num_pools; ++i) {
    const live_pool *pool = &live->pools[i];
    visit_unnamed(&visitor, POP_LINK_RODATA, link_set_section(live->set, pool->section)->name,
                  addresses->start[POP_LINK_RODATA] + pool->offset, pool->bytes);
  }
}

bool pop_live_sections_locate(const pop_live_sections *live, const pop_link_addresses *addresses,
                              uint32_t address, const pop_object **object,
                              const char **section_name, uint32_t *section_index, uint32_t *offset)
{
  uint32_t start = addresses->start[POP_LINK_CODE];
  if (address < start || address - start >= live->bytes[POP_LINK_CODE]) return false;
  uint32_t low = live->first[POP_LINK_CODE], high = live->first[POP_LINK_CODE + 1];
  while (high - low > 1) { /* sections[low] starts at or before the address */
    uint32_t middle = low + (high - low) / 2;
    if (live->sections[middle].offset <= address - start)
      low = middle;
    else
      high = middle;
  }
  const live_section *found = &live->sections[low];
  const object_section *section = link_set_section(live->set, found->section);
  *offset = address - start - found->offset;
  if (*offset >= section->size) return false; /* between two sections */
  const set_object *owner = link_set_owner(live->set, found->section);
  *object = owner->object;
  *section_name = section->name;
  *section_index = found->section - owner->first_section;
  return true;
}
