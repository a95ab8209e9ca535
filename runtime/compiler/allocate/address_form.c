/* Packed addresses: which bits of an address the layouts of <populus/vertex_type.h> keep.
 *
 * Whether an address fits is known only once blocks have addresses. A layout that does not reach
 * all of a tile's memory is the codelet author's choice. Data too far above the base are an error
 * that says so. */
#include "compiler/compilation.h"

#include <stdlib.h>

static const struct form {
  const char *layout;
  uint8_t bytes;   /* that are read and written */
  uint8_t bits;    /* the lowest ones of these hold the address */
  uint8_t shift;   /* bits dropped from the address */
  bool above_base; /* relative to the base of tile memory */
} forms[ADDRESS_FORM_COUNT] = {
    [ADDRESS_WORD] = {"one_ptr", 4, 32, 0, false},
    [ADDRESS_SHORT_SPAN] = {"short_span", 4, 20, 0, false},
    [ADDRESS_DELTANELEMENTS_TABLE] = {"deltanelements", 4, 24, 0, false},
    [ADDRESS_SCALED_PTR32] = {"scaled_ptr32", 2, 16, 2, true},
    [ADDRESS_SCALED_PTR64] = {"scaled_ptr64", 2, 16, 3, true},
    [ADDRESS_SCALED_PTR128] = {"scaled_ptr128", 2, 16, 4, true},
    [ADDRESS_DELTAN_ROW] = {"deltan", 4, 18, 0, true},
    [ADDRESS_DELTANELEMENTS_ROW_1] = {"deltanelements", 4, 21, 0, true},
    [ADDRESS_DELTANELEMENTS_ROW_2] = {"deltanelements", 4, 20, 1, true},
    [ADDRESS_DELTANELEMENTS_ROW_4] = {"deltanelements", 4, 19, 2, true},
    [ADDRESS_DELTANELEMENTS_ROW_8] = {"deltanelements", 4, 18, 3, true},
};

static uint32_t packed_address(const compilation *c, const fixup *f)
{
  const struct form *form = &forms[f->form];
  uint32_t address = place_address(c, f->target);
  return (form->above_base ? address - c->target.memory_base : address) >> form->shift;
}

static bool fits(const compilation *c, const fixup *f)
{
  return (uint64_t)packed_address(c, f) >> forms[f->form].bits == 0;
}

uint64_t address_form_reach(const compilation *c, const fixup *f)
{
  const struct form *form = &forms[f->form];
  uint64_t reach = (uint64_t)1 << (form->bits + form->shift);
  return form->above_base ? c->target.memory_base + reach : reach;
}

bool address_is_used(const compilation *c, uint32_t address)
{
  return c->options.runs_out_of_memory || address < pop_target_memory_end(&c->target);
}

/* An address that does not fit is truncated: allocate has refused it, unless the tile is overfull
 * and never loaded. */
void store_address(const compilation *c, const fixup *f, uint8_t *at)
{
  const struct form *form = &forms[f->form];
  uint64_t value = packed_address(c, f) & (((uint64_t)1 << form->bits) - 1);
  for (int i = 0; i < form->bytes; i++, value >>= 8) {
    uint8_t kept = 8 * i + 8 > form->bits ? at[i] : 0;
    if (8 * i < form->bits && form->bits < 8 * i + 8)
      kept &= (uint8_t)(0xff << (form->bits - 8 * i));
    at[i] = (uint8_t)(kept | value);
  }
}

/* The field of a vertex state at an offset of its block; false if the block holds none. */
static bool find_field(const compilation *c, uint32_t block, uint32_t offset,
                       const pop_vertex_type **type, const pop_field **field)
{
  for (size_t w = 0; w < c->num_works; w++) {
    if (c->works[w].state_block != block) continue;
    for (uint32_t i = 0; i < c->works[w].num_vertices; i++) {
      const lowered_vertex *v = &c->vertices[c->works[w].first_vertex + i];
      *type = c->vertex_types[v->type].type;
      for (size_t k = 0; k < (*type)->num_fields; k++) {
        *field = &(*type)->fields[k];
        uint32_t start = v->state_offset + (*field)->offset;
        if (start <= offset && offset < start + (*field)->size) return true;
      }
    }
  }
  return false;
}

static pop_error *unreachable(const compilation *c, uint32_t block_number, const fixup *f)
{
  const block *from = &c->blocks[block_number], *to = &c->blocks[f->target.block];
  uint64_t reach = address_form_reach(c, f) - c->target.memory_base;
  const pop_vertex_type *type;
  const pop_field *field;
  char *who = find_field(c, block_number, f->at, &type, &field)
                  ? pop_xasprintf("field %s.%s of a vertex", type->name, field->name)
                  : pop_xasprintf("a row of a vertex");
  pop_error *error = pop_error_new(
      POP_ERROR_GRAPH_MEMORY,
      "tile %u: %s in compute set '%s' has layout %s, which reaches the first %llu bytes of tile "
      "memory, but '%s' lies at byte %u: give the field a layout that reaches more (ONE_PTR, SPAN, "
      "DELTANELEMENTS), or the tile fewer data",
      from->tile, who, from->name, forms[f->form].layout, (unsigned long long)reach, to->name,
      place_address(c, f->target) - c->target.memory_base);
  free(who);
  return error;
}

pop_error *check_address_forms(const compilation *c)
{
  for (uint32_t i = 0; i < c->num_blocks; i++) {
    if (c->blocks[i].content == COMPILER_NONE) continue;
    const content *holder = &c->contents[c->blocks[i].content];
    for (uint32_t j = 0; j < holder->num_fixups; j++) {
      const fixup *f = &c->fixups[holder->first_fixup + j];
      if (f->form != ADDRESS_WORD && address_is_used(c, place_address(c, f->target)) && !fits(c, f))
        return unreachable(c, i, f);
    }
  }
  return NULL;
}
