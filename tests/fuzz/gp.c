/* Fuzz target of the `.gp` reader: everything that a graph does with codelets before it runs them.
 *
 *   bytes -> pop_gp_read_memory, as they are and with a digest that fits
 *         -> every vertex type, object and symbol read; a part for each target
 *         -> of each entry: stack, closure, relocated into memory of just its size
 *         -> written again, which must be readable again
 *
 * Built for libFuzzer by the preset `fuzz`, and by every other into `replay`, which the tests run
 * over the corpus.
 */
#include "fuzz.h"
#include "gp_parts.h"

#include <populus/stack.h>

#include <stdlib.h>
#include <string.h>

/* A tile's memory: what is larger is refused before anybody relocates it. */
enum { MEMORY_BASE = 0x4c000, MEMORY_BYTES = 1 << 20 };

/* Reads every byte, for AddressSanitizer to see. */
static void touch(const void *bytes, size_t size)
{
  uint8_t sum = 0;
  for (size_t i = 0; i < size; ++i) sum ^= ((const uint8_t *)bytes)[i];
  __asm__ volatile("" : : "r"(sum));
}

static void touch_text(const char *text)
{
  touch(text, strlen(text) + 1);
}

/* True if there was none. */
static bool forget(pop_error *error)
{
  if (!error) return true;
  touch_text(pop_error_message(error));
  pop_error_free(error);
  return false;
}

/* ---- vertex types and objects ---- */

static void read_type(const pop_vertex_type *type)
{
  touch_text(type->name);
  touch_text(type->symbol);
  touch_text(type->source);
  for (size_t i = 0; i < type->num_fields; ++i) {
    const pop_field *field = &type->fields[i];
    touch_text(field->name);
    touch_text(pop_type_name(field->type));
    (void)pop_field_max_elements(field);
    if (field->has_rows) (void)pop_field_row_bytes(field);
    /* Of two fields with one name a graph could reach the first only. */
    if (pop_vertex_type_find_field(type, field->name) != field) abort();
    if (field->offset + field->size > type->state_size) abort();
  }
}

static void read_symbol(void *context, const char *name, bool defined, bool weak)
{
  (void)context;
  (void)defined;
  (void)weak;
  touch_text(name);
}

static void read_object(const pop_object *object)
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

/* ---- the linker ---- */

static void read_link_symbol(void *context, const pop_link_symbol *symbol)
{
  const pop_closure *closure = ((const void **)context)[0];
  const pop_link_addresses *addresses = ((const void **)context)[1];
  uint32_t address, size, section_index, offset;
  const pop_object *object;
  const char *section;
  touch_text(symbol->name);
  if (pop_closure_symbol(closure, addresses, symbol->name, &address, &size))
    (void)pop_closure_locate(closure, addresses, address, &object, &section, &section_index,
                             &offset);
}

/* False if the closure is too large for a tile. */
static bool place(const pop_closure *closure, pop_link_addresses *addresses, uint32_t *bytes)
{
  uint64_t end = MEMORY_BASE;
  for (int group = 0; group < POP_LINK_GROUP_COUNT; ++group) {
    uint64_t align = pop_closure_group_align(closure, (pop_link_group)group);
    end = (end + align - 1) / align * align;
    addresses->start[group] = (uint32_t)end;
    if (group == POP_LINK_TLS) continue;
    end += pop_closure_group_bytes(closure, (pop_link_group)group);
    if (end > MEMORY_BASE + MEMORY_BYTES) return false;
  }
  *bytes = (uint32_t)(end - MEMORY_BASE);
  return pop_closure_group_bytes(closure, POP_LINK_TLS) <= MEMORY_BYTES;
}

static void relocate(const pop_closure *closure)
{
  pop_link_addresses addresses = {0};
  uint32_t bytes;
  if (!place(closure, &addresses, &bytes)) return;
  uint32_t tls_bytes = pop_closure_group_bytes(closure, POP_LINK_TLS);
  uint8_t *memory = malloc(bytes ? bytes : 1), *tls = malloc(tls_bytes ? tls_bytes : 1);
  if (!memory || !tls) abort();
  forget(pop_closure_relocate(closure, &addresses, memory, MEMORY_BASE, bytes, tls));
  pop_closure_symbols(closure, &addresses, read_link_symbol, (const void *[]){closure, &addresses});
  free(memory);
  free(tls);
}

