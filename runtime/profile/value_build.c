/* Builds values: a back end of emitters. Open containers are a stack of frames. When one is closed,
 * its items move to the arena. */
#include "profile/value.h"

#include <stdlib.h>
#include <string.h>

typedef struct frame {
  const char *key; /* of the container, in the map around it; in the arena */
  bool is_map;
  bool is_packed; /* a vector with ints only, so far: they are in `ints` */
  pop_profile_node *items;
  const char **keys;
  int64_t *ints;
  size_t count, items_capacity, keys_capacity, ints_capacity;
} frame;

typedef struct builder {
  pop_profile *profile;
  frame *frames; /* those above num_frames keep their memory for reuse */
  size_t num_frames, frames_capacity, num_made;
} builder;

static void unpack(frame *f)
{
  pop_reserve(f->items, f->count + 1, f->items_capacity);
  for (size_t i = 0; i < f->count; ++i)
    f->items[i] = (pop_profile_node){.kind = POP_PROFILE_INT, .integer = f->ints[i]};
  f->is_packed = false;
}

static void put_item(builder *b, const char *key, const pop_profile_node *item)
{
  if (b->num_frames == 0 || !b->frames) { /* the outermost value */
    b->profile->root = *item;
    return;
  }
  frame *f = &b->frames[b->num_frames - 1];
  if (f->is_packed) unpack(f);
  if (f->is_map) {
    pop_reserve(f->keys, f->count + 1, f->keys_capacity);
    f->keys[f->count] = key;
  }
  pop_push(f->items, f->count, f->items_capacity, *item);
}

static const char *keep(builder *b, const char *text)
{
  return text ? pop_arena_strdup(b->profile->arena, text) : NULL;
}

static void begin(builder *b, const char *key, bool is_map)
{
  if (b->num_frames == b->num_made) {
    pop_push(b->frames, b->num_made, b->frames_capacity, (frame){0});
  }
  frame *f = &b->frames[b->num_frames++];
  f->key = keep(b, key);
  f->is_map = is_map;
  f->is_packed = !is_map;
  f->count = 0;
}

static uint8_t bytes_of_range(int64_t least, int64_t most)
{
  if (least == most) return 0;
  if (least >= INT8_MIN && most <= INT8_MAX) return sizeof(int8_t);
  if (least >= INT16_MIN && most <= INT16_MAX) return sizeof(int16_t);
  if (least >= INT32_MIN && most <= INT32_MAX) return sizeof(int32_t);
  return sizeof(int64_t);
}

static void pack_ints(pop_arena *arena, const int64_t *ints, pop_profile_node *node)
{
  int64_t least = ints[0], most = ints[0];
  for (size_t i = 1; i < node->count; ++i) {
    least = ints[i] < least ? ints[i] : least;
    most = ints[i] > most ? ints[i] : most;
  }
  node->is_packed = true;
  node->int_bytes = bytes_of_range(least, most);
  if (node->int_bytes == 0) {
    node->integer = least;
    return;
  }
  void *packed = pop_arena_alloc(arena, node->count * node->int_bytes);
  for (size_t i = 0; i < node->count; ++i) {
    if (node->int_bytes == sizeof(int8_t))
      ((int8_t *)packed)[i] = (int8_t)ints[i];
    else if (node->int_bytes == sizeof(int16_t))
      ((int16_t *)packed)[i] = (int16_t)ints[i];
    else if (node->int_bytes == sizeof(int32_t))
      ((int32_t *)packed)[i] = (int32_t)ints[i];
    else
      ((int64_t *)packed)[i] = ints[i];
  }
  node->packed = packed;
}

static const void *copy(pop_arena *arena, const void *items, size_t bytes)
{
  return memcpy(pop_arena_alloc(arena, bytes), items, bytes);
}

static void end(void *context)
{
  builder *b = context;
  pop_arena *arena = b->profile->arena;
  const frame *f = &b->frames[--b->num_frames];
  pop_profile_node node = {.kind = f->is_map ? POP_PROFILE_MAP : POP_PROFILE_VECTOR,
                           .count = f->count};
  if (f->count && f->is_packed) {
    pack_ints(arena, f->ints, &node);
  } else if (f->count) {
    node.items = copy(arena, f->items, f->count * sizeof *f->items);
    if (f->is_map) node.keys = copy(arena, f->keys, f->count * sizeof *f->keys);
  }
  put_item(b, f->key, &node);
}

static void begin_map(void *context, const char *key)
{
  begin(context, key, true);
}

static void begin_vector(void *context, const char *key)
{
  begin(context, key, false);
}

static void put_int(void *context, const char *key, int64_t value)
{
  builder *b = context;
  frame *f = b->num_frames ? &b->frames[b->num_frames - 1] : NULL;
  if (f && f->is_packed)
    pop_push(f->ints, f->count, f->ints_capacity, value);
  else
    put_item(b, keep(b, key), &(pop_profile_node){.kind = POP_PROFILE_INT, .integer = value});
}

static void put_double(void *context, const char *key, double value)
{
  put_item(context, keep(context, key),
           &(pop_profile_node){.kind = POP_PROFILE_DOUBLE, .number = value});
}

static void put_string(void *context, const char *key, const char *value)
{
  put_item(context, keep(context, key),
           &(pop_profile_node){.kind = POP_PROFILE_STRING, .text = keep(context, value)});
}

static void put_bool(void *context, const char *key, bool value)
{
  put_item(context, keep(context, key),
           &(pop_profile_node){.kind = POP_PROFILE_BOOL, .integer = value});
}

pop_profile *emit_to_values(emit_function *emit, const void *what)
{
  static const emitter_back_end back_end = {begin_map, end,        begin_vector, end,
                                            put_int,   put_double, put_string,   put_bool};
  pop_arena *arena = pop_arena_new();
  builder b = {.profile = pop_arena_alloc(arena, sizeof *b.profile)};
  b.profile->arena = arena;
  emit(&(emitter){&back_end, &b}, what);
  for (size_t i = 0; i < b.num_made; ++i) {
    free(b.frames[i].items);
    free(b.frames[i].keys);
    free(b.frames[i].ints);
  }
  free(b.frames);
  return b.profile;
}
