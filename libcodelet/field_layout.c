/* What a layout takes in memory, and how many elements it can count: the table of
 * vertex_type.h as data. */
#include <populus/vertex_type.h>

const pop_layout_form pop_layout_forms[POP_LAYOUT_COUNT] = {
    /*                           name            bytes, align, target align, most elements or rows */
    [POP_LAYOUT_SCALAR] = {"scalar", 4, 4, 1, 1},
    [POP_LAYOUT_SPAN] = {"span", 8, 4, 1, UINT32_MAX},
    [POP_LAYOUT_ONE_PTR] = {"one_ptr", 4, 4, 1, UINT32_MAX},
    [POP_LAYOUT_SHORT_SPAN] = {"short_span", 4, 4, 1, (1 << 12) - 1},
    [POP_LAYOUT_SCALED_PTR32] = {"scaled_ptr32", 2, 2, 4, UINT32_MAX},
    [POP_LAYOUT_SCALED_PTR64] = {"scaled_ptr64", 2, 2, 8, UINT32_MAX},
    [POP_LAYOUT_SCALED_PTR128] = {"scaled_ptr128", 2, 2, 16, UINT32_MAX},
    [POP_LAYOUT_DELTAN] = {"deltan", 6, 2, 4, (1 << 12) - 1},
    [POP_LAYOUT_DELTANELEMENTS] = {"deltanelements", 8, 4, 4, (1 << 16) - 1},
    [POP_LAYOUT_ARRAY] = {"array", 0, 2, 1, UINT32_MAX},
};

const pop_layout_form pop_host_layout_forms[POP_LAYOUT_COUNT] = {
    [POP_LAYOUT_SCALAR] = {"scalar", 8, 8, 1, 1},
    [POP_LAYOUT_SPAN] = {"span", 16, 8, 1, UINT32_MAX},
    [POP_LAYOUT_ONE_PTR] = {"one_ptr", 8, 8, 1, UINT32_MAX},
    [POP_LAYOUT_SHORT_SPAN] = {"short_span", 16, 8, 1, (1 << 12) - 1},
    [POP_LAYOUT_SCALED_PTR32] = {"scaled_ptr32", 8, 8, 4, UINT32_MAX},
    [POP_LAYOUT_SCALED_PTR64] = {"scaled_ptr64", 8, 8, 8, UINT32_MAX},
    [POP_LAYOUT_SCALED_PTR128] = {"scaled_ptr128", 8, 8, 16, UINT32_MAX},
    [POP_LAYOUT_DELTAN] = {"deltan", 16, 8, 4, (1 << 12) - 1},
    [POP_LAYOUT_DELTANELEMENTS] = {"deltanelements", 16, 8, 4, (1 << 16) - 1},
    [POP_LAYOUT_ARRAY] = {"array", 0, 8, 1, UINT32_MAX},
};

enum { LIST_ROW_BYTES = 4, HOST_LIST_ROW_BYTES = 16, DELTAN_COUNT_BITS = 14 };

static bool is_list(pop_field_layout layout)
{
  return layout == POP_LAYOUT_DELTAN || layout == POP_LAYOUT_DELTANELEMENTS;
}

uint32_t pop_field_row_bytes(const pop_field *field)
{
  return is_list(field->layout) ? LIST_ROW_BYTES : pop_layout_forms[field->row_layout].bytes;
}

uint32_t pop_field_host_row_bytes(const pop_field *field)
{
  return is_list(field->layout) ? HOST_LIST_ROW_BYTES
                                : pop_host_layout_forms[field->row_layout].bytes;
}

uint32_t pop_field_max_elements(const pop_field *field)
{
  switch (field->layout) {
  case POP_LAYOUT_DELTAN:
    return (1u << DELTAN_COUNT_BITS) - 1;
  case POP_LAYOUT_DELTANELEMENTS:
    return (1u << (32 - pop_deltanelements_offset_bits(field->type))) - 1;
  default:
    return pop_layout_forms[field->has_rows ? field->row_layout : field->layout].max_count;
  }
}
