/* The encoding of a profile's tables: each is a flat array of numbers, a few for each entry, in
 * this order. A table that numbers refer to comes before them.
 *
 * T(table, fields(F)); F(field, limit): the number must be below the limit, in which `p` is the
 * profile. */
#ifndef EXECUTABLE_PROFILE_FIELDS_H
#define EXECUTABLE_PROFILE_FIELDS_H

#define PROFILE_ANY32 ((uint64_t)UINT32_MAX + 1)
/* So no sum over a profile's entries exceeds 64 bits. */
#define PROFILE_ANY64 (UINT64_C(1) << 48)

#define PROFILE_VERTEX_TYPE_FIELDS(F) F(state_bytes, PROFILE_ANY32) F(code_bytes, PROFILE_ANY32)
#define PROFILE_USE_FIELDS(F)                                                                      \
  F(type, p->num_vertex_types)                                                                     \
  F(count, PROFILE_ANY32)                                                                          \
  F(bytes[0], PROFILE_ANY32)                                                                       \
  F(bytes[1], PROFILE_ANY32)                                                                       \
  F(bytes[2], PROFILE_ANY32)                                                                       \
  F(bytes[3], PROFILE_ANY32)                                                                       \
  F(bytes[4], PROFILE_ANY32)
#define PROFILE_WORK_ROW_FIELDS(F)                                                                 \
  F(code_bytes, PROFILE_ANY32) F(first_use, p->num_uses + 1) F(num_uses, p->num_uses + 1)
#define PROFILE_EXCHANGE_CODE_FIELDS(F)                                                            \
  F(bytes[0], PROFILE_ANY64)                                                                       \
  F(bytes[1], PROFILE_ANY64)                                                                       \
  F(bytes[2], PROFILE_ANY64)                                                                       \
  F(bytes[3], PROFILE_ANY64)                                                                       \
  F(bytes[4], PROFILE_ANY64)
#define PROFILE_MOVED_FIELDS(F)                                                                    \
  F(exchange, p->num_exchange_codes) F(is_destination, 2) F(name, p->num_names)
#define PROFILE_LIVE_FIELDS(F)                                                                     \
  F(name, p->num_names)                                                                            \
  F(category, POP_MEMORY_CATEGORY_COUNT)                                                           \
  F(first_step, PROFILE_ANY32)                                                                     \
  F(last_step, PROFILE_ANY32)                                                                      \
  F(bytes, PROFILE_ANY64)
#define PROFILE_USED_FIELDS(F) F(step, PROFILE_ANY32) F(live, p->num_lives)

#define PROFILE_TABLES(T)                                                                          \
  T(vertex_types, PROFILE_VERTEX_TYPE_FIELDS)                                                      \
  T(uses, PROFILE_USE_FIELDS)                                                                      \
  T(work_rows, PROFILE_WORK_ROW_FIELDS)                                                            \
  T(exchange_codes, PROFILE_EXCHANGE_CODE_FIELDS)                                                  \
  T(moved, PROFILE_MOVED_FIELDS)                                                                   \
  T(lives, PROFILE_LIVE_FIELDS)                                                                    \
  T(used, PROFILE_USED_FIELDS)

#define PROFILE_NUMBERS(N) N(num_vertices) N(num_edges) N(num_variables)

#define PROFILE_COUNT_FIELD(field, limit) +1
#define PROFILE_NUM_FIELDS(fields) (0 fields(PROFILE_COUNT_FIELD))

#endif
