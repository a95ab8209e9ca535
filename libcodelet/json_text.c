#include <populus/json_text.h>

#include <jansson.h>
#include <populus/arena.h>
#include <pthread.h>
#include <stdlib.h>

/* Replaces jansson's allocator. Memory of either allocator may be freed by the other one. */
static void set_allocator(void)
{
  json_malloc_t allocate;
  json_free_t release;
  json_get_alloc_funcs(&allocate, &release);
  if (allocate == malloc && release == free) json_set_alloc_funcs(pop_xmalloc, free);
}

json_t *pop_json_load(const char *text, size_t size, json_error_t *problem)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, set_allocator);
  return json_loadb(text, size, JSON_REJECT_DUPLICATES, problem);
}
