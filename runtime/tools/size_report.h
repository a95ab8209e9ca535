/* What tile memory is used for, over the tiles of an archive: rows, each with a kind,
 * bytes and a count.
 *
 *   archive --size_report.c--> rows --size_print.c--> text, CSV, JSON; the changes
 *   between two archives
 *
 * Bytes come from the images. Their use comes from the metadata, which account for every byte. If
 * an archive has no metadata, or those of another version, it comes from the images' symbols. Then
 * bytes without a symbol, such as the padding between vertices, count as gaps.
 */
#ifndef TOOLS_SIZE_REPORT_H
#define TOOLS_SIZE_REPORT_H

#include "step_line.h"

#include <populus/arena.h>
#include <populus/error.h>
#include <populus/target.h>

/* X(enumerator, name in CSV, name of the list in JSON, title in the text, what `count` counts) */
#define SIZE_KINDS(X)                                                                              \
  X(SIZE_TOTAL, "total", "totals", "Memory of all tiles", "tiles")                                 \
  X(SIZE_REGION, "region", "regions", "Regions", "tiles")                                          \
  X(SIZE_CATEGORY, "category", "categories", "Categories", "tiles")                                \
  X(SIZE_VERTEX_TYPE, "vertexType", "vertexTypes", "Vertex types, states", "vertices")             \
  X(SIZE_CODE, "code", "code", "Code", "tiles")                                                    \
  X(SIZE_VARIABLE, "variable", "variables", "Variables and buffers", "tiles")                      \
  X(SIZE_TILE, "tile", "tiles", "Tiles", "symbols")                                                \
  X(SIZE_PLACE, "place", "places", "By address", "bytes")

typedef enum size_kind {
#define SIZE_ENUMERATOR(id, csv, json, title, counts) id,
  SIZE_KINDS(SIZE_ENUMERATOR)
#undef SIZE_ENUMERATOR
      SIZE_KIND_COUNT
} size_kind;

typedef struct size_row {
  size_kind kind;
  const char *name;
  uint64_t bytes;   /* of all tiles */
  uint64_t count;   /* of tiles that have some, or of vertices */
  uint64_t most;    /* bytes of the tile that has most */
  const char *note; /* the category of code and variables, the type of places; or NULL */
  uint64_t order;   /* of a tile its number, of a place its address; else that of appearance */
  uint64_t image;   /* the last one that has some, counted from 1 */
  uint64_t here;    /* its bytes so far */
} size_row;

typedef struct size_report {
  const char *archive;
  const char *target; /* its name */
  bool has_metadata;  /* of this version: what is said of categories is exact */
  bool has_symbols;
  uint64_t num_tiles; /* in the report */
  size_row *rows;
  size_t num_rows, rows_capacity;
  pop_arena *arena;
} size_report;

#define SIZE_ALL_TILES UINT32_MAX

/* For all tiles, or for one, then with its places. Errors: FILE_LOAD; INDEX if there is
 * no such tile. */
POP_MUST_CHECK pop_error *size_report_make(const char *archive, uint32_t tile, step_line *line,
                                           size_report *report);
void size_report_free(size_report *report);

/* ---- size_print.c ---- */

typedef enum size_sort { SIZE_BY_BYTES, SIZE_BY_NAME, SIZE_BY_COUNT } size_sort;
typedef enum size_format { SIZE_TEXT, SIZE_CSV, SIZE_JSON } size_format;

typedef struct size_style {
  size_format format;
  bool pretty; /* of JSON */
  size_sort sort;
  size_t most_rows; /* of each kind, in the text; 0: all */
} size_style;

POP_MUST_CHECK pop_error *size_print(size_report *report, const size_style *style);
/* Prints rows that only one of them has or whose sizes differ; the totals in any case. */
POP_MUST_CHECK pop_error *size_print_difference(size_report *before, size_report *after,
                                                const size_style *style);

#endif
