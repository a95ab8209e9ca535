/* The message for a symbol that nothing defines. Most often a codelet calls a function that needs
 * an operating system. So the message says what a tile lacks and what to do. */
#include "live_sections.h"
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

#define NO_HEAP "there is no heap on a tile: use a local array or a field of the vertex"
#define NO_OUTPUT                                                                                  \
  "there is no standard output on a tile: write to an output field and print on the host"
#define NO_SYSTEM "there is no operating system on a tile"
#define NO_EXCEPTIONS "there are no exceptions on a tile: return an error value"
#define NO_ATOMICS "there are no atomic operations on a tile, nor anyone to share memory with"
#define NO_GUARDS                                                                                  \
  "a static local variable with a constructor needs start-up code: make it constexpr or automatic"

/* `name` is C's or the mangled C++ one; a `*` at its end stands for any rest. */
static const struct hint {
  const char *name, *shown, *text;
} hints[] = {
    {"malloc", NULL, NO_HEAP},
    {"calloc", NULL, NO_HEAP},
    {"realloc", NULL, NO_HEAP},
    {"free", NULL, NO_HEAP},
    {"aligned_alloc", NULL, NO_HEAP},
    {"posix_memalign", NULL, NO_HEAP},
    {"sbrk", NULL, NO_HEAP},
    {"_Znwj*", "operator new", NO_HEAP},
    {"_Znaj*", "operator new[]", NO_HEAP},
    {"_ZdlPv*", "operator delete", NO_HEAP},
    {"_ZdaPv*", "operator delete[]", NO_HEAP},
    {"printf", NULL, NO_OUTPUT},
    {"vprintf", NULL, NO_OUTPUT},
    {"fprintf", NULL, NO_OUTPUT},
    {"vfprintf", NULL, NO_OUTPUT},
    {"puts", NULL, NO_OUTPUT},
    {"fputs", NULL, NO_OUTPUT},
    {"putchar", NULL, NO_OUTPUT},
    {"fputc", NULL, NO_OUTPUT},
    {"putc", NULL, NO_OUTPUT},
    {"fwrite", NULL, NO_OUTPUT},
    {"perror", NULL, NO_OUTPUT},
    {"stdout", NULL, NO_OUTPUT},
    {"stderr", NULL, NO_OUTPUT},
    {"_ZNSt3__14cout*", "std::cout", NO_OUTPUT},
    {"_ZNSt3__14cerr*", "std::cerr", NO_OUTPUT},
    {"stdin", NULL, NO_SYSTEM},
    {"fopen", NULL, NO_SYSTEM},
    {"open", NULL, NO_SYSTEM},
    {"close", NULL, NO_SYSTEM},
    {"read", NULL, NO_SYSTEM},
    {"write", NULL, NO_SYSTEM},
    {"lseek", NULL, NO_SYSTEM},
    {"exit", NULL, NO_SYSTEM},
    {"time", NULL, NO_SYSTEM},
    {"clock", NULL, NO_SYSTEM},
    {"times", NULL, NO_SYSTEM},
    {"gettimeofday", NULL, NO_SYSTEM},
    {"getentropy", NULL, NO_SYSTEM},
    {"pthread_*", NULL, NO_SYSTEM},
    {"__cxa_throw", "throw", NO_EXCEPTIONS},
    {"__cxa_allocate_exception", "throw", NO_EXCEPTIONS},
    {"__cxa_begin_catch", "catch", NO_EXCEPTIONS},
    {"__gxx_personality_v0", "catch", NO_EXCEPTIONS},
    {"_Unwind_Resume", "catch", NO_EXCEPTIONS},
    {"__cxa_guard_acquire", "static local variable", NO_GUARDS},
    {"__cxa_guard_release", "static local variable", NO_GUARDS},
    {"__atomic_*", NULL, NO_ATOMICS},
    {"__sync_*", NULL, NO_ATOMICS},
};

static bool matches(const char *pattern, const char *name)
{
  size_t length = strlen(pattern);
  return pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0
                                    : strcmp(pattern, name) == 0;
}

static const struct hint *find_hint(const char *symbol)
{
  static const struct hint none = {0};
  for (size_t i = 0; i < sizeof hints / sizeof *hints; ++i) {
    if (matches(hints[i].name, symbol)) return &hints[i];
  }
  return &none;
}

pop_error *undefined_symbol(const char *symbol, const pop_object *object, uint32_t section,
                            uint32_t offset, const char *root)
{
  const struct hint *hint = find_hint(symbol);
  char *place = object ? object_say_place(object, section, offset) : NULL;
  char *needed_by = object ? pop_xasprintf("%s (%s)%s%s", object_name_at(object, section, offset),
                                           place, root ? ", for " : "", root ? root : "")
                           : pop_xstrdup(root);
  pop_error *error =
      pop_error_new(POP_ERROR_LINK, "undefined symbol %s%s%s%s, needed by %s%s%s", symbol,
                    hint->shown ? " (" : "", hint->shown ? hint->shown : "", hint->shown ? ")" : "",
                    needed_by, hint->text ? ": " : "", hint->text ? hint->text : "");
  free(needed_by);
  free(place);
  return error;
}

bool pop_link_is_foreign_symbol(const char *symbol)
{
  return find_hint(symbol)->text != NULL;
}

static pop_error *explain_in_section(const pop_live_sections *live, const live_section *section,
                                     const char *const *needed_by, const char *symbol)
{
  const pop_link_set *set = live->set;
  uint32_t number = set->section_owners[section->section];
  const pop_object *object = set->objects[number].object;
  uint32_t index = section->section - set->objects[number].first_section;
  const object_section *content = &object->sections[index];
  for (uint32_t i = 0; i < content->num_relocations; ++i) {
    const object_relocation *entry = &object->relocations[content->first_relocation + i];
    link_target target = link_set_resolve(set, number, entry->symbol);
    if (target.kind != TARGET_ABSOLUTE || strcmp(target.name, symbol) != 0) continue;
    return undefined_symbol(symbol, object, index, entry->offset,
                            needed_by ? needed_by[section->root] : NULL);
  }
  return NULL;
}

pop_error *pop_live_sections_explain_given(const pop_live_sections *live,
                                           const char *const *needed_by, const char *symbol)
{
  for (size_t i = 0; i < live->num_sections; ++i)
    POP_TRY(explain_in_section(live, &live->sections[i], needed_by, symbol));
  return NULL;
}
