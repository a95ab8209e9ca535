/* The process's units, their users, and the translator's thread.
 *
 * A unit without users is kept for the next machine with the same code. If such units exceed
 * IDLE_BYTES, the least recently used ones are freed.
 *
 * The thread is started on first use; native_module.c says how it shares the processor.
 *
 * Lock order: a thread that is in the module (native_module.c) may take `lock`, never the other way
 * round. */
#include "native.h"

#include "base/log.h"
#include "base/threads.h"

#include <populus/arena.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY /* the state is a struct, so no allocation can fail */
#include <xxhash.h>

enum { NUM_CHAINS = 1024, IDLE_BYTES = 32 << 20 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  native_unit *chains[NUM_CHAINS];
  native_folder *folders;
  native_counters counters;
  uint64_t uses; /* counts releases: last_used */
  size_t idle_bytes;
  bool has_thread, watches_forks;
  native_unit *first_queued, *last_queued;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER,
         .work = PTHREAD_COND_INITIALIZER,
         .done = PTHREAD_COND_INITIALIZER};

/* ---- units ---- */

/* The arrays have no padding. */
_Static_assert(sizeof(code_function) == 3 * sizeof(uint32_t), "code_function");
_Static_assert(sizeof(code_block) == 11 * sizeof(uint32_t), "code_block");
_Static_assert(sizeof(code_op) == 3 * sizeof(uint32_t), "code_op");
_Static_assert(sizeof(code_range) == 2 * sizeof(uint32_t), "code_range");
_Static_assert(sizeof(code_window) == 2 * sizeof(uint32_t), "code_window");

static void find_key(const code_unit *code, uint64_t key[2])
{
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, code->functions, code->num_functions * sizeof *code->functions);
  XXH3_128bits_update(&state, code->blocks, code->num_blocks * sizeof *code->blocks);
  XXH3_128bits_update(&state, code->ops, code->num_ops * sizeof *code->ops);
  if (code->num_targets)
    XXH3_128bits_update(&state, code->targets, code->num_targets * sizeof *code->targets);
  XXH3_128bits_update(&state, code->ranges, code->num_ranges * sizeof *code->ranges);
  XXH3_128bits_update(&state, code->words, code->num_words * sizeof *code->words);
  XXH3_128bits_update(&state, (code_window[]){code->readable, code->writable},
                      2 * sizeof(code_window));
  XXH3_128bits_update(&state, &code->checked, sizeof code->checked);
  XXH3_128bits_update(&state, &code->data_apart, sizeof code->data_apart);
  XXH128_hash_t hash = XXH3_128bits_digest(&state);
  key[0] = hash.low64;
  key[1] = hash.high64;
}

static bool same_window(code_window a, code_window b)
{
  return a.start == b.start && a.bytes == b.bytes;
}

static bool same_code(const code_unit *a, const code_unit *b)
{
  return a->num_words == b->num_words && a->num_ranges == b->num_ranges &&
         a->checked == b->checked && a->data_apart == b->data_apart &&
         same_window(a->readable, b->readable) && same_window(a->writable, b->writable) &&
         !memcmp(a->words, b->words, a->num_words * sizeof *a->words) &&
         !memcmp(a->ranges, b->ranges, a->num_ranges * sizeof *a->ranges);
}

static size_t unit_bytes(const native_unit *u)
{
  return sizeof *u + u->object_bytes + u->code.num_words * sizeof *u->code.words +
         u->code.num_ops * sizeof *u->code.ops;
}

native_unit *native_acquire(code_unit *code)
{
  uint64_t key[2];
  find_key(code, key);
  pthread_mutex_lock(&all.lock);
  native_unit **chain = &all.chains[key[0] % NUM_CHAINS], *u = *chain;
  while (u && (u->key[0] != key[0] || u->key[1] != key[1] || !same_code(&u->code, code)))
    u = u->next;
  if (u) {
    if (u->users == 0) all.idle_bytes -= unit_bytes(u);
    code_unit_free(code);
  } else {
    u = pop_xcalloc(1, sizeof *u);
    u->code = *code;
    u->key[0] = key[0];
    u->key[1] = key[1];
    u->next = *chain;
    *chain = u;
  }
  u->users++;
  pthread_mutex_unlock(&all.lock);
  *code = (code_unit){0};
  return u;
}

