/* Fields of codelets in C; include <populus/vertex.h>.
 *
 *     float k;                                   a constant: the graph gives its value
 *     STATE(VECTOR(float)) table;                constant data; the vertex may change them
 *     INPUT(float) a;                            *a        OUTPUT and INOUT likewise
 *     INPUT(VECTOR(float)) b;                    b.data[i], b.size
 *     INPUT(VECTOR(float, ONE_PTR)) c;           c[i]: the codelet knows the size from elsewhere
 *     INPUT(VECTOR_OF(VECTOR(float))) d;         rows: d.data[r].data[i], d.data[r].size, d.size
 *     INPUT(VECTOR_LIST(float)) e;               packed rows: ROW(e, r)[i], ROW_SIZE(e, r), ROWS(e)
 *     INPUT(VECTOR_LIST(float, ONE_PTR)) e;      e[r][i]: the codelet knows the sizes
 *     INPUT(float) f[4];                         *f[i]: rows in the vertex itself
 *
 *     VECTOR(type, layout, alignment, interleaved)
 *     VECTOR_OF(type or VECTOR(…), layout, alignment of the table of rows)
 *     VECTOR_LIST(type, layout, alignment, interleaved)
 *
 * The alignment is the least that the data must have, in bytes (0: what the type needs).
 * `interleaved` is 1 if the data must lie in the interleaved memory of the tile. Layouts:
 *
 *     SPAN            8 bytes  pointer and size; the default
 *     ONE_PTR         4        pointer only
 *     SHORT_SPAN      4        DATA(x)[i], x.size: up to 4,095 elements
 *     SCALED_PTR32    2        DATA(x)[i]: the data are aligned to 4 bytes
 *     SCALED_PTR64    2        to 8 bytes
 *     SCALED_PTR128   2        to 16 bytes
 *     COMPACT_PTR              ONE_PTR, the shortest that reaches all memory of every target
 *     DELTAN          6        lists: 18 bits for where a row is, 14 for its size
 *     DELTANELEMENTS  8        reaches 2 MiB; the default of lists
 *     COMPACT_DELTAN           DELTANELEMENTS
 *
 * <populus/vertex_type.h> shows each bit. On a host, where pointers do not fit these bits, all
 * layouts are plain pointers and sizes, and read the same.
 */
#ifndef POPULUS_FIELDS_H
#define POPULUS_FIELDS_H

#include <stdint.h>

#define INPUT(...) POPULUS_FIELD("input", const, __VA_ARGS__)
#define OUTPUT(...) POPULUS_FIELD("output", , __VA_ARGS__)
#define INOUT(...) POPULUS_FIELD("inout", , __VA_ARGS__)
#define STATE(...) POPULUS_FIELD("state", , __VA_ARGS__)

#define VECTOR(...) POPULUS_BY_COUNT(POPULUS_VECTOR_, __VA_ARGS__)
#define VECTOR_OF(...) POPULUS_BY_COUNT(POPULUS_VECTOR_OF_, __VA_ARGS__)
#define VECTOR_LIST(...) POPULUS_BY_COUNT(POPULUS_VECTOR_LIST_, __VA_ARGS__)
/* typedef struct CONSTRAINT("elem(*a) != elem(*b)") { … } MyVertex: the data of a and of b lie in
 * different memory elements; region(…) for regions of memory, == for the same one. */
#define CONSTRAINT(text) POPULUS_ANNOTATE("constraint:" text)

#define COMPACT_PTR ONE_PTR
#define COMPACT_DELTAN DELTANELEMENTS

#define DATA(vector) ((POPULUS_POINTER(vector))POPULUS_DATA(vector))
#define ROW(list, row) ((POPULUS_POINTER(list))POPULUS_ROW(list, row))
#define ROW_SIZE(list, row) POPULUS_ROW_SIZE(list, row)
#define ROWS(list) POPULUS_ROWS(list)

/* How it works.
 *
 * VECTOR(float) expands to several arguments, a plain type to one. INPUT counts them to see which
 * form the field has. It leaves an annotation for popc,
 * "populus:<kind>:<layout>:<alignment>:<interleaved>", with ":<layout>:<alignment>" of the table if
 * there are rows. */
#define POPULUS_BY_COUNT(macro, ...)                                                               \
  POPULUS_PASTE(macro, POPULUS_COUNT(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1, ))(__VA_ARGS__)
#define POPULUS_COUNT(a, b, c, d, e, f, g, count, ...) count
#define POPULUS_PASTE(a, b) POPULUS_PASTE_NOW(a, b)
#define POPULUS_PASTE_NOW(a, b) a##b

