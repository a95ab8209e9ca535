/* Fuzz target of the `.gp` reader: everything that a graph does with codelets before it runs them.
 *
 *   bytes -> pop_gp_read_memory, as they are and with a digest that fits
 *         -> every vertex type, object and symbol read; a part for each target
 *         -> of each entry: stack, live sections, relocated into memory of just its size
 *         -> written again, which must be readable again
 *
 * The preset `fuzz` builds it for libFuzzer. Every other preset builds it into `replay`, which the
 * tests run over the corpus.
 */
#include "fuzz.h"
#include "gp_parts.h"
#include "use.h"
#include "use_objects.h"

#include <populus/arena.h>

#include <stdlib.h>
#include <string.h>

/* ---- vertex types ---- */

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
    /* With two fields of one name, a graph could reach only the first. */
    if (pop_vertex_type_find_field(type, field->name) != field) abort();
    if (field->offset + field->size > type->state_size) abort();
  }
}

/* ---- the linker ---- */

static void link_all(const pop_gp *gp)
{
  pop_link_set *set = new_link_set();
  for (size_t i = 0; i < pop_gp_num_tile_objects(gp); ++i) {
    bool library;
    const pop_object *object = pop_gp_tile_object(gp, i, &library);
    forget(pop_link_set_add(set, object, library));
  }
  size_t count = pop_gp_num_vertex_types(gp);
  const char **symbols = pop_xcalloc(count + 1, sizeof *symbols);
  for (size_t i = 0; i < count; ++i) symbols[i] = pop_gp_vertex_type(gp, i)->symbol;
  use_entries(set, symbols, count);
  free(symbols);
  pop_link_set_free(set);
}

/* ---- the whole ---- */

static void read_all(const pop_gp *gp)
{
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i) read_type(pop_gp_vertex_type(gp, i));
  for (size_t i = 0; i < pop_gp_num_tile_objects(gp); ++i) {
    use_object(pop_gp_tile_object(gp, i, NULL));
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

/* A `.gp` that can be read can be written, and the result can be read: merging codelets
 * relies on that. */
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
