/* Access to the values of profiles. */
#include "profile/value.h"

#include <string.h>

/* View 0 is the node itself; view n + 1 is int n of a packed vector. */
static pop_profile_value view(const pop_profile_node *node)
{
  return (pop_profile_value){node, 0};
}

static int64_t packed_int(const pop_profile_node *node, size_t index)
{
  switch (node->int_bytes) {
  case 0:
    return node->integer;
  case sizeof(int8_t):
    return ((const int8_t *)node->packed)[index];
  case sizeof(int16_t):
    return ((const int16_t *)node->packed)[index];
  case sizeof(int32_t):
    return ((const int32_t *)node->packed)[index];
  default:
    return ((const int64_t *)node->packed)[index];
  }
}

pop_profile_value pop_profile_root(const pop_profile *profile)
{
  return profile ? view(&profile->root) : (pop_profile_value){0};
}

void pop_profile_free(pop_profile *profile)
{
  if (profile) pop_arena_free(profile->arena); /* the profile itself is in the arena */
}

pop_profile_kind pop_profile_kind_of(pop_profile_value value)
{
  if (!value.node) return POP_PROFILE_NONE;
  return value.item ? POP_PROFILE_INT : (pop_profile_kind)value.node->kind;
}

size_t pop_profile_count(pop_profile_value value)
{
  pop_profile_kind kind = pop_profile_kind_of(value);
  return kind == POP_PROFILE_MAP || kind == POP_PROFILE_VECTOR ? value.node->count : 0;
}

pop_profile_value pop_profile_at(pop_profile_value value, size_t index)
{
  if (index >= pop_profile_count(value)) return (pop_profile_value){0};
  if (value.node->is_packed) return (pop_profile_value){value.node, index + 1};
  return view(&value.node->items[index]);
}

const char *pop_profile_key(pop_profile_value map, size_t index)
{
  if (pop_profile_kind_of(map) != POP_PROFILE_MAP || index >= map.node->count) return NULL;
  return map.node->keys[index];
}

static pop_profile_value get(pop_profile_value map, const char *key, size_t length)
{
  if (pop_profile_kind_of(map) != POP_PROFILE_MAP) return (pop_profile_value){0};
  for (size_t i = 0; i < map.node->count; ++i)
    if (strncmp(map.node->keys[i], key, length) == 0 && !map.node->keys[i][length])
      return view(&map.node->items[i]);
  return (pop_profile_value){0};
}

pop_profile_value pop_profile_get(pop_profile_value map, const char *key)
{
  return key ? get(map, key, strlen(key)) : (pop_profile_value){0};
}

pop_profile_value pop_profile_find(pop_profile_value map, const char *path)
{
  if (!path) return (pop_profile_value){0};
  for (size_t length = strcspn(path, "."); path[length]; length = strcspn(path, ".")) {
    map = get(map, path, length);
    path += length + 1;
  }
  return pop_profile_get(map, path);
}

/* 2^63, the first number too large for an int64_t. */
static const double int_limit = 9223372036854775808.0;

int64_t pop_profile_as_int(pop_profile_value value)
{
  switch (pop_profile_kind_of(value)) {
  case POP_PROFILE_INT:
    return value.item ? packed_int(value.node, value.item - 1) : value.node->integer;
  case POP_PROFILE_BOOL:
    return value.node->integer;
  case POP_PROFILE_DOUBLE:
    if (value.node->number >= int_limit) return INT64_MAX;
    if (value.node->number <= -int_limit) return INT64_MIN;
    return value.node->number == value.node->number ? (int64_t)value.node->number : 0;
  default:
    return 0;
  }
}

double pop_profile_as_double(pop_profile_value value)
{
  pop_profile_kind kind = pop_profile_kind_of(value);
  if (kind == POP_PROFILE_DOUBLE) return value.node->number;
  return kind == POP_PROFILE_INT ? (double)pop_profile_as_int(value) : 0;
}

const char *pop_profile_as_string(pop_profile_value value)
{
  return pop_profile_kind_of(value) == POP_PROFILE_STRING ? value.node->text : NULL;
}

bool pop_profile_as_bool(pop_profile_value value)
{
  pop_profile_kind kind = pop_profile_kind_of(value);
  return (kind == POP_PROFILE_BOOL || kind == POP_PROFILE_INT) && pop_profile_as_int(value) != 0;
}