#define POPULUS_VECTOR_1(type) type, SPAN, 0, 0
#define POPULUS_VECTOR_2(type, layout) type, layout, 0, 0
#define POPULUS_VECTOR_3(type, layout, align) type, layout, align, 0
#define POPULUS_VECTOR_4(type, layout, align, interleaved) type, layout, align, interleaved
/* of scalars, then of VECTOR(…) */
#define POPULUS_VECTOR_OF_1(type) type, SCALAR, 0, 0, SPAN, 0
#define POPULUS_VECTOR_OF_2(type, layout) type, SCALAR, 0, 0, layout, 0
#define POPULUS_VECTOR_OF_3(type, layout, align) type, SCALAR, 0, 0, layout, align
#define POPULUS_VECTOR_OF_4(type, row, align, interleaved) type, row, align, interleaved, SPAN, 0
#define POPULUS_VECTOR_OF_5(type, row, align, interleaved, layout)                                 \
  type, row, align, interleaved, layout, 0
#define POPULUS_VECTOR_OF_6(type, row, align, interleaved, layout, table_align)                    \
  type, row, align, interleaved, layout, table_align
#define POPULUS_VECTOR_LIST_1(type) POPULUS_VECTOR_LIST_4(type, DELTANELEMENTS, 0, 0)
#define POPULUS_VECTOR_LIST_2(type, layout) POPULUS_VECTOR_LIST_4(type, layout, 0, 0)
#define POPULUS_VECTOR_LIST_3(type, layout, align) POPULUS_VECTOR_LIST_4(type, layout, align, 0)
#define POPULUS_VECTOR_LIST_4(type, layout, align, interleaved)                                    \
  type, layout, align, interleaved, layout, 0, LIST

/* __typeof__ makes it one type, so that `INPUT(float) a, b;` declares two pointers. */
#define POPULUS_FIELD(kind, qualifier, ...)                                                        \
  POPULUS_FIELD_NOW(POPULUS_COUNT(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1, ), kind, qualifier, __VA_ARGS__)
#define POPULUS_FIELD_NOW(count, kind, qualifier, ...)                                             \
  POPULUS_PASTE(POPULUS_FIELD_, count)(kind, qualifier, __VA_ARGS__)
#define POPULUS_FIELD_1(kind, qualifier, type)                                                     \
  POPULUS_ANNOTATE(kind ":SCALAR:0:0") POPULUS_LAYOUT_SCALAR(qualifier type)
