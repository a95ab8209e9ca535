/* Writing `.gp` files: collect members, then write them once.
 *
 * Order in the file: the note, tile objects, library objects, host objects, each kind in the order
 * in which they were added. Equal members give equal bytes.
 */
#include "gp_internal.h"

#include <populus/archive.h>
#include <populus/arena.h>
#include <populus/names.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pop_gp_builder {
  pop_arena *arena; /* vertex types, names of sources */
  gp_member *members[GP_KIND_COUNT];
  size_t count[GP_KIND_COUNT], capacity[GP_KIND_COUNT];
  /* Parallel to the tile members: the source or the .gp that each came from. */
  const char **origins;
  size_t num_origins, origins_capacity;
  pop_name_table library_names;
};

pop_gp_builder *pop_gp_builder_new(void)
{
  pop_gp_builder *builder = pop_xcalloc(1, sizeof *builder);
  builder->arena = pop_arena_new();
  return builder;
}

void pop_gp_builder_free(pop_gp_builder *builder)
{
  if (!builder) return;
  for (int kind = 0; kind < GP_KIND_COUNT; ++kind) {
    for (size_t i = 0; i < builder->count[kind]; ++i) gp_member_free(&builder->members[kind][i]);
    free(builder->members[kind]);
  }
  free(builder->origins);
  pop_name_table_free(&builder->library_names);
  pop_arena_free(builder->arena);
  free(builder);
}

static pop_error *add(pop_gp_builder *builder, gp_member *member)
{
  gp_kind kind = member->kind;
  pop_push(builder->members[kind], builder->count[kind], builder->capacity[kind], *member);
  return NULL;
}

/* A member with a copy of `bytes`, parsed. */
static pop_error *make_member(pop_gp_builder *builder, gp_kind kind, const void *bytes, size_t size,
                              const char *origin, gp_member *member)
{
  *member = (gp_member){.kind = kind, .bytes = malloc(size ? size : 1), .size = size};
  if (!member->bytes)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the %zu bytes of %s", size, origin);
  if (size) memcpy(member->bytes, bytes, size);
  static const char *const names[] = {"tile", "lib", "host"};
  strcpy(member->name, names[kind]);
  pop_error *error = gp_member_parse(member, origin, builder->arena);
  if (error) gp_member_free(member);
  return error;
}

/* The earlier vertex of that name or symbol for one of the targets, or NULL. */
static const pop_vertex_type *find_vertex(const pop_gp_builder *builder,
                                          const pop_vertex_type *type, const char *targets,
                                          size_t *tile)
{
  for (size_t i = 0; i < builder->count[GP_TILE]; ++i) {
    const gp_member *member = &builder->members[GP_TILE][i];
    if (!gp_targets_overlap(member->targets, targets)) continue;
    for (size_t j = 0; j < member->num_types; ++j) {
      if (!strcmp(member->types[j].name, type->name) ||
          !strcmp(member->types[j].symbol, type->symbol)) {
        *tile = i;
        return &member->types[j];
      }
    }
  }
  return NULL;
}

static pop_error *check_new_vertices(const pop_gp_builder *builder, const gp_member *member,
                                     const char *origin)
{
  for (size_t i = 0; i < member->num_types; ++i) {
    size_t tile;
    const pop_vertex_type *type = &member->types[i],
                          *other = find_vertex(builder, type, member->targets, &tile);
    if (other && strcmp(other->name, type->name) != 0)
      return pop_error_new(POP_ERROR_CODELET_COMPILE,
                           "vertices '%s', in %s (%s), and '%s', in %s (%s), make the same symbol "
                           "'%s': rename one",
                           other->name, builder->origins[tile], other->source, type->name, origin,
                           type->source, type->symbol);
    if (other)
      return pop_error_new(POP_ERROR_CODELET_COMPILE,
                           "vertex '%s' is defined twice, in %s (%s) and in %s (%s): rename one",
                           type->name, builder->origins[tile], other->source, origin, type->source);
  }
  return NULL;
}

static gp_member *find_equal(const pop_gp_builder *builder, const gp_member *member)
{
  for (size_t i = 0; i < builder->count[member->kind]; ++i)
    if (gp_member_equal(&builder->members[member->kind][i], member))
      return &builder->members[member->kind][i];
  return NULL;
}

pop_error *pop_gp_builder_add_tile(pop_gp_builder *builder, const char *targets, const void *bytes,
                                   size_t size, const char *source)
{
  gp_member member;
  POP_TRY(make_member(builder, GP_TILE, bytes, size, source, &member));
  member.targets = pop_arena_strdup(builder->arena, targets);
  gp_member *equal = find_equal(builder, &member);
  if (equal) {
    equal->targets = gp_targets_join(builder->arena, equal->targets, targets);
    gp_member_free(&member);
    return NULL;
  }
  pop_error *error = check_new_vertices(builder, &member, source);
  if (error) {
    gp_member_free(&member);
    return error;
  }
  pop_push(builder->origins, builder->num_origins, builder->origins_capacity,
           pop_arena_strdup(builder->arena, source));
  return add(builder, &member);
}

/* `bytes` are the wrapped object. */
static pop_error *add_wrapped_host(pop_gp_builder *builder, const void *bytes, size_t size,
                                   const char *source)
{
  gp_member member;
  POP_TRY(make_member(builder, GP_HOST, bytes, size, source, &member));
  if (find_equal(builder, &member)) {
    gp_member_free(&member);
    return NULL;
  }
  return add(builder, &member);
}

