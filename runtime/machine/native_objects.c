/* Objects that the process has compiled, for units with the same code at other places
 * (translate_move.c). If they become too many, the oldest are freed. Used only by the thread that
 * is in the module (native_module.c). */
#include "native.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OBJECTS_BYTES = 32 << 20, NUM_CHAINS = 256 };

typedef struct kept_object {
  char name[NATIVE_NAME_BYTES];
  pop_bytes material, object;
  struct kept_object *next;  /* in the same chain */
  struct kept_object *newer; /* the next newer one of all */
} kept_object;

static struct {
  kept_object *chains[NUM_CHAINS];
  kept_object *oldest, *newest;
  size_t bytes;
} kept;

/* A name ends with digits of a digest. */
static kept_object **chain_of(const char *name)
{
  const char *end = name + strlen(name);
  return &kept.chains[(unsigned)(end[-1] + 16 * end[-2]) % NUM_CHAINS];
}

static size_t bytes_of(const kept_object *o)
{
  return o->material.size + o->object.size;
}

static void forget_oldest(void)
{
  kept_object *o = kept.oldest, **link = chain_of(o->name);
  while (*link != o) link = &(*link)->next;
  *link = o->next;
  kept.oldest = o->newer;
  if (!kept.oldest) kept.newest = NULL;
  kept.bytes -= bytes_of(o);
  pop_bytes_free(&o->material);
  pop_bytes_free(&o->object);
  free(o);
}

bool native_object_find(const char *name, const pop_bytes *material, pop_bytes *object)
{
  const kept_object *o = *chain_of(name);
  while (o && (o->material.size != material->size || strcmp(o->name, name) != 0 ||
               memcmp(o->material.data, material->data, material->size) != 0))
    o = o->next;
  if (o) pop_bytes_append(object, o->object.data, o->object.size);
  return o != NULL;
}

void native_object_keep(const char *name, const pop_bytes *material, const uint8_t *object,
                        size_t object_bytes)
{
  kept_object *o = pop_xcalloc(1, sizeof *o), **chain = chain_of(name);
  strcpy(o->name, name);
  pop_bytes_append(&o->material, material->data, material->size);
  pop_bytes_append(&o->object, object, object_bytes);
  o->next = *chain;
  *chain = o;
  if (kept.newest)
    kept.newest->newer = o;
  else
    kept.oldest = o;
  kept.newest = o;
  kept.bytes += bytes_of(o);
  while (kept.bytes > MAX_OBJECTS_BYTES && kept.oldest != o) forget_oldest();
}