void native_release(native_unit *u)
{
  pthread_mutex_lock(&all.lock);
  if (--u->users == 0) {
    u->last_used = ++all.uses;
    all.idle_bytes += unit_bytes(u);
  }
  pthread_mutex_unlock(&all.lock);
}

/* The link to the least recently used unit without users and work. */
static native_unit **find_oldest(void)
{
  native_unit **oldest = NULL;
  for (size_t i = 0; i < NUM_CHAINS; i++)
    for (native_unit **link = &all.chains[i]; *link; link = &(*link)->next) {
      const native_unit *u = *link;
      bool idle = !u->users && !u->in_queue && u->state != NATIVE_BUSY;
      if (idle && (!oldest || u->last_used < (*oldest)->last_used)) oldest = link;
    }
  return oldest;
}

/* To be called in the module. */
static void free_idle_units(void)
{
  pthread_mutex_lock(&all.lock);
  while (all.idle_bytes > IDLE_BYTES) {
    native_unit **link = find_oldest(), *u = link ? *link : NULL;
    if (!u) break;
    *link = u->next;
    all.idle_bytes -= unit_bytes(u);
    if (u->object) native_module_discard(u->object);
    code_unit_free(&u->code);
    free(u);
  }
  pthread_mutex_unlock(&all.lock);
}

/* ---- making ---- */

/* The result of making a unit, before it is published under the lock. */
typedef struct made {
  native_state state;
  translated_code native;
  translated_object *object;
  size_t object_bytes;
  pop_bytes file; /* of the object, as in the folder */
  native_counters counted;
} made;

