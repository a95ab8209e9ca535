/* Objects at addresses that are given out once.
 *
 * Each object has pages of its own. They come from the system in chunks next to each other, so that
 * any number of them is one mapping. The pages of a dead object are given back (MADV_DONTNEED).
 * They then read as zeros, which means dead. */
#include "base/object.h"

#include "base/log.h"
#include <populus/arena.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK_PAGES = 64 };

/* A leak checker scans mapped memory only if it is told to. */
extern void __lsan_register_root_region(const void *begin, size_t bytes) __attribute__((weak));

static struct {
  pthread_mutex_t lock;
  char *next, *end; /* what is left of the newest chunk */
} pages = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t page_bytes(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* Rounded up to pages. */
static size_t object_bytes(size_t bytes)
{
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

/* NULL: the system has none. */
static char *new_pages(size_t bytes)
{
  pthread_mutex_lock(&pages.lock);
  if ((size_t)(pages.end - pages.next) < bytes) {
    size_t chunk = CHUNK_PAGES * page_bytes();
    if (chunk < bytes) chunk = bytes;
    char *mapped = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      pthread_mutex_unlock(&pages.lock);
      return NULL;
    }
    if (__lsan_register_root_region) __lsan_register_root_region(mapped, chunk);
    pages.next = mapped;
    pages.end = mapped + chunk;
  }
  char *memory = pages.next;
  pages.next += bytes;
  pthread_mutex_unlock(&pages.lock);
  return memory;
}

/* Precedes an object and holds its size. */
typedef struct header {
  size_t bytes; /* with the header; 0: from malloc, and it stays */
  size_t padding;
} header;

void *object_new(object_kind kind, size_t bytes)
{
  size_t total = object_bytes(bytes + sizeof(header));
  header *h = (header *)new_pages(total);
  if (h)
    h->bytes = total;
  else
    h = pop_xcalloc(1, bytes + sizeof(header));
  object *o = (object *)(h + 1);
  o->kind = kind;
  atomic_init(&o->users, 1);
  atomic_init(&o->references, 1);
  return o;
}

void object_delete(object *o)
{
  header *h = (header *)o - 1;
  o->kind = OBJECT_NONE;
  if (h->bytes) madvise(h, h->bytes, MADV_DONTNEED);
}

void object_use(object *o)
{
  if (atomic_fetch_add(&o->users, 1) == 0) object_hold(o);
}

void object_hold(object *o)
{
  atomic_fetch_add(&o->references, 1);
}

bool object_drop(object *o)
{
  return atomic_fetch_sub(&o->references, 1) == 1;
}

static const char *kind_name(object_kind kind)
{
  static const char *const names[] = {[OBJECT_NONE] = "nothing",
#define OBJECT_NAME(name, text) [OBJECT_##name] = text,
                                      OBJECT_KINDS(OBJECT_NAME)
#undef OBJECT_NAME
  };
  return names[kind];
}

bool object_release(void *object_or_null, object_kind kind, const char *call)
{
  object *o = object_or_null;
  if (!o) return false;
  unsigned users = object_lives(o, kind) ? atomic_load(&o->users) : 0;
  while (users && !atomic_compare_exchange_weak(&o->users, &users, users - 1)) continue;
  if (users == 0)
    log_write(LOG_ERR, "GRAPH", "%s: the %s was freed before, or is another object's", call,
              kind_name(kind));
  return users == 1 && object_drop(o);
}

pop_error *object_check(const void *o, object_kind kind, const char *call)
{
  if (object_lives(o, kind)) return NULL;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: the %s %s", call, kind_name(kind),
                       o ? "was freed; it cannot be used any more" : "is NULL");
}

bool object_there(const void *o, object_kind kind, const char *call)
{
  pop_error *error = object_check(o, kind, call);
  if (!error) return true;
  log_write(LOG_ERR, "GRAPH", "%s", pop_error_message(error));
  pop_error_free(error);
  return false;
}

pop_error *object_check_argument(const void *argument, const char *what, const char *call)
{
  if (argument) return NULL;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: the address of %s is NULL", call, what);
}

pop_error *object_check_list(const void *list, size_t count, const char *what, const char *call)
{
  if (list || count == 0) return NULL;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: %zu %s, and their address is NULL", call,
                       count, what);
}
