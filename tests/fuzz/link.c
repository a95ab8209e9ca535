/* Fuzz target of the tile linker: object -> link set -> live sections -> memory, with stacks and debug
 * information. The input is one object, or an archive of several; its own symbols are the entries.
 */
#include "fuzz.h"
#include "use.h"
#include "use_objects.h"

#include <populus/archive.h>

#include <stdlib.h>

enum { MAX_OBJECTS = 8, MAX_ENTRIES = 16 };

typedef struct input {
  pop_object *objects[MAX_OBJECTS];
  size_t num_objects;
  const char *entries[MAX_ENTRIES];
  size_t num_entries;
} input;

static void take_entry(void *context, const char *name, bool defined, bool weak)
{
  input *in = context;
  (void)weak;
  if (defined && in->num_entries < MAX_ENTRIES) in->entries[in->num_entries++] = name;
}

static void take_object(input *in, const uint8_t *bytes, size_t size, const char *name)
{
  pop_object *object;
  if (in->num_objects == MAX_OBJECTS) return;
  if (forget(pop_object_parse(bytes, size, name, &object))) in->objects[in->num_objects++] = object;
}

/* False if the bytes are no archive. */
static bool take_archive(input *in, const uint8_t *bytes, size_t size)
{
  pop_archive *archive;
  if (!forget(pop_archive_open_memory(bytes, size, "input.a", &archive))) return false;
  for (size_t i = 0; i < pop_archive_num_members(archive); ++i) {
    uint8_t *content;
    size_t content_size;
    if (!forget(pop_archive_read_member(archive, i, &content, &content_size))) abort();
    take_object(in, content, content_size, pop_archive_get_member(archive, i)->name);
    free(content);
  }
  pop_archive_close(archive);
  return true;
}

/* Every second object is a library's. */
static void link_all(input *in)
{
  pop_link_set *set = new_link_set();
  for (size_t i = 0; i < in->num_objects; ++i) {
    if (!forget(pop_link_set_add(set, in->objects[i], i % 2))) continue;
    pop_object_symbols(in->objects[i], take_entry, in);
  }
  use_entries(set, in->entries, in->num_entries);
  pop_link_set_free(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  input in = {0};
  if (!take_archive(&in, bytes, size)) take_object(&in, bytes, size, "input.o");
  for (size_t i = 0; i < in.num_objects; ++i) use_object(in.objects[i]);
  link_all(&in);
  for (size_t i = 0; i < in.num_objects; ++i) pop_object_free(in.objects[i]);
  return 0;
}
