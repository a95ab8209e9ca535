/* Which objects of a `.gp` are for which target.
 *
 * A tile object carries a list of names ("ipu1,ipu2"). One object may serve several targets, and
 * several objects may hold one vertex, each for other targets. A user of codelets asks for those of
 * one target and gets a `pop_gp` with only these. Library objects serve every target.
 */
#include "gp_internal.h"

#include <populus/arena.h>
#include <populus/vertex_table.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool gp_is_target_letter(char c)
{
  return isalnum((unsigned char)c) || (c && strchr("_.:+-", c));
}

/* The next name of a list; NULL at its end. */
static const char *next_name(const char **list, size_t *length)
{
  const char *name = *list;
  *length = strcspn(name, ",");
  *list = name + *length + (name[*length] == ',');
  return *length ? name : NULL;
}

static bool list_includes(const char *targets, const char *name)
{
  size_t length;
  for (const char *t; (t = next_name(&targets, &length));)
    if (strlen(name) == length && !memcmp(t, name, length)) return true;
  return false;
}

bool gp_targets_overlap(const char *a, const char *b)
{
  size_t length;
  for (const char *t; (t = next_name(&a, &length));) {
    char *name = pop_xasprintf("%.*s", (int)length, t);
    bool found = list_includes(b, name);
    free(name);
    if (found) return true;
  }
  return false;
}

char *gp_targets_join(pop_arena *arena, const char *a, const char *b)
{
  char *all = pop_arena_strdup(arena, a);
  size_t length;
  for (const char *t; (t = next_name(&b, &length));) {
    char *name = pop_arena_printf(arena, "%.*s", (int)length, t);
    if (!list_includes(all, name))
      all = pop_arena_printf(arena, "%s%s%s", all, *all ? "," : "", name);
  }
  return all;
}

bool pop_gp_has_target(const pop_gp *gp, const char *target)
{
  for (size_t i = 0; i < gp->num_members; ++i) {
    const gp_member *member = &gp->members[i];
    if (member->kind == GP_TILE && list_includes(member->targets, target)) return true;
    if (member->kind == GP_HOST && !strcmp(target, POP_GP_HOST_TARGET)) return true;
  }
  return false;
}

static int compare_texts(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, "cpu" first. */
char *pop_gp_targets(const pop_gp *gp)
{
  pop_arena *arena = pop_arena_new();
  const char *all = "", **names = NULL, *name;
  size_t count = 0, capacity = 0, length;
  for (size_t i = 0; i < gp->num_members; ++i)
    if (gp->members[i].kind == GP_TILE) all = gp_targets_join(arena, all, gp->members[i].targets);
  while ((name = next_name(&all, &length)))
    pop_push(names, count, capacity, pop_arena_printf(arena, "%.*s", (int)length, name));
  if (count) qsort(names, count, sizeof *names, compare_texts);
  all = pop_gp_has_target(gp, POP_GP_HOST_TARGET) ? POP_GP_HOST_TARGET : "";
  for (size_t i = 0; i < count; ++i) all = gp_targets_join(arena, all, names[i]);
  char *text = pop_xstrdup(all);
  free(names);
  pop_arena_free(arena);
  return text;
}

const char *pop_gp_tile_object_targets(const pop_gp *gp, size_t index)
{
  const char *targets = gp->members[index].targets;
  return targets ? targets : "";
}

bool gp_member_is_for(const gp_member *member, const char *target)
{
  bool host = !strcmp(target, POP_GP_HOST_TARGET);
  switch (member->kind) {
  case GP_TILE:
    return list_includes(member->targets, target);
  case GP_HOST:
    return host;
  default:
    return !host;
  }
}

/* Host objects are read only here, when somebody wants them. */
static pop_error *read_host_types(const pop_gp *part, size_t index, gp_member *member)
{
  pop_bytes table = {0};
  if (!pop_gp_host_vertex_table(part, index, &table))
    return errno != ENOMEM ? NULL
                           : pop_error_new(POP_ERROR_MEMORY, "'%s(%s)': out of memory", part->name,
                                           member->name);
  char *where = pop_xasprintf("'%s(%s)'", part->name, member->name);
  pop_error *error = pop_vertex_table_read_host((const char *)table.data, table.size, where,
                                                part->arena, &member->types, &member->num_types);
  free(where);
  pop_bytes_free(&table);
  return error;
}

/* Of all members, in their order. */
static pop_error *read_types(pop_gp *part)
{
  for (size_t i = 0, host = 0; i < part->num_members; ++i) {
    gp_member *member = &part->members[i];
    if (member->kind == GP_HOST) POP_TRY(read_host_types(part, host++, member));
    for (size_t j = 0; j < member->num_types; ++j)
      pop_push(part->types, part->num_types, part->types_capacity, member->types[j]);
  }
  return NULL;
}

pop_error *pop_gp_for_target(pop_gp *gp, const char *target, pop_gp **out)
{
  if (gp->num_members && !pop_gp_has_target(gp, target)) {
    char *targets = pop_gp_targets(gp);
    pop_error *error = pop_error_new(
        POP_ERROR_FILE_LOAD,
        "'%s' has no code for target '%s', it was compiled for %s: compile it with --target %s",
        gp->name, target, *targets ? targets : "none", target);
    free(targets);
    return error;
  }
  pop_gp *part = gp_new(gp->name);
  part->whole = pop_gp_retain(gp);
  for (size_t i = 0; i < gp->num_members; ++i) {
    const gp_member *member = &gp->members[i];
    if (!gp_member_is_for(member, target)) continue;
    pop_push(part->members, part->num_members, part->capacity, *member);
  }
  pop_error *error = read_types(part);
  if (error) {
    pop_gp_free(part);
    return error;
  }
  part->digest = gp_digest(part->members, part->num_members);
  *out = part;
  return NULL;
}