static void link_entry(const pop_link_set *set, const char *symbol)
{
  pop_closure *closure;
  if (!forget(pop_closure_create(set, &symbol, NULL, 1, &closure))) return;
  relocate(closure);
  pop_closure_free(closure);
}

static void measure_stacks(const pop_link_set *set, const pop_gp *gp)
{
  pop_stack_analysis *analysis;
  if (!forget(pop_stack_analysis_new(set, &analysis))) return;
  pop_arena *arena = pop_arena_new();
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i) {
    pop_stack_use use = pop_stack_analyse(analysis, pop_gp_vertex_type(gp, i)->symbol, arena);
    touch_text(pop_stack_explain(&use, arena));
  }
  pop_arena_free(arena);
  pop_stack_analysis_free(analysis);
}

static void link_all(const pop_gp *gp)
{
  pop_link_set *set = pop_link_set_new();
  pop_link_set_define(set, POP_LINK_MEMORY_BASE, MEMORY_BASE);
  for (size_t i = 0; i < pop_gp_num_tile_objects(gp); ++i) {
    bool library;
    const pop_object *object = pop_gp_tile_object(gp, i, &library);
    forget(pop_link_set_add(set, object, library));
  }
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i)
    link_entry(set, pop_gp_vertex_type(gp, i)->symbol);
  measure_stacks(set, gp);
  pop_link_set_free(set);
}

/* ---- the whole ---- */

static void read_all(const pop_gp *gp)
{
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i) read_type(pop_gp_vertex_type(gp, i));
  for (size_t i = 0; i < pop_gp_num_tile_objects(gp); ++i) {
    read_object(pop_gp_tile_object(gp, i, NULL));
    touch_text(pop_gp_tile_object_targets(gp, i));
  }
  for (size_t i = 0; i < pop_gp_num_host_objects(gp); ++i) {
    size_t size;
    const void *bytes = pop_gp_host_object(gp, i, &size);
    touch(bytes, size);
    pop_bytes table = {0};
    if (pop_gp_host_vertex_table(gp, i, &table)) touch(table.data, table.size);
    pop_bytes_free(&table);
  }
}

static void use_targets(pop_gp *gp)
{
  char *targets = pop_gp_targets(gp), *rest = targets;
  for (char *name; (name = strsep(&rest, ","));) {
    pop_gp *part;
    if (!forget(pop_gp_for_target(gp, name, &part))) continue;
    link_all(part);
    pop_gp_free(part);
  }
  free(targets);
}

/* Who has read it can write it, and read that: merging codelets is no place for surprises. */
static void write_again(const pop_gp *gp)
{
  pop_gp_builder *builder = pop_gp_builder_new();
  uint8_t *bytes = NULL;
  size_t size;
  pop_gp *again;
  if (!forget(pop_gp_builder_add_gp(builder, gp))) abort();
  if (!forget(pop_gp_builder_write(builder, NULL, &bytes, &size))) abort();
  if (!forget(pop_gp_read_memory(bytes, size, "again.gp", &again))) abort();
  pop_gp_free(again);
  free(bytes);
  pop_gp_builder_free(builder);
}

static void use_gp(const uint8_t *bytes, size_t size)
{
  pop_gp *gp;
  if (!forget(pop_gp_read_memory(bytes, size, "input.gp", &gp))) return;
  read_all(gp);
  use_targets(gp);
  write_again(gp);
  pop_gp_free(gp);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  use_gp(bytes, size);
  gp_parts parts;
  if (!gp_parts_take(bytes, size, &parts)) return 0;
  uint8_t *joined;
  size_t joined_size;
  gp_parts_join(&parts, &joined, &joined_size);
  if (joined_size != size || memcmp(joined, bytes, size) != 0) use_gp(joined, joined_size);
  free(joined);
  gp_parts_free(&parts);
  return 0;
}