#define POPULUS_FIELD_4(kind, qualifier, type, layout, align, interleaved)                         \
  POPULUS_ANNOTATE(kind ":" #layout ":" #align ":" #interleaved)                                   \
  POPULUS_LAYOUT_##layout(qualifier type)
#define POPULUS_FIELD_6(kind, qualifier, type, row, align, interleaved, layout, table_align)       \
  POPULUS_ANNOTATE(kind ":" #row ":" #align ":" #interleaved ":" #layout ":" #table_align)         \
  POPULUS_LAYOUT_##layout(POPULUS_LAYOUT_##row(qualifier type))
#define POPULUS_FIELD_7(kind, qualifier, type, row, align, interleaved, layout, table_align, list) \
  POPULUS_ANNOTATE(kind ":" #row ":" #align ":" #interleaved ":" #layout ":" #table_align)         \
  POPULUS_LIST_##layout(qualifier type)
#define POPULUS_LIST_DELTAN(type) POPULUS_LAYOUT_DELTAN(type)
#define POPULUS_LIST_DELTANELEMENTS(type) POPULUS_LAYOUT_DELTANELEMENTS(type)
#define POPULUS_LIST_ONE_PTR(type) POPULUS_LAYOUT_ONE_PTR(POPULUS_LAYOUT_ONE_PTR(type))
/* Only popc-reflect sees annotations, as it defines POPULUS_REFLECTS. clang would turn each access
 * to an annotated field into a call of an intrinsic. No pass sees through it, so each access would
 * load the field again. */
#ifdef POPULUS_REFLECTS
#define POPULUS_ANNOTATE(text) __attribute__((annotate("populus:" text)))
#else
#define POPULUS_ANNOTATE(text)
#endif

#define POPULUS_LAYOUT_SCALAR(type) __typeof__(type *)
#define POPULUS_LAYOUT_ONE_PTR(type) __typeof__(type *)
#define POPULUS_LAYOUT_SPAN(type)                                                                  \
  struct {                                                                                         \
    __typeof__(type *) data;                                                                       \
    unsigned size;                                                                                 \
  }

/* Members without a size describe a packed field: what it points to (`element`) and in which units
 * (`unit`; a SHORT_SPAN has none). */
#define POPULUS_POINTER(field) __typeof__((field).element[0])

#ifdef __riscv

#define POPULUS_LAYOUT_SHORT_SPAN(type)                                                            \
  struct {                                                                                         \
    __extension__ __typeof__(type *) element[0];                                                   \
    __extension__ char unit[0][1];                                                                 \
    unsigned address : 20;                                                                         \
    unsigned size : 12;                                                                            \
  }
#define POPULUS_LAYOUT_SCALED(type, bytes)                                                         \
  struct __attribute__((packed, aligned(2))) {                                                     \
    __extension__ __typeof__(type *) element[0];                                                   \
    __extension__ char unit[0][bytes];                                                             \
    uint16_t scaled;                                                                               \
  }
#define POPULUS_LAYOUT_SCALED_PTR32(type) POPULUS_LAYOUT_SCALED(type, 4)
#define POPULUS_LAYOUT_SCALED_PTR64(type) POPULUS_LAYOUT_SCALED(type, 8)
#define POPULUS_LAYOUT_SCALED_PTR128(type) POPULUS_LAYOUT_SCALED(type, 16)
#define POPULUS_LAYOUT_DELTAN(type)                                                                \
  struct __attribute__((packed, aligned(2))) {                                                     \
    __extension__ __typeof__(type *) element[0];                                                   \
    unsigned base : 20;                                                                            \
    unsigned size : 12;                                                                            \
    uint16_t table;                                                                                \
  }
#define POPULUS_LAYOUT_DELTANELEMENTS(type)                                                        \
  struct {                                                                                         \
    __extension__ __typeof__(type *) element[0];                                                   \
    unsigned base : 24;                                                                            \
    unsigned size_low : 8;                                                                         \
    unsigned table : 24;                                                                           \
    unsigned size_high : 8;                                                                        \
  }

#define POPULUS_DATA(field) populus_data(&(field), sizeof(field).unit[0])
#define POPULUS_ROW(list, row)                                                                     \
  populus_row(&(list), sizeof(list), sizeof *(list).element[0], row).address
#define POPULUS_ROW_SIZE(list, row)                                                                \
  populus_row(&(list), sizeof(list), sizeof *(list).element[0], row).size
#define POPULUS_ROWS(list) populus_rows(&(list), sizeof(list))

extern char __tile_memory_base[]; /* its address counts: the linker of the tile sets it */

static __inline__ void *populus_data(const void *field, unsigned unit)
{
  if (unit == 1) return (void *)(*(const uint32_t *)field & 0xfffff);
  return __tile_memory_base + *(const uint16_t *)field * unit;
}

static __inline__ unsigned populus_rows(const void *list, unsigned list_bytes)
{
  const uint16_t *words = list;
  if (list_bytes == 6) return words[1] >> 4;
  return words[1] >> 8 | words[3] >> 8 << 8;
}

typedef struct populus_row_place {
  void *address;
  unsigned size;
} populus_row_place;

static __inline__ populus_row_place populus_row(const void *list, unsigned list_bytes,
                                                unsigned element_bytes, unsigned row)
{
  const uint16_t *words = list;
  unsigned base = words[0] | (unsigned)words[1] << 16, table, unit, bits;
  if (list_bytes == 6) {
    base &= 0xfffff;
    table = (unsigned)(uintptr_t)__tile_memory_base + words[2] * 4u;
    unit = 1;
    bits = 18;
  } else {
    base &= 0xffffff;
    table = words[2] | (words[3] & 0xffu) << 16;
    unit = element_bytes;
    bits = unit == 1 ? 21 : unit == 2 ? 20 : unit == 4 ? 19 : 18;
  }
  uint32_t entry = ((const uint32_t *)table)[row];
  return (populus_row_place){(void *)(base + (entry & ((1u << bits) - 1)) * unit), entry >> bits};
}

#else

#define POPULUS_LAYOUT_PLAIN(type)                                                                 \
  struct {                                                                                         \
    __extension__ __typeof__(type *) element[0];                                                   \
    __typeof__(type *) data;                                                                       \
    unsigned size;                                                                                 \
  }
#define POPULUS_LAYOUT_SHORT_SPAN(type) POPULUS_LAYOUT_PLAIN(type)
#define POPULUS_LAYOUT_SCALED(type)                                                                \
  struct {                                                                                         \
    __extension__ __typeof__(type *) element[0];                                                   \
    __typeof__(type *) data;                                                                       \
  }
#define POPULUS_LAYOUT_SCALED_PTR32(type) POPULUS_LAYOUT_SCALED(type)
#define POPULUS_LAYOUT_SCALED_PTR64(type) POPULUS_LAYOUT_SCALED(type)
#define POPULUS_LAYOUT_SCALED_PTR128(type) POPULUS_LAYOUT_SCALED(type)
#define POPULUS_LAYOUT_LIST(type)                                                                  \
  struct {                                                                                         \
    __extension__ __typeof__(type *) element[0];                                                   \
    POPULUS_LAYOUT_SPAN(type) * data;                                                              \
    unsigned size;                                                                                 \
  }
#define POPULUS_LAYOUT_DELTAN(type) POPULUS_LAYOUT_LIST(type)
#define POPULUS_LAYOUT_DELTANELEMENTS(type) POPULUS_LAYOUT_LIST(type)
#define POPULUS_DATA(field) ((field).data)
#define POPULUS_ROW(list, row) ((list).data[row].data)
#define POPULUS_ROW_SIZE(list, row) ((list).data[row].size)
#define POPULUS_ROWS(list) ((list).size)

#endif

#endif
