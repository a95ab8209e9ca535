/* See use_objects.h. */
#include "use_objects.h"
#include "use.h"

#include <populus/stack.h>

#include <stdlib.h>

/* A tile's memory. A larger program is refused before it is relocated. */
enum { MEMORY_BASE = 0x4c000, MEMORY_BYTES = 1 << 20 };

static void read_symbol(void *context, const char *name, bool defined, bool weak)
{
  (void)context;
  (void)defined;
  (void)weak;
  touch_text(name);
}

void use_object(const pop_object *object)
{
  static const char *const sections[] = {".text", ".populus.vertices", POP_STACK_SECTION,
                                         POP_STACK_CALLS_SECTION};
  touch_text(pop_object_name(object));
  pop_object_symbols(object, read_symbol, NULL);
  for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) {
    size_t size;
    const void *content = pop_object_section(object, sections[i], &size);
    if (content) touch(content, size);
  }
  pop_bytes elf = {0};
  if (forget(pop_object_debug_image(object, &elf))) touch(elf.data, elf.size);
  pop_bytes_free(&elf);
}

static void read_link_symbol(void *context, const pop_link_symbol *symbol)
{
  const pop_live_sections *live = ((const void **)context)[0];
  const pop_link_addresses *addresses = ((const void **)context)[1];
  uint32_t address, size, section_index, offset;
  const pop_object *object;
  const char *section;
  touch_text(symbol->name);
  if (pop_live_sections_symbol(live, addresses, symbol->name, &address, &size))
    (void)pop_live_sections_locate(live, addresses, address, &object, &section, &section_index,
                                   &offset);
}

/* False if the live sections are too large for a tile. */
static bool place(const pop_live_sections *live, pop_link_addresses *addresses, uint32_t *bytes)
{
  uint64_t end = MEMORY_BASE;
  for (int group = 0; group < POP_LINK_GROUP_COUNT; ++group) {
    uint64_t align = pop_live_sections_group_align(live, (pop_link_group)group);
    end = (end + align - 1) / align * align;
    addresses->start[group] = (uint32_t)end;
    if (group == POP_LINK_TLS) continue;
    end += pop_live_sections_group_bytes(live, (pop_link_group)group);
    if (end > MEMORY_BASE + MEMORY_BYTES) return false;
  }
  *bytes = (uint32_t)(end - MEMORY_BASE);
  return pop_live_sections_group_bytes(live, POP_LINK_TLS) <= MEMORY_BYTES;
}

static void relocate(const pop_live_sections *live)
{
  pop_link_addresses addresses = {0};
  uint32_t bytes;
  if (!place(live, &addresses, &bytes)) return;
  uint32_t tls_bytes = pop_live_sections_group_bytes(live, POP_LINK_TLS);
  uint8_t *memory = malloc(bytes ? bytes : 1), *tls = malloc(tls_bytes ? tls_bytes : 1);
  if (!memory || !tls) abort();
  forget(pop_live_sections_relocate(live, &addresses, memory, MEMORY_BASE, bytes, tls));
  pop_live_sections_symbols(live, &addresses, read_link_symbol, (const void *[]){live, &addresses});
  free(memory);
  free(tls);
  pop_bytes elf = {0};
  if (pop_live_sections_has_debug(live) &&
      forget(pop_live_sections_debug_file(live, &addresses, &elf)))
    touch(elf.data, elf.size);
  pop_bytes_free(&elf);
}

static void link_entries(const pop_link_set *set, const char *const *symbols, size_t count)
{
  pop_live_sections *live;
  if (!forget(pop_live_sections_create(set, symbols, NULL, count, &live))) return;
  relocate(live);
  pop_live_sections_free(live);
}

static void measure_stacks(const pop_link_set *set, const char *const *symbols, size_t count)
{
  pop_stack_analysis *analysis;
  if (!forget(pop_stack_analysis_new(set, &analysis))) return;
  pop_arena *arena = pop_arena_new();
  for (size_t i = 0; i < count; ++i) {
    pop_stack_use use = pop_stack_analyse(analysis, symbols[i], arena);
    touch_text(pop_stack_explain(&use, arena));
  }
  pop_arena_free(arena);
  pop_stack_analysis_free(analysis);
}

void use_entries(const pop_link_set *set, const char *const *symbols, size_t count)
{
  for (size_t i = 0; i < count; ++i) link_entries(set, &symbols[i], 1);
  link_entries(set, symbols, count); /* what is equal in several is folded */
  measure_stacks(set, symbols, count);
}

pop_link_set *new_link_set(void)
{
  pop_link_set *set = pop_link_set_new();
  pop_link_set_define(set, POP_LINK_MEMORY_BASE, MEMORY_BASE);
  return set;
}
