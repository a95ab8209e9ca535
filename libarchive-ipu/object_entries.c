/* Entries: symbols by which the control code calls a vertex.
 *
 * A compiler may emit no code for a function that it knows never to return
 * (`__builtin_unreachable();`), and assembly can put a symbol anywhere. A call of such an
 * entry would run whatever follows it. Or the object has no code at all that could be laid
 * out on the tile. */
#include "object.h"

#include <string.h>

enum { INSTRUCTION_BYTES = 4 };

/* What is wrong with the place of a definition, as the end of a sentence; NULL if nothing is. */
static const char *complaint(const pop_object *object, const object_symbol *symbol)
{
  if (symbol->place == PLACE_ABSOLUTE) return "is an absolute address, not a place in a section";
  const object_section *section = &object->sections[symbol->section];
  if (symbol->common) return "is a common symbol, which holds data";
  if (object_section_group(section) != POP_LINK_CODE) return "lies in a section that holds no code";
  if (symbol->value % INSTRUCTION_BYTES) return "is not at a multiple of 4 in its section";
  if (symbol->value + INSTRUCTION_BYTES > section->size)
    return "is empty: the compiler found that it never returns, and left no instruction of it";
  return NULL;
}

pop_error *pop_object_check_entries(const pop_object *object, const char *prefix, const char **name)
{
  size_t length = strlen(prefix);
  for (uint32_t i = 1; i < object->num_symbols; ++i) {
    const object_symbol *symbol = &object->symbols[i];
    if (symbol->bind == STB_LOCAL || symbol->place == PLACE_UNDEFINED ||
        strncmp(symbol->name, prefix, length) != 0)
      continue;
    const char *wrong = complaint(object, symbol);
    if (!wrong) continue;
    if (name) *name = symbol->name;
    bool is_placed = symbol->place == PLACE_SECTION;
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "%s: the entry %s (0x%x%s%s) %s; vertices start at instructions",
                         object->name, symbol->name, symbol->value, is_placed ? " in " : "",
                         is_placed ? object->sections[symbol->section].name : "", wrong);
  }
  return NULL;
}
