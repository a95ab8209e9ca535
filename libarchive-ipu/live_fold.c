/* Identical functions and read-only data share one copy ("identical code folding").
 *
 * Sections are equal if they have the same bytes and alignment, and if their relocations, at the
 * same places and of the same types, refer to equal things. So whether two sections are equal may
 * depend on whether two others are, even in cycles (two functions that call themselves). As in the
 * minimisation of an automaton, all sections that look alike are first put into one class. Then
 * classes are split while their members refer to different classes.
 *
 * Code may compare the addresses of two functions or constants. Only sections whose addresses
 * nobody compares are candidates. Clang lists in .llvm_addrsig the symbols of an object whose
 * addresses matter. Without that section a jump does not use an address, and neither does a
 * reference to a place within a function (a jump table's entry); everything else does. Vertex
 * entries are only called: who names the roots compares nothing.
 *
 * Source of the idea and of its rules: lld/ELF/ICF.cpp, "--icf=safe"; Hopcroft 1971.
 */
#include "live_sections.h"
#include <populus/arena.h>
#include <string.h>

/* What a relocation refers to. Two are equal if everything here is, where sections of one
 * class are equal. */
typedef enum meaning { MEANS_NUMBER, MEANS_PIECE, MEANS_SECTION } meaning;
typedef struct reference {
  uint32_t at;
  const relocation_type *type;
  meaning meaning;
  uint32_t to;    /* index in live->pieces (of a kept one) or live->sections */
  uint32_t value; /* the number, or bytes behind the start of what is meant */
} reference;

typedef struct folding {
  const pop_live_sections *live;
  uint32_t *class;           /* by live section: the first section of its class */
  uint32_t *first_reference; /* by live section */
  reference *references;
  size_t num_references, references_capacity;
  uint32_t *members; /* candidates, classes of several together */
  size_t num_members;
} folding;

static const object_section *section_of(const folding *f, uint32_t index)
{
  return link_set_section(f->live->set, f->live->sections[index].section);
}

/* References. */

static reference refer(const folding *f, uint32_t object, const object_relocation *entry)
{
  link_target target = link_set_resolve(f->live->set, object, entry->symbol);
  reference made = {.at = entry->offset, .type = entry->type};
  if (target.kind != TARGET_SECTION) {
    made.value = target.value + entry->addend;
    return made;
  }
  live_reference place = live_sections_refer(f->live, &target, entry->addend);
  made.value = place.offset;
  if (place.piece != OBJECT_NONE) {
    const live_piece *piece = &f->live->pieces[place.piece];
    made.meaning = MEANS_PIECE;
    made.to = piece->kept;
    made.value += piece->shift;
    return made;
  }
  made.meaning = MEANS_SECTION;
  made.to = (uint32_t)(live_sections_find(f->live, target.section) - f->live->sections);
  return made;
}

static bool starts_function(const pop_object *object, const object_section *section,
                            uint32_t offset)
{
  if (offset == 0) return true;
  for (uint32_t i = 0; i < section->num_symbols; ++i) {
    const object_symbol *symbol = &object->symbols[object->by_place[section->first_symbol + i]];
    if (symbol->value == offset && !object_mapping_kind(symbol)) return true;
  }
  return false;
}

/* Can the referring code depend on the target's address? */
static bool takes_address(const folding *f, uint32_t object, const object_relocation *entry,
                          const link_target *target)
{
  const pop_object *referrer = f->live->set->objects[object].object;
  if (referrer->lists_addresses) return referrer->symbols[entry->symbol].listed;
  if (entry->type->jump || entry->type->value == VALUE_OF_HIGH) return false;
  const object_section *section = link_set_section(f->live->set, target->section);
  return object_section_group(section) != POP_LINK_CODE ||
         starts_function(link_set_owner(f->live->set, target->section)->object, section,
                         target->value + entry->addend);
}

static bool is_candidate(const folding *f, uint32_t index)
{
  const live_section *place = &f->live->sections[index];
  const object_section *section = section_of(f, index);
  return (place->group == POP_LINK_CODE || place->group == POP_LINK_RODATA) && section->data &&
         section->size > 0 && !(section->flags & SHF_WRITE) && !section->listed &&
         !live_sections_is_cut(f->live, place->section);
}

/* Notes the references of section `index`, and in `apart` the sections whose address it takes. */
static void read_references(folding *f, uint32_t index, bool *apart)
{
  const pop_link_set *set = f->live->set;
  uint32_t object = set->section_owners[f->live->sections[index].section];
  const object_section *section = section_of(f, index);
  bool candidate = is_candidate(f, index);
  f->first_reference[index] = (uint32_t)f->num_references;
  for (uint32_t i = 0; i < section->num_relocations; ++i) {
    const object_relocation *entry =
        &set->objects[object].object->relocations[section->first_relocation + i];
    if (entry->type->value == VALUE_NONE) continue;
    link_target target = link_set_resolve(set, object, entry->symbol);
    if (target.kind == TARGET_SECTION && takes_address(f, object, entry, &target))
      apart[live_sections_find(f->live, target.section) - f->live->sections] = true;
    if (candidate) {
      pop_push(f->references, f->num_references, f->references_capacity, refer(f, object, entry));
    }
  }
}

