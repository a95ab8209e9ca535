/* Parses and checks one object of a `.gp`, whether from a file or from the compiler. */
#include "gp_internal.h"

#include <populus/arena.h>
#include <populus/vertex_table.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static int compare_symbol(const void *name, const void *type)
{
  return strcmp(name, (*(const pop_vertex_type *const *)type)->symbol);
}

static int compare_types(const void *a, const void *b)
{
  return strcmp((*(const pop_vertex_type *const *)a)->symbol,
                (*(const pop_vertex_type *const *)b)->symbol);
}

typedef struct entries {
  const pop_vertex_type **sorted; /* by symbol */
  bool *mentioned;                /* parallel to it */
  size_t count;
} entries;

/* An undefined entry is left for another object to define, as assembly does. */
static void note_symbol(void *context, const char *name, bool defined, bool weak)
{
  (void)defined;
  (void)weak;
  entries *e = context;
  const pop_vertex_type **found =
      bsearch(name, e->sorted, e->count, sizeof *e->sorted, compare_symbol);
  if (found) e->mentioned[found - e->sorted] = true;
}

/* Does the object define, or at least refer to, the entry of every vertex of the table? */
static pop_error *check_entries(const gp_member *member, const char *where)
{
  entries e = {.sorted = pop_xcalloc(member->num_types + 1, sizeof *e.sorted),
               .mentioned = pop_xcalloc(member->num_types + 1, sizeof *e.mentioned),
               .count = member->num_types};
  for (size_t i = 0; i < e.count; ++i) e.sorted[i] = &member->types[i];
  qsort(e.sorted, e.count, sizeof *e.sorted, compare_types);
  pop_object_symbols(member->object, note_symbol, &e);

  pop_error *error = NULL;
  for (size_t i = 0; i < e.count && !error; ++i) {
    if (!e.mentioned[i])
      error = pop_error_new(POP_ERROR_FILE_LOAD, "%s: vertex '%s' has no code: symbol %s is absent",
                            where, e.sorted[i]->name, e.sorted[i]->symbol);
    else if (i && !strcmp(e.sorted[i]->symbol, e.sorted[i - 1]->symbol))
      error = pop_error_new(POP_ERROR_FILE_LOAD, "%s: vertices '%s' and '%s' share the symbol %s",
                            where, e.sorted[i - 1]->name, e.sorted[i]->name, e.sorted[i]->symbol);
  }
  free(e.sorted);
  free(e.mentioned);
  return error;
}

bool pop_gp_is_known_need(const char *need, size_t length)
{
  static const char *const known[] = {POP_GP_NEEDS_PACKED, POP_GP_NEEDS_FUNCTIONS,
                                      POP_GP_NEEDS_REPEATS};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (length == strlen(known[i]) && memcmp(need, known[i], length) == 0) return true;
  return false;
}

/* Refuses code of a later popc that the tiles of this Populus cannot execute. */
static pop_error *check_needs(const gp_member *member, const char *where)
{
  size_t size;
  const char *need = pop_object_section(member->object, POP_GP_NEEDS_SECTION, &size);
  if (!need) return NULL;
  for (const char *end = need + size; need < end;) {
    size_t length = strnlen(need, (size_t)(end - need));
    if (!pop_gp_is_known_need(need, length))
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "%s needs '%.*s' of a tile, and tiles here have '" POP_GP_NEEDS_PACKED
                           "', '" POP_GP_NEEDS_FUNCTIONS "' and '" POP_GP_NEEDS_REPEATS
                           "' at most: compile it with this popc",
                           where, (int)length, need);
    need += length + 1;
  }
  return NULL;
}

static pop_error *parse_tile(gp_member *member, const char *where, pop_arena *arena)
{
  POP_TRY(pop_object_parse(member->bytes, member->size, where, &member->object));
  POP_TRY(pop_object_check_entries(member->object, POP_VERTEX_SYMBOL_PREFIX, NULL));
  POP_TRY(check_needs(member, where));
  if (member->kind == GP_LIBRARY) return NULL;
  size_t size;
  const char *table = pop_object_section(member->object, POP_VERTEX_TABLE_SECTION, &size);
  if (!table) return NULL; /* assembly: it serves vertices of other objects */
  POP_TRY(pop_vertex_table_read(table, size, where, arena, &member->types, &member->num_types));
  return check_entries(member, where);
}

const gp_wrapping gp_host_wrapping = {".populus.host", SHT_PROGBITS, "populus_host_object"};

/* LLVM's loader reads host objects, and only if a CPU device is used. Here it is enough to know
 * that they are objects. */
static pop_error *parse_host(gp_member *member, const char *where)
{
  if (!gp_unwrap(&gp_host_wrapping, member->bytes, member->size, &member->inner,
                 &member->inner_size))
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s does not wrap a host object", where);
  Elf64_Ehdr header;
  if (member->inner_size >= sizeof header) {
    memcpy(&header, member->inner, sizeof header);
    if (!memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
        header.e_type == ET_REL)
      return NULL;
  }
  return pop_error_new(POP_ERROR_FILE_LOAD, "%s does not hold a relocatable 64-bit ELF object",
                       where);
}

pop_error *gp_member_parse(gp_member *member, const char *gp_name, pop_arena *arena)
{
  const char *where = pop_arena_printf(arena, "%s(%s)", gp_name, member->name);
  return member->kind == GP_HOST ? parse_host(member, where) : parse_tile(member, where, arena);
}

void gp_member_free(gp_member *member)
{
  pop_object_free(member->object);
  free(member->bytes);
}

bool gp_member_equal(const gp_member *a, const gp_member *b)
{
  return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}
