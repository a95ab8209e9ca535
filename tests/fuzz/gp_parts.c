/* See gp_parts.h. */
#include "gp_parts.h"

#include <populus/archive.h>
#include <populus/arena.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gp_kind kind_of(const char *name)
{
  return !strncmp(name, "host-", 5) ? GP_HOST : !strncmp(name, "lib-", 4) ? GP_LIBRARY : GP_TILE;
}

/* The digest is usually wrong. Only the targets are used. */
static void take_targets(const pop_archive *archive, size_t index, gp_parts *parts)
{
  uint8_t *note;
  size_t size;
  pop_gp_digest digest;
  pop_error *error = pop_archive_read_member(archive, index, &note, &size);
  if (!error) {
    error = gp_note_read(note, size, "note", parts->arena, parts->members, parts->count, &digest);
    free(note);
  }
  pop_error_free(error);
}

static void take_member(const pop_archive *archive, size_t index, gp_parts *parts)
{
  const char *name = pop_archive_get_member(archive, index)->name;
  gp_member member = {.kind = kind_of(name)};
  if (strlen(name) >= sizeof member.name) return;
  strcpy(member.name, name);
  pop_error *error = pop_archive_read_member(archive, index, &member.bytes, &member.size);
  if (!error) pop_push(parts->members, parts->count, parts->capacity, member);
  pop_error_free(error);
}

bool gp_parts_take(const uint8_t *bytes, size_t size, gp_parts *parts)
{
  pop_archive *archive;
  pop_error *error = pop_archive_open_memory(bytes, size, "input", &archive);
  if (error) {
    pop_error_free(error);
    return false;
  }
  *parts = (gp_parts){.arena = pop_arena_new()};
  for (size_t i = 1; i < pop_archive_num_members(archive); ++i) take_member(archive, i, parts);
  if (pop_archive_num_members(archive)) take_targets(archive, 0, parts);
  for (size_t i = 0; i < parts->count; ++i) {
    gp_member *member = &parts->members[i];
    if (member->kind == GP_TILE && !member->targets) member->targets = "ipu1,ipu2";
  }
  pop_archive_close(archive);
  return true;
}

void gp_parts_free(gp_parts *parts)
{
  for (size_t i = 0; i < parts->count; ++i) gp_member_free(&parts->members[i]);
  free(parts->members);
  pop_arena_free(parts->arena);
}

/* A member whose name no archive can have is not missed. */
static void add(pop_archive_writer *writer, const char *name, const void *bytes, size_t size)
{
  pop_error_free(pop_archive_writer_add(writer, name, bytes, size));
}

void gp_parts_join(const gp_parts *parts, uint8_t **bytes, size_t *size)
{
  pop_archive_writer *writer;
  pop_error *error = pop_archive_writer_open(NULL, &writer);
  if (error) abort(); /* memory */
  pop_bytes note = {0};
  gp_note_write(parts->members, parts->count, &note);
  add(writer, GP_NOTE_MEMBER, note.data, note.size);
  pop_bytes_free(&note);
  for (size_t i = 0; i < parts->count; ++i)
    add(writer, parts->members[i].name, parts->members[i].bytes, parts->members[i].size);
  pop_archive_writer_take(writer, bytes, size);
}
