#include "compiler/lower/vertex_state.h"

#include <string.h>

enum { WORD = 4, SHORT_SPAN_ADDRESS_BITS = 20, DELTAN_BASE_BITS = 20, DELTAN_OFFSET_BITS = 18 };
enum { DELTANELEMENTS_BASE_BITS = 24, DELTANELEMENTS_COUNT_MASK = 0xff };

static void put_word(const field_writer *w, uint32_t at, uint32_t word)
{
  uint8_t *bytes = w->c->bytes + w->c->contents[w->content].first_byte + at;
  for (int i = 0; i < WORD; i++) bytes[i] = (uint8_t)(word >> (8 * i));
}

static bool is_empty(const pointer *p)
{
  return p->at.block == COMPILER_NONE;
}

/* Empty vectors get a readable address, if the layout has room for any address. */
static void put_pointer(const field_writer *w, uint32_t at, const pointer *p)
{
  add_fixup(w->c, w->content, at, is_empty(p) ? w->at : p->at);
}

static void put_packed(const field_writer *w, uint32_t at, const pointer *p, address_form form)
{
  if (!is_empty(p)) add_packed_fixup(w->c, w->content, at, p->at, form);
}

static void put_deltanelements(const field_writer *w, uint32_t at, const pointer *p)
{
  uint32_t low = p->elements & DELTANELEMENTS_COUNT_MASK, high = p->elements >> 8;
  put_word(w, at, w->c->target.memory_base | low << DELTANELEMENTS_BASE_BITS);
  put_word(w, at + WORD, high << DELTANELEMENTS_BASE_BITS);
  put_packed(w, at + WORD, p, ADDRESS_DELTANELEMENTS_TABLE);
}

/* Writes what leads to data or to a table: pop_field_layout shows the layouts. */
static void put_layout(const field_writer *w, uint32_t at, pop_field_layout layout,
                       const pointer *p)
{
  switch (layout) {
  case POP_LAYOUT_SCALAR:
  case POP_LAYOUT_ONE_PTR:
    put_pointer(w, at, p);
    return;
  case POP_LAYOUT_SPAN:
    put_pointer(w, at, p);
    put_word(w, at + WORD, p->elements);
    return;
  case POP_LAYOUT_SHORT_SPAN:
    put_word(w, at, p->elements << SHORT_SPAN_ADDRESS_BITS);
    put_packed(w, at, p, ADDRESS_SHORT_SPAN);
    return;
  case POP_LAYOUT_SCALED_PTR32:
  case POP_LAYOUT_SCALED_PTR64:
  case POP_LAYOUT_SCALED_PTR128:
    put_packed(w, at, p, ADDRESS_SCALED_PTR32 + (layout - POP_LAYOUT_SCALED_PTR32));
    return;
  case POP_LAYOUT_DELTAN:
    put_word(w, at, w->c->target.memory_base | p->elements << DELTAN_BASE_BITS);
    put_packed(w, at + WORD, p, ADDRESS_SCALED_PTR32);
    return;
  case POP_LAYOUT_DELTANELEMENTS:
    put_deltanelements(w, at, p);
    return;
  case POP_LAYOUT_ARRAY:
  case POP_LAYOUT_COUNT:
    return; /* its rows are in place; nothing leads to them */
  }
}

static address_form form_of_row(const pop_field *field)
{
  if (field->layout == POP_LAYOUT_DELTAN) return ADDRESS_DELTAN_ROW;
  uint32_t bytes = pop_type_bytes(field->type);
  return bytes == 1   ? ADDRESS_DELTANELEMENTS_ROW_1
         : bytes == 2 ? ADDRESS_DELTANELEMENTS_ROW_2
         : bytes == 4 ? ADDRESS_DELTANELEMENTS_ROW_4
                      : ADDRESS_DELTANELEMENTS_ROW_8;
}

static void put_rows(const field_writer *w, uint32_t at, const pop_field *field, const pointer *p)
{
  uint32_t offset_bits = field->layout == POP_LAYOUT_DELTAN
                             ? DELTAN_OFFSET_BITS
                             : pop_deltanelements_offset_bits(field->type);
  for (uint32_t i = 0; i < p->elements; i++, at += pop_field_row_bytes(field)) {
    const pointer *row = &w->all[p->first_row + i];
    if (is_list_layout(field->layout)) {
      put_word(w, at, row->elements << offset_bits);
      put_packed(w, at, row, form_of_row(field));
    } else {
      put_layout(w, at, field->row_layout, row);
    }
  }
}

static const field_value *find_value(const pop_graph *graph, const vertex *g, uint32_t field)
{
  uint32_t i = g->first_value;
  while (i != GRAPH_NONE && graph->field_values[i].field != field) i = graph->field_values[i].next;
  return i == GRAPH_NONE ? NULL : &graph->field_values[i];
}

static void put_bytes(const field_writer *w, uint32_t at, const uint8_t *bytes, size_t count)
{
  memcpy(w->c->bytes + w->c->contents[w->content].first_byte + at, bytes, count);
}

void write_vertex_state(const field_writer *w, const vertex *g, const pointer *pointers,
                        uint32_t offset)
{
  const pop_graph *graph = w->c->graph;
  const pop_vertex_type *type = graph->vertex_types[g->type].type;
  for (uint32_t i = 0; i < type->num_fields; i++) {
    const pop_field *field = &type->fields[i];
    uint32_t at = offset + field->offset;
    if (field->kind == POP_FIELD_CONSTANT && field->layout == POP_LAYOUT_SCALAR) {
      const field_value *value = find_value(graph, g, i);
      if (value) put_bytes(w, at, value->bytes, pop_type_bytes(field->type));
    } else if (field->layout == POP_LAYOUT_ARRAY) {
      put_rows(w, at, field, &pointers[i]);
    } else {
      put_layout(w, at, field->layout, &pointers[i]);
    }
  }
}

void write_vertex_data(const field_writer *w, const vertex *g, const pointer *pointers)
{
  const pop_graph *graph = w->c->graph;
  const pop_vertex_type *type = graph->vertex_types[g->type].type;
  for (uint32_t i = 0; i < type->num_fields; i++) {
    const pop_field *field = &type->fields[i];
    const pointer *p = &pointers[i];
    if (field->has_rows && p->at.block == w->at.block) put_rows(w, p->at.offset, field, p);
    if (field->kind != POP_FIELD_CONSTANT || field->layout == POP_LAYOUT_SCALAR) continue;
    const field_value *value = find_value(graph, g, i);
    if (value && value->data && p->at.block == w->at.block)
      put_bytes(w, p->at.offset, value->data, (size_t)value->count * pop_type_bytes(field->type));
  }
}
