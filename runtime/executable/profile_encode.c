/* Writes a profile as CBOR: a map with definite lengths. The same profile makes the same bytes. */
#include "executable/executable.h"
#include "executable/metadata.h"
#include "executable/profile_fields.h"

static void put_number(pop_bytes *out, const char *key, uint64_t value)
{
  metadata_put_text(out, key);
  metadata_put_uint(out, value);
}

static void put_names(pop_bytes *out, const executable_profile *p)
{
  metadata_put_text(out, "names");
  metadata_put_array(out, p->num_names);
  for (size_t i = 0; i < p->num_names; ++i) metadata_put_text(out, p->names[i]);
}

static void put_metrics(pop_bytes *out, const executable_profile *p)
{
  metadata_put_text(out, "metrics");
  metadata_put_array(out, 2 * p->num_metrics);
  for (size_t i = 0; i < p->num_metrics; ++i) {
    metadata_put_uint(out, p->metrics[i].name);
    metadata_put_double(out, p->metrics[i].value);
  }
}

#define PUT_ITEM_FIELD(field, limit) metadata_put_uint(out, item->field);

#define DEFINE_PUT(table, fields)                                                                  \
  static void put_##table(pop_bytes *out, const executable_profile *p)                             \
  {                                                                                                \
    metadata_put_text(out, #table);                                                                \
    metadata_put_array(out, p->num_##table *PROFILE_NUM_FIELDS(fields));                           \
    for (size_t i = 0; i < p->num_##table; ++i) {                                                  \
      const __typeof__(*p->table) *item = &p->table[i];                                            \
      fields(PUT_ITEM_FIELD)                                                                       \
    }                                                                                              \
  }
PROFILE_TABLES(DEFINE_PUT)

void executable_profile_encode(const executable_profile *p, pop_bytes *out)
{
#define COUNT_KEY(...) +1
  metadata_put_map(out, 4 PROFILE_NUMBERS(COUNT_KEY) PROFILE_TABLES(COUNT_KEY));
#undef COUNT_KEY
  put_number(out, "format", EXECUTABLE_PROFILE_FORMAT);
#define PUT_PLAIN(field) put_number(out, #field, p->field);
  PROFILE_NUMBERS(PUT_PLAIN)
  put_names(out, p);
  put_metrics(out, p);
#define PUT_TABLE(table, fields) put_##table(out, p);
  PROFILE_TABLES(PUT_TABLE)
  metadata_put_text(out, "works");
  metadata_put_array(out, p->num_works);
  for (size_t i = 0; i < p->num_works; ++i) metadata_put_uint(out, p->works[i]);
}