static double now_ms(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void log_made(const code_unit *code, const char *verb, const char *from, double start)
{
  log_write(LOG_DEBUG, "MACHINE", "%s native code of 0x%x (%zu instructions, %.0f ms)%s%s", verb,
            code->functions[0].entry, code->num_ops, now_ms() - start, *from ? " from " : "", from);
}

/* A unit that is being made: with its addresses, and without. */
typedef struct making {
  const code_unit *code;
  code_unit moved;
  code_place place;
  char name[NATIVE_NAME_BYTES];
  pop_bytes material;
} making;

static void compile_unit(const making *it, made *m)
{
  const code_unit *code = it->code;
  char *error = NULL;
  double start = now_ms();
  uint8_t *object = native_module_compile(&it->moved, it->name, &m->object_bytes, &error);
  if (object) {
    native_file_make(object, m->object_bytes, &it->material, &m->file);
    native_object_keep(it->name, &it->material, object, m->object_bytes);
    m->counted.compiled = 1;
    log_made(code, "Compiled", "", start);
  } else {
    log_write(LOG_WARN, "MACHINE", "code at 0x%x is interpreted, because it cannot be compiled: %s",
              code->functions[0].entry, error);
  }
  free(object);
  free(error);
}

static void link_unit(const making *it, made *m)
{
  char *error = NULL;
  m->native =
      native_module_link(m->file.data, m->object_bytes, it->name, &it->place, &m->object, &error);
  if (!m->native)
    log_write(LOG_WARN, "MACHINE", "code at 0x%x is interpreted, because it cannot be linked: %s",
              it->code->functions[0].entry, error);
  free(error);
}

/* Looks for the object among those that the process has compiled, and in the folder. */
static void find_object(const making *it, native_folder *folder, made *m)
{
  double start = now_ms();
  if (native_object_find(it->name, &it->material, &m->file)) {
    m->object_bytes = m->file.size;
    m->counted.moved = 1;
    log_made(it->code, "Moved", "", start);
    return;
  }
  if (!folder) return;
  native_found found =
      native_file_read(folder, it->name, &it->material, &m->file, &m->object_bytes);
  m->counted.refused = found == NATIVE_REFUSED;
  m->counted.loaded = found == NATIVE_FOUND;
  if (!m->counted.loaded) return;
  native_object_keep(it->name, &it->material, m->file.data, m->object_bytes);
  log_made(it->code, "Loaded", folder->path, start);
}

/* In the module. `look`: look in the folder. */
static void make_inside(const code_unit *code, native_folder *folder, bool look, bool compile,
                        made *m)
{
  making it = {.code = code};
  it.moved = code_unit_move(code, &it.place);
  native_file_material(&it.moved, &it.material);
  native_file_name(&it.material, it.name);
  if (look || compile) find_object(&it, look ? folder : NULL, m);
  if (!m->file.size && compile) compile_unit(&it, m);
  if (m->file.size) link_unit(&it, m);
  m->state = m->file.size || compile ? NATIVE_DONE : NATIVE_ABSENT;
  m->counted.failed = m->state == NATIVE_DONE && !m->native;
  m->counted.saved = m->counted.compiled && folder && native_file_write(folder, it.name, &m->file);
  pop_bytes_free(&m->file);
  pop_bytes_free(&it.material);
  code_unit_free_moved(&it.moved);
  free(it.place.starts);
}

/* Frees what is not needed to tell the unit from others. */
static void forget_operations(code_unit *code)
{
  free(code->functions);
  free(code->blocks);
  free(code->ops);
  free(code->targets);
  free(code->pointed);
  code->functions = NULL;
  code->blocks = NULL;
  code->ops = NULL;
  code->targets = NULL;
  code->pointed = NULL;
  code->num_pointed = code->num_functions = code->num_blocks = code->num_ops = code->num_targets =
      0;
}

/* Under the lock. */
static void note_made(native_unit *u, const made *m)
{
  if (u->users == 0) all.idle_bytes -= unit_bytes(u);
  u->state = m->state;
  u->object = m->object;
  u->object_bytes = m->object ? m->object_bytes : 0;
  if (m->state == NATIVE_DONE) forget_operations(&u->code);
  if (u->users == 0) all.idle_bytes += unit_bytes(u);
  atomic_store_explicit(&u->native, m->native, memory_order_release);
  all.counters.compiled += m->counted.compiled;
  all.counters.loaded += m->counted.loaded;
  all.counters.moved += m->counted.moved;
  all.counters.saved += m->counted.saved;
  all.counters.failed += m->counted.failed;
  all.counters.refused += m->counted.refused;
  pthread_cond_broadcast(&all.done);
}

static bool has_no_work(void)
{
  pthread_mutex_lock(&all.lock);
  bool none = !all.first_queued;
  pthread_mutex_unlock(&all.lock);
  return none;
}

/* Under the lock, which it releases meanwhile. */
static void make_unit(native_unit *u, bool compile, bool is_background)
{
  made m = {.state = NATIVE_DONE};
  bool look = u->state != NATIVE_ABSENT;
  native_folder *folder = u->folder;
  u->state = NATIVE_BUSY;
  pthread_mutex_unlock(&all.lock);
  if (native_module_enter(is_background)) {
    make_inside(&u->code, folder, look, compile, &m);
    free_idle_units();
    if (has_no_work()) native_module_shrink();
    native_module_leave();
  }
  pop_bytes_free(&m.file);
  pthread_mutex_lock(&all.lock);
  note_made(u, &m);
}

void native_make(native_unit *u, native_folder *folder)
{
  pthread_mutex_lock(&all.lock);
  if (folder) u->folder = folder;
  while (u->state != NATIVE_DONE)
    if (u->state == NATIVE_BUSY)
      pthread_cond_wait(&all.done, &all.lock);
    else
      make_unit(u, true, false);
  pthread_mutex_unlock(&all.lock);
}

/* ---- the translator's thread ---- */

/* Under the lock. */
static native_unit *next_unit(void)
{
  while (!all.first_queued) pthread_cond_wait(&all.work, &all.lock);
  native_unit *u = all.first_queued;
  all.first_queued = u->next_queued;
  u->next_queued = NULL;
  u->in_queue = false;
  return u;
}

static void *translate_queue(void *unused)
{
  (void)unused;
  pthread_mutex_lock(&all.lock);
  for (;;) {
    native_unit *u = next_unit();
    if (u->state != NATIVE_QUEUED) continue; /* native_make has made it meanwhile */
    if (u->users)
      make_unit(u, u->worth_compiling, true);
    else
      u->state = NATIVE_NEW;
  }
  return NULL;
}

/* A forked child has no translator's thread, and no thread finishes what was begun. */
static void lock_for_fork(void)
{
  pthread_mutex_lock(&all.lock);
}

static void unlock_after_fork(void)
{
  pthread_mutex_unlock(&all.lock);
}

static void start_in_child(void)
{
  native_module_forked();
  for (size_t i = 0; i < NUM_CHAINS; i++)
    for (native_unit *u = all.chains[i]; u; u = u->next) {
      u->in_queue = false;
      u->next_queued = NULL;
      if (u->state == NATIVE_QUEUED) u->state = NATIVE_NEW;
      if (u->state == NATIVE_BUSY) u->state = NATIVE_DONE;
    }
  all.first_queued = all.last_queued = NULL;
  all.has_thread = false;
  pthread_cond_init(&all.work, NULL);
  pthread_cond_init(&all.done, NULL);
  pthread_mutex_unlock(&all.lock);
}

/* Under the lock. The thread takes no signals: they are the program's. It is never joined;
 * native_module.c says what it does when the process ends. */
static void start_thread(void)
{
  pthread_t thread;
  if (!all.watches_forks)
    all.watches_forks = !pthread_atfork(lock_for_fork, unlock_after_fork, start_in_child);
  all.has_thread = all.watches_forks && thread_start(&thread, translate_queue, NULL);
  if (all.has_thread) pthread_detach(thread);
}

/* Under the lock. If there is no thread, the unit is interpreted. */
static void queue_unit(native_unit *u)
{
  if (!all.has_thread) start_thread();
  u->state = NATIVE_QUEUED;
  if (u->in_queue) return;
  u->in_queue = true;
  if (all.first_queued)
    all.last_queued->next_queued = u;
  else
    all.first_queued = u;
  all.last_queued = u;
  pthread_cond_signal(&all.work);
}

void native_request(native_unit *u, native_folder *folder, bool compile)
{
  pthread_mutex_lock(&all.lock);
  if (folder) u->folder = folder;
  if (compile) u->worth_compiling = true;
  if (u->state == NATIVE_NEW || (u->state == NATIVE_ABSENT && u->worth_compiling)) queue_unit(u);
  pthread_mutex_unlock(&all.lock);
}

/* ---- folders, counters ---- */

native_folder *native_folder_of(const char *path, uint64_t max_bytes)
{
  pthread_mutex_lock(&all.lock);
  native_folder *folder = all.folders;
  while (folder && strcmp(folder->path, path) != 0) folder = folder->next;
  if (!folder) {
    folder = pop_xcalloc(1, sizeof *folder);
    folder->path = pop_xstrdup(path);
    folder->next = all.folders;
    all.folders = folder;
  }
  atomic_store(&folder->max_bytes, max_bytes);
  pthread_mutex_unlock(&all.lock);
  return folder;
}

bool native_is_done(native_unit *u)
{
  pthread_mutex_lock(&all.lock);
  bool done = u->state == NATIVE_DONE;
  pthread_mutex_unlock(&all.lock);
  return done;
}

native_counters native_get_counters(void)
{
  pthread_mutex_lock(&all.lock);
  native_counters counters = all.counters;
  pthread_mutex_unlock(&all.lock);
  return counters;
}
