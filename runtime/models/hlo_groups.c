/* Replica groups: lists of HLO text become matrices with a row for each group.
 *
 *   {{0,1},{2}}            [[0, 1], [2, -1]]     shorter groups are padded with -1
 *   {}                     no rows: all replicas are one group
 *   [2,2]<=[2,2]T(1,0)     [[0, 2], [1, 3]]      iota of shape [2,2], transposed, as [2,2]
 */
#include "models/hlo_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MEMBERS = 1 << 16 };

typedef struct groups {
  int64_t *members;
  uint32_t rows, columns;
} groups;

/* Reads a list such as "[2,3]", of at most MODEL_MAX_RANK numbers. `brackets` is "[]" or "()".
 * False if it is not such a list. */
static bool read_list(const char **at, const char *brackets, int64_t *numbers, uint32_t *count)
{
  char *end;
  *count = 0;
  if (**at != brackets[0]) return false;
  do {
    if (*count == MODEL_MAX_RANK || !isdigit((unsigned char)(*at)[1])) return false;
    numbers[(*count)++] = strtoll(*at + 1, &end, 10);
    *at = end;
  } while (**at == ',');
  return *(*at)++ == brackets[1];
}

/* The product of sizes, which must be at least 1. */
static bool multiply(const int64_t *sizes, uint32_t rank, int64_t *product)
{
  *product = 1;
  for (uint32_t d = 0; d < rank; ++d) {
    if (sizes[d] < 1 || sizes[d] > MAX_MEMBERS / *product) return false;
    *product *= sizes[d];
  }
  return true;
}

static bool is_permutation(const int64_t *order, uint32_t rank)
{
  unsigned seen = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    if (order[d] >= rank || seen >> order[d] & 1) return false;
    seen |= 1u << order[d];
  }
  return true;
}

static bool read_iota(const hlo_module *h, const char *at, groups *g)
{
  int64_t shape[MODEL_MAX_RANK], dims[MODEL_MAX_RANK], order[MODEL_MAX_RANK],
      strides[MODEL_MAX_RANK], count, members;
  uint32_t rank, shape_rank, order_rank;
  if (!read_list(&at, "[]", shape, &shape_rank) || strncmp(at, "<=", 2) != 0) return false;
  at += 2;
  if (!read_list(&at, "[]", dims, &rank)) return false;
  for (uint32_t d = 0; d < rank; ++d) order[d] = d;
  if (*at == 'T') {
    at++;
    if (!read_list(&at, "()", order, &order_rank) || order_rank != rank) return false;
  }
  if (*at || shape_rank != 2 || !multiply(shape, 2, &members) || !multiply(dims, rank, &count) ||
      members != count || !is_permutation(order, rank))
    return false;
  int64_t stride = 1;
  for (uint32_t d = rank; d-- > 0; stride *= dims[d]) strides[d] = stride;
  g->rows = (uint32_t)shape[0];
  g->columns = (uint32_t)shape[1];
  g->members = pop_arena_alloc(h->m->arena, (size_t)count * sizeof *g->members);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (uint32_t d = rank; d-- > 0; rest /= dims[order[d]])
      g->members[i] += rest % dims[order[d]] * strides[order[d]];
  }
  return true;
}

/* Reads {{0,1},{2}}. It is called twice: the first call finds the length of the longest row. */
static void list_members(const char *text, groups *g)
{
  uint32_t row = 0, column = 0, columns = 0;
  for (const char *p = text + 1; *p; ++p) {
    if (*p == '{') {
      row++;
      column = 0;
    } else if (row && isdigit((unsigned char)*p)) {
      char *end;
      int64_t number = strtoll(p, &end, 10);
      if (g->members) g->members[(size_t)(row - 1) * g->columns + column] = number;
      if (++column > columns) columns = column;
      p = end - 1;
    }
  }
  g->rows = row;
  g->columns = columns;
}

static bool read_lists(const hlo_module *h, const char *text, groups *g)
{
  list_members(text, g);
  if (g->columns && g->rows > MAX_MEMBERS / g->columns) return false;
  size_t count = (size_t)g->rows * g->columns;
  g->members = pop_arena_alloc(h->m->arena, (count + 1) * sizeof *g->members);
  for (size_t i = 0; i < count; ++i) g->members[i] = -1;
  list_members(text, g);
  return true;
}

static char *write_groups(const hlo_module *h, const char *key, const groups *g)
{
  text t = {0};
  text_add(&t, "%s = dense<", key);
  for (size_t i = 0; i < (size_t)g->rows * g->columns; ++i)
    text_add(&t, "%s%" PRId64, i == 0 ? "[[" : i % g->columns ? ", " : "], [", g->members[i]);
  text_add(&t, "%s> : tensor<%ux%uxi64>", g->rows && g->columns ? "]]" : "", g->rows, g->columns);
  char *all = pop_arena_strdup(h->m->arena, t.data);
  text_free(&t);
  return all;
}

pop_error *hlo_groups(const hlo_module *h, const hlo_instruction *i, const char *key, char **result)
{
  const char *value = hlo_attribute_value(i, key);
  groups g = {0};
  if (!value || !(*value == '{' ? read_lists(h, value, &g) : read_iota(h, value, &g)))
    return hlo_error(h, i, "%s: %s=%s is not supported", i->opcode, key, value ? value : "");
  *result = write_groups(h, key, &g);
  return NULL;
}