static uint32_t num_references(const folding *f, uint32_t index)
{
  return f->first_reference[index + 1] - f->first_reference[index];
}

/* Classes. */

#define COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

static int compare_meanings(const reference *a, const reference *b)
{
  if (a->at != b->at) return COMPARE(a->at, b->at);
  if (a->type != b->type) return COMPARE(a->type, b->type);
  if (a->meaning != b->meaning) return COMPARE(a->meaning, b->meaning);
  if (a->meaning == MEANS_PIECE && a->to != b->to) return COMPARE(a->to, b->to);
  return COMPARE(a->value, b->value);
}

/* Compares everything that does not depend on classes. */
static int compare_looks(const folding *f, uint32_t i, uint32_t j)
{
  const object_section *a = section_of(f, i), *b = section_of(f, j);
  pop_link_group a_group = f->live->sections[i].group, b_group = f->live->sections[j].group;
  if (a_group != b_group) return COMPARE(a_group, b_group);
  if (a->size != b->size) return COMPARE(a->size, b->size);
  if (a->align != b->align) return COMPARE(a->align, b->align);
  uint32_t count = num_references(f, i);
  if (count != num_references(f, j)) return COMPARE(count, num_references(f, j));
  int order = memcmp(a->data, b->data, a->size);
  for (uint32_t k = 0; k < count && order == 0; ++k)
    order = compare_meanings(&f->references[f->first_reference[i] + k],
                             &f->references[f->first_reference[j] + k]);
  return order;
}

/* Compares the classes to which two sections that look alike refer. */
static int compare_classes(const folding *f, uint32_t i, uint32_t j)
{
  for (uint32_t k = 0; k < num_references(f, i); ++k) {
    const reference *a = &f->references[f->first_reference[i] + k];
    const reference *b = &f->references[f->first_reference[j] + k];
    if (a->meaning != MEANS_SECTION || f->class[a->to] == f->class[b->to]) continue;
    return COMPARE(f->class[a->to], f->class[b->to]);
  }
  return 0;
}

static int compare_by_looks(const void *left, const void *right, void *context)
{
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  int order = compare_looks(context, i, j);
  return order ? order : COMPARE(i, j);
}

static int compare_by_classes(const void *left, const void *right, void *context)
{
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  int order = compare_classes(context, i, j);
  return order ? order : COMPARE(i, j);
}

/* Sorts members[begin] to [end - 1]. Then gives members that compare equal a class of their own,
 * named after the first; only after sorting, as the comparison reads the classes. Returns the
 * number of classes. */
static size_t split(folding *f, size_t begin, size_t end,
                    int (*sorting)(const void *, const void *, void *),
                    int (*compare)(const folding *, uint32_t, uint32_t))
{
  size_t classes = 1;
  uint32_t *first = pop_xcalloc(end - begin, sizeof *first);
  qsort_r(f->members + begin, end - begin, sizeof *f->members, sorting, f);
  for (size_t i = begin; i < end; ++i) {
    bool same = i > begin && compare(f, f->members[i - 1], f->members[i]) == 0;
    classes += i > begin && !same;
    first[i - begin] = same ? first[i - begin - 1] : f->members[i];
  }
  for (size_t i = begin; i < end; ++i) f->class[f->members[i]] = first[i - begin];
  free(first);
  return classes;
}

/* Splits each class by the references of its members. Members of one class stay neighbours. A class
 * with one member is done. Returns whether anything was split. */
static bool refine(folding *f)
{
  bool any = false;
  size_t count = 0;
  for (size_t begin = 0, end; begin < f->num_members; begin = end) {
    for (end = begin + 1; end < f->num_members; ++end)
      if (f->class[f->members[end]] != f->class[f->members[begin]]) break;
    if (end - begin == 1) continue;
    any |= split(f, begin, end, compare_by_classes, compare_classes) > 1;
    for (size_t i = begin; i < end; ++i) f->members[count++] = f->members[i];
  }
  f->num_members = count;
  return any;
}

static void collect_members(folding *f)
{
  size_t count = f->live->num_sections;
  bool *apart = pop_xcalloc(count + 1, sizeof *apart);
  for (uint32_t i = 0; i < count; ++i) read_references(f, i, apart);
  f->first_reference[count] = (uint32_t)f->num_references;
  for (uint32_t i = 0; i < count; ++i) {
    f->class[i] = i;
    if (!apart[i] && is_candidate(f, i)) f->members[f->num_members++] = i;
  }
  free(apart);
}

uint32_t *live_sections_fold(const pop_live_sections *live)
{
  size_t count = live->num_sections;
  folding f = {.live = live,
               .class = pop_xcalloc(count + 1, sizeof *f.class),
               .first_reference = pop_xcalloc(count + 1, sizeof *f.first_reference),
               .members = pop_xcalloc(count + 1, sizeof *f.members)};
  collect_members(&f);
  if (f.num_members) {
    split(&f, 0, f.num_members, compare_by_looks, compare_looks);
    while (refine(&f)) {
    }
  }
  free(f.first_reference);
  free(f.references);
  free(f.members);
  return f.class;
}
