#include "compiler/lower/vertex_bytes.h"

static uint32_t field_bytes(const pop_field *field)
{
  if (field->layout == POP_LAYOUT_ARRAY) return field->num_rows * pop_field_row_bytes(field);
  if (field->layout == POP_LAYOUT_SCALAR && field->kind == POP_FIELD_CONSTANT)
    return pop_type_bytes(field->type);
  return pop_layout_forms[field->layout].bytes;
}

void add_state_bytes(profile_vertex_use *use, const pop_vertex_type *type, bool copies)
{
  uint32_t covered = 0;
  for (size_t i = 0; i < type->num_fields; i++) {
    const pop_field *field = &type->fields[i];
    profile_vertex_part part = copies                              ? PROFILE_COPY_POINTERS
                               : field->kind == POP_FIELD_CONSTANT ? PROFILE_VERTEX_DATA
                                                                   : PROFILE_EDGE_POINTERS;
    use->bytes[part] += field_bytes(field);
    covered += field_bytes(field);
  }
  use->bytes[PROFILE_PADDING] += type->state_size - covered;
  use->count++;
}

void begin_vertex_uses(const compilation *c, tile_work *work)
{
  work->first_use = c->num_vertex_uses;
  work->num_uses = 0;
}

void add_vertex_use(compilation *c, tile_work *work, const profile_vertex_use *use)
{
  for (size_t i = work->first_use; i < c->num_vertex_uses; i++) {
    profile_vertex_use *known = &c->vertex_uses[i];
    if (known->type != use->type) continue;
    known->count += use->count;
    for (int p = 0; p < PROFILE_VERTEX_PART_COUNT; p++) known->bytes[p] += use->bytes[p];
    return;
  }
  pop_push(c->vertex_uses, c->num_vertex_uses, c->vertex_uses_capacity, *use);
  work->num_uses++;
}

uint64_t vertex_use_bytes(const compilation *c, const tile_work *work)
{
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < work->num_uses; i++)
    for (int p = 0; p < PROFILE_VERTEX_PART_COUNT; p++)
      bytes += c->vertex_uses[work->first_use + i].bytes[p];
  return bytes;
}