pop_error *pop_gp_builder_add_host(pop_gp_builder *builder, const void *bytes, size_t size,
                                   const char *source)
{
  pop_bytes wrapped = {0};
  gp_wrap(&gp_host_wrapping, bytes, size, &wrapped);
  pop_error *error = add_wrapped_host(builder, wrapped.data, wrapped.size, source);
  pop_bytes_free(&wrapped);
  return error;
}

/* "libm_math_sf_exp.c.o" -> "sf_exp": a library member's name without folder, library and
 * extension, cut to what fits into "lib-….o". */
static void short_library_name(const char *name, char out[10])
{
  const char *start = name;
  if (!strncmp(name, "libc_", 5) || !strncmp(name, "libm_", 5)) {
    const char *next = strchr(name + 5, '_');
    start = next ? next + 1 : name + 5;
  }
  size_t length = strcspn(start, ".");
  snprintf(out, 10, "%.*s", (int)(length < 9 ? length : 9), start);
}

/* "lib-<stem>.o"; if that is taken, with as much of the stem as a number leaves. */
static void name_library(pop_gp_builder *builder, const char *stem, gp_member *member)
{
  unsigned number = (unsigned)builder->count[GP_LIBRARY] + 1;
  snprintf(member->name, sizeof member->name, "lib-%s.o", stem);
  for (; pop_name_table_find(&builder->library_names, member->name) != POP_NAME_NONE; ++number) {
    if (number < 10000)
      snprintf(member->name, sizeof member->name, "lib-%.4s-%u.o", stem, number % 10000);
    else
      snprintf(member->name, sizeof member->name, "lib-%.1s-%u.o", stem, number % 10000000);
  }
  pop_name_table_add(&builder->library_names, pop_arena_strdup(builder->arena, member->name), 0);
}

pop_error *pop_gp_builder_add_library(pop_gp_builder *builder, const char *name, const void *bytes,
                                      size_t size)
{
  gp_member member;
  POP_TRY(make_member(builder, GP_LIBRARY, bytes, size, name, &member));
  if (find_equal(builder, &member)) {
    gp_member_free(&member);
    return NULL;
  }
  char stem[10];
  short_library_name(name, stem);
  name_library(builder, stem, &member);
  return add(builder, &member);
}

/* "lib-sf_exp.o" -> "sf_exp" for pop_gp_builder_add_library. */
static const char *name_behind_prefix(const gp_member *member)
{
  return member->name + strlen("lib-");
}

/* `target` NULL: each member stays for all of its targets. */
static pop_error *add_members(pop_gp_builder *builder, const pop_gp *gp, const char *target)
{
  for (size_t i = 0; i < gp->num_members; ++i) {
    const gp_member *member = &gp->members[i];
    if (target && !gp_member_is_for(member, target)) continue;
    switch (member->kind) {
    case GP_TILE:
      POP_TRY(pop_gp_builder_add_tile(builder, target ? target : member->targets, member->bytes,
                                      member->size, gp->name));
      break;
    case GP_LIBRARY:
      POP_TRY(pop_gp_builder_add_library(builder, name_behind_prefix(member), member->bytes,
                                         member->size));
      break;
    default:
      POP_TRY(add_wrapped_host(builder, member->bytes, member->size, gp->name));
    }
  }
  return NULL;
}

pop_error *pop_gp_builder_add_gp(pop_gp_builder *builder, const pop_gp *gp)
{
  return add_members(builder, gp, NULL);
}

pop_error *pop_gp_builder_add_gp_for(pop_gp_builder *builder, const pop_gp *gp, const char *target)
{
  return add_members(builder, gp, target);
}

/* All members in the order of the file; tile and host objects numbered. Not owned. */
static gp_member *in_file_order(const pop_gp_builder *builder, size_t *count)
{
  size_t total = 0;
  for (int kind = 0; kind < GP_KIND_COUNT; ++kind) total += builder->count[kind];
  gp_member *all = pop_xcalloc(total + 1, sizeof *all);
  *count = 0;
  for (int kind = 0; kind < GP_KIND_COUNT; ++kind) {
    for (size_t i = 0; i < builder->count[kind]; ++i) {
      gp_member member = builder->members[kind][i];
      memset(member.name + strlen(member.name), 0, sizeof member.name - strlen(member.name));
      if (kind != GP_LIBRARY) {
        memset(member.name, 0, sizeof member.name);
        snprintf(member.name, sizeof member.name, kind == GP_TILE ? "tile-%u.o" : "host-%u.o",
                 (unsigned)(i % 1000000));
      }
      all[(*count)++] = member;
    }
  }
  return all;
}

static pop_error *add_all(pop_archive_writer *writer, const gp_member *members, size_t count)
{
  pop_bytes note = {0};
  gp_note_write(members, count, &note);
  pop_error *error = pop_archive_writer_add(writer, GP_NOTE_MEMBER, note.data, note.size);
  pop_bytes_free(&note);
  for (size_t i = 0; i < count && !error; ++i)
    error = pop_archive_writer_add(writer, members[i].name, members[i].bytes, members[i].size);
  return error;
}

pop_error *pop_gp_builder_write(pop_gp_builder *builder, const char *path, uint8_t **bytes,
                                size_t *size)
{
  pop_archive_writer *writer;
  POP_TRY(pop_archive_writer_open(path, &writer));
  size_t count;
  gp_member *members = in_file_order(builder, &count);
  pop_error *error = add_all(writer, members, count);
  free(members);
  if (error) {
    pop_archive_writer_abort(writer);
    return error;
  }
  if (path) return pop_archive_writer_commit(writer);
  pop_archive_writer_take(writer, bytes, size);
  return NULL;
}
