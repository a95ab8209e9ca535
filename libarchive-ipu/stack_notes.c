/* Reads what authors state about stacks. See stack_usage.h; libcodelet/device/README.md has the
 * layout of the sections:
 *
 *   POP_STACK_SECTION         name NUL, padded to 4 bytes │ bytes (32 bits) │ …
 *   POP_STACK_LEVELS_SECTION  name NUL, padded │ levels of recursion (32 bits) │ …
 *   POP_STACK_CALLS_SECTION   caller NUL, padded │ "callee,callee" NUL, padded │ …
 *
 * A name is that of a symbol: first of the object that has the note (it may be a static function),
 * then of the whole set. Quotes around a name do not count, as macros may add them. A name that
 * nothing defines is a function that was inlined everywhere.
 */
#include "stack_usage.h"
#include <populus/arena.h>
#include <string.h>

typedef struct cursor {
  const pop_link_set *set;
  uint32_t object; /* of the set */
  const object_section *section;
  uint32_t at;
  pop_name_table functions; /* of the object, by name -> its symbol */
  pop_arena *scratch;
} cursor;

static pop_error *damaged(const cursor *c, const char *what)
{
  return pop_error_new(POP_ERROR_FILE_LOAD, "%s: section %s at offset 0x%x: %s",
                       c->set->objects[c->object].object->name, c->section->name, c->at, what);
}

/* A name without its quotes, in the scratch arena. */
static pop_error *take_name(cursor *c, char **name)
{
  const char *start = (const char *)c->section->data + c->at;
  uint32_t left = c->section->size - c->at;
  size_t length = strnlen(start, left);
  if (length == left) return damaged(c, "the name has no end");
  c->at += (uint32_t)length + 1;
  c->at = c->at + 3 < c->section->size ? (c->at + 3) & ~3u : c->section->size;
  bool quoted = length >= 2 && start[0] == '"' && start[length - 1] == '"';
  *name = pop_arena_alloc(c->scratch, length + 1);
  memcpy(*name, start + quoted, length - 2 * (size_t)quoted);
  return NULL;
}

static void index_functions(cursor *c)
{
  const pop_object *object = c->set->objects[c->object].object;
  for (uint32_t i = 1; i < object->num_symbols; ++i) {
    const object_symbol *symbol = &object->symbols[i];
    bool code = symbol->place == PLACE_SECTION &&
                object_section_group(&object->sections[symbol->section]) == POP_LINK_CODE;
    if (code && pop_name_table_find(&c->functions, symbol->name) == POP_NAME_NONE)
      pop_name_table_add(&c->functions, symbol->name, i);
  }
}

static bool find_function(const cursor *c, const char *name, stack_place *place)
{
  uint32_t symbol = pop_name_table_find(&c->functions, name);
  link_target target = symbol == POP_NAME_NONE ? link_set_find(c->set, name)
                                               : link_set_resolve(c->set, c->object, symbol);
  *place = (stack_place){target.section, target.value};
  return target.kind == TARGET_SECTION;
}

static pop_error *read_value(cursor *c, stack_note_list *list)
{
  char *name;
  POP_TRY(take_name(c, &name));
  if (c->section->size - c->at < 4) return damaged(c, "the number is missing");
  stack_note note = {.value = relocation_get32(c->section->data + c->at)};
  c->at += 4;
  if (!find_function(c, name, &note.function)) return NULL;
  uint32_t number = stack_map_put(&list->index_of, note.function, (uint32_t)list->count);
  if (number == list->count)
    pop_push(list->notes, list->count, list->capacity, note);
  else if (list->notes[number].value < note.value)
    list->notes[number].value = note.value;
  return NULL;
}

static pop_error *read_use(cursor *c, stack_notes *notes)
{
  return read_value(c, &notes->uses);
}

static pop_error *read_levels(cursor *c, stack_notes *notes)
{
  return read_value(c, &notes->levels);
}

static pop_error *read_calls(cursor *c, stack_notes *notes)
{
  char *caller, *callees;
  POP_TRY(take_name(c, &caller));
  if (c->at == c->section->size) return damaged(c, "the names of the callees are missing");
  POP_TRY(take_name(c, &callees));
  stack_pointer_call call;
  if (!find_function(c, caller, &call.caller)) return NULL;
  char *rest = callees;
  for (char *name; (name = strsep(&rest, ", "));) {
    if (*name && find_function(c, name, &call.callee))
      pop_push(notes->calls, notes->num_calls, notes->calls_capacity, call);
  }
  return NULL;
}

static const struct {
  const char *section;
  pop_error *(*read)(cursor *c, stack_notes *notes);
} kinds[] = {{POP_STACK_SECTION, read_use},
             {POP_STACK_LEVELS_SECTION, read_levels},
             {POP_STACK_CALLS_SECTION, read_calls}};

static pop_error *read_section(cursor *c, stack_notes *notes)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (!c->section->data || strcmp(c->section->name, kinds[i].section) != 0) continue;
    if (c->functions.count == 0) index_functions(c);
    for (c->at = 0; c->at < c->section->size;) POP_TRY(kinds[i].read(c, notes));
  }
  return NULL;
}

static pop_error *read_object(const pop_link_set *set, uint32_t index, stack_notes *notes)
{
  cursor c = {.set = set, .object = index, .scratch = pop_arena_new()};
  const pop_object *object = set->objects[index].object;
  pop_error *error = NULL;
  for (uint32_t i = 1; i < object->num_sections && !error; ++i) {
    c.section = &object->sections[i];
    error = read_section(&c, notes);
  }
  pop_name_table_free(&c.functions);
  pop_arena_free(c.scratch);
  return error;
}

static int compare_places(const stack_place *a, const stack_place *b)
{
  if (a->section != b->section) return a->section < b->section ? -1 : 1;
  return (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_callers(const void *left, const void *right)
{
  const stack_pointer_call *a = left, *b = right;
  return compare_places(&a->caller, &b->caller);
}

size_t stack_first_call(const stack_notes *notes, stack_place caller)
{
  size_t low = 0, high = notes->num_calls;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_places(&notes->calls[middle].caller, &caller) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

pop_error *stack_read_notes(const pop_link_set *set, stack_notes *notes)
{
  for (uint32_t i = 0; i < set->num_objects; ++i) POP_TRY(read_object(set, i, notes));
  if (notes->num_calls)
    qsort(notes->calls, notes->num_calls, sizeof *notes->calls, compare_callers);
  return NULL;
}

const stack_note *stack_find_note(const stack_note_list *list, stack_place function)
{
  uint32_t index = stack_map_find(&list->index_of, function);
  return index == OBJECT_NONE ? NULL : &list->notes[index];
}

static void free_list(stack_note_list *list)
{
  free(list->notes);
  stack_map_free(&list->index_of);
}

void stack_notes_free(stack_notes *notes)
{
  free_list(&notes->uses);
  free_list(&notes->levels);
  free(notes->calls);
}
