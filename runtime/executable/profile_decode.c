/* Reads a profile from CBOR. Nothing is trusted: no number leads out of its table. */
#include "executable/executable.h"
#include "executable/metadata.h"
#include "executable/profile_fields.h"

#include <math.h>

static pop_error *read_number(metadata_reader *r, uint64_t limit, uint64_t *value)
{
  if (limit == 0) return metadata_error(r, "there is nothing that it could count");
  return metadata_read_uint(r, limit - 1, value);
}

static pop_error *read_names(metadata_reader *r, executable_profile *p)
{
  size_t count;
  POP_TRY(metadata_read_key(r, 0, "names"));
  POP_TRY(metadata_read_array(r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    const char *name;
    r->entry = i;
    POP_TRY(metadata_read_text(r, &name));
    pop_push(p->names, p->num_names, p->names_capacity, name);
  }
  r->entry = SIZE_MAX;
  return NULL;
}

static pop_error *read_metrics(metadata_reader *r, executable_profile *p)
{
  size_t count;
  POP_TRY(metadata_read_key(r, 0, "metrics"));
  POP_TRY(metadata_read_array(r, 2, &count));
  for (size_t i = 0; i < count; i += 2) {
    profile_metric metric;
    uint64_t name = 0;
    POP_TRY(read_number(r, p->num_names, &name));
    metric.name = (uint32_t)name;
    POP_TRY(metadata_read_double(r, &metric.value));
    if (!isfinite(metric.value)) return metadata_error(r, "a metric is no number");
    pop_push(p->metrics, p->num_metrics, p->metrics_capacity, metric);
  }
  return NULL;
}

#define READ_ITEM_FIELD(field, limit)                                                              \
  POP_TRY(read_number(r, limit, &value));                                                          \
  item.field = (__typeof__(item.field))value;

#define DEFINE_READ(table, fields)                                                                 \
  static pop_error *read_##table(metadata_reader *r, executable_profile *p)                        \
  {                                                                                                \
    size_t count;                                                                                  \
    POP_TRY(metadata_read_key(r, 0, #table));                                                      \
    POP_TRY(metadata_read_array(r, PROFILE_NUM_FIELDS(fields), &count));                           \
    for (size_t i = 0; i < count / PROFILE_NUM_FIELDS(fields); ++i) {                              \
      __typeof__(*p->table) item;                                                                  \
      uint64_t value = 0;                                                                          \
      r->entry = i;                                                                                \
      fields(READ_ITEM_FIELD) pop_push(p->table, p->num_##table, p->table##_capacity, item);       \
    }                                                                                              \
    r->entry = SIZE_MAX;                                                                           \
    return NULL;                                                                                   \
  }
PROFILE_TABLES(DEFINE_READ)

static pop_error *read_works(metadata_reader *r, executable_profile *p)
{
  size_t count;
  uint64_t row = 0;
  POP_TRY(metadata_read_key(r, 0, "works"));
  POP_TRY(metadata_read_array(r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    POP_TRY(read_number(r, p->num_work_rows, &row));
    pop_push(p->works, p->num_works, p->works_capacity, (uint32_t)row);
  }
  return NULL;
}

/* ---- how the tables fit together ---- */

static bool in_table(uint64_t first, uint64_t count, size_t size)
{
  return first <= size && count <= size - first;
}

static pop_error *check(const metadata_reader *r, const pop_executable *e,
                        const executable_profile *p)
{
  if (p->num_vertex_types != e->num_vertex_types || p->num_works != e->num_works ||
      p->num_exchange_codes != e->num_exchanges)
    return metadata_error(r,
                          "it is of another executable: %zu vertex types, %zu works and %zu "
                          "exchanges, not %zu, %zu and %zu",
                          p->num_vertex_types, p->num_works, p->num_exchange_codes,
                          e->num_vertex_types, e->num_works, e->num_exchanges);
  for (size_t i = 0; i < p->num_work_rows; ++i)
    if (!in_table(p->work_rows[i].first_use, p->work_rows[i].num_uses, p->num_uses))
      return metadata_error(r, "work row %zu leads out of its table", i);
  return NULL;
}

pop_error *executable_profile_decode(const uint8_t *cbor, size_t size, const pop_executable *e,
                                     executable_profile *p)
{
  metadata_reader reader = {.bytes = cbor, .size = size, .arena = p->arena, .entry = SIZE_MAX};
  metadata_reader *r = &reader;
  uint64_t format;
#define COUNT_KEY(...) +1
  POP_TRY(metadata_read_map_of(r, 4 PROFILE_NUMBERS(COUNT_KEY) PROFILE_TABLES(COUNT_KEY)));
#undef COUNT_KEY
  POP_TRY(metadata_read_key(r, 0, "format"));
  POP_TRY(metadata_read_uint(r, UINT64_MAX, &format));
  if (format != EXECUTABLE_PROFILE_FORMAT)
    return metadata_error(r, "it is of format %llu, but this Populus reads %d",
                          (unsigned long long)format, EXECUTABLE_PROFILE_FORMAT);
#define READ_PLAIN(field)                                                                          \
  POP_TRY(metadata_read_key(r, 0, #field));                                                        \
  POP_TRY(metadata_read_uint(r, PROFILE_ANY64, &p->field));
  PROFILE_NUMBERS(READ_PLAIN)
  POP_TRY(read_names(r, p));
  POP_TRY(read_metrics(r, p));
#define READ_TABLE(table, fields) POP_TRY(read_##table(r, p));
  PROFILE_TABLES(READ_TABLE)
  POP_TRY(read_works(r, p));
  if (r->at != r->size) return metadata_error(r, "there is more behind it");
  return check(r, e, p);
}
