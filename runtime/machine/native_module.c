/* The translator's module in this process. It is loaded on first use and never unloaded. One thread
 * at a time uses it. LLVM runs in a thread that can be given up (base/llvm_thread.h): if there is
 * no memory for LLVM, no more code is compiled, and nothing else happens.
 *
 * Throttling. Between groups of passes, where it holds no lock of LLVM or the C library (a safe
 * point), the translator's thread calls `throttle`. If it has not had a core for itself since the
 * last call, it waits until the process's other threads have used THROTTLE_SHARE times as much time
 * as it has. So beside interpreters that keep all cores busy it takes a ninth of the time. A
 * program can lose that much by being translated, and no more.
 *
 * The end of the process. exit() destroys LLVM's statics, and a thread that is in LLVM then
 * crashes. So the process must not end before the thread is at a safe point, and the thread must
 * not go on afterwards. Handlers of atexit come too late, because LLVM registers more of its own
 * whenever it uses something first. But exit() begins with the thread-local destructors of its
 * caller. Each thread that has run a machine has such a destructor, which pauses translation until
 * the next run begins. If only the thread ends, and not the process, this pause is the only effect.
 * For exit() in other threads there is a handler of atexit, too. */
#include "native.h"

#include "base/library.h"
#include "base/llvm_thread.h"
#include "base/log.h"
#include "translator_contract.h"
#include <dlfcn.h>
#include <populus/arena.h>
#include <populus/data_dir.h>
#include <populus/file.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { THROTTLE_SHARE = 8 };

static struct {
  pthread_mutex_t use; /* held by the thread inside */
  const translator_interface *interface;
  translator *translator;
  char *identity;
  bool broken;
  char *error;
  bool is_background; /* is the translator's thread inside? */

  pthread_mutex_t gate;
  pthread_cond_t change; /* of these: */
  bool inside, at_safe_point, paused, exiting;
  uint32_t num_running; /* machines */
} module = {.use = PTHREAD_MUTEX_INITIALIZER,
            .gate = PTHREAD_MUTEX_INITIALIZER,
            .change = PTHREAD_COND_INITIALIZER};

static _Thread_local bool this_thread_is_inside, this_thread_is_watched;

/* ---- the end of the process ---- */

/* Under the gate. */
static void wait_for_safe_point(void)
{
  if (this_thread_is_inside) return; /* LLVM itself calls exit() */
  while (module.inside && !module.at_safe_point) pthread_cond_wait(&module.change, &module.gate);
}

static void stop_for_exit(void)
{
  pthread_mutex_lock(&module.gate);
  module.exiting = true;
  wait_for_safe_point();
  pthread_mutex_unlock(&module.gate);
}

/* A thread that has run machines ends, and the process perhaps with it. */
static void pause_translation(void *unused)
{
  (void)unused;
  pthread_mutex_lock(&module.gate);
  if (module.num_running == 0) {
    module.paused = true;
    wait_for_safe_point();
  }
  pthread_mutex_unlock(&module.gate);
}

/* Under the gate. */
static void resume_translation(void)
{
  if (module.paused) pthread_cond_broadcast(&module.change);
  module.paused = false;
}

/* The C library's function that registers a thread-local destructor; only C++ has a keyword for
 * it. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* The C library ends the process if it has no memory for registering. So this function asks for
 * memory first, and frees it. It asks for more than the thread's cache holds, because the C
 * library's calloc does not look there. If there is none, the thread is not watched, and exit() in
 * it is like exit() in a thread that has run nothing. */
static void watch_end_of_thread(void)
{
  enum { MORE_THAN_IT_NEEDS = 4096 };
  if (this_thread_is_watched || !__cxa_thread_atexit_impl) return;
  /* volatile: else the compiler removes both calls */
  void *volatile memory = malloc(MORE_THAN_IT_NEEDS);
  free(memory);
  if (memory) __cxa_thread_atexit_impl(pause_translation, NULL, &__dso_handle);
  this_thread_is_watched = memory != NULL;
}

/* Watches the main thread from the start, when there is memory. */
__attribute__((constructor)) static void watch_main_thread(void)
{
  watch_end_of_thread();
}

void native_module_run_begins(void)
{
  watch_end_of_thread();
  pthread_mutex_lock(&module.gate);
  module.num_running++;
  resume_translation();
  pthread_mutex_unlock(&module.gate);
}

void native_module_run_ends(void)
{
  pthread_mutex_lock(&module.gate);
  module.num_running--;
  pthread_mutex_unlock(&module.gate);
}

/* ---- throttling ---- */

typedef struct cpu_times {
  double passed, used; /* seconds: of the clock, and of this thread */
  double others;       /* by the process's other threads */
} cpu_times;

static double seconds_of(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static cpu_times cpu_times_now(void)
{
  double used = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  return (cpu_times){.passed = seconds_of(CLOCK_MONOTONIC),
                     .used = used,
                     .others = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used};
}

/* How long another thread should have the core that this one has used since then. */
static double throttle_seconds(cpu_times since)
{
  static const double noise = 0.0005;
  cpu_times now = cpu_times_now();
  double used = now.used - since.used, passed = now.passed - since.passed;
  return passed > 1.1 * used + noise ? THROTTLE_SHARE * used : 0;
}

static struct timespec in_seconds(double seconds)
{
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  double nanoseconds = (double)at.tv_nsec + seconds * 1e9;
  at.tv_sec += (time_t)(nanoseconds / 1e9);
  at.tv_nsec = (long)(nanoseconds - 1e9 * (double)(time_t)(nanoseconds / 1e9));
  return at;
}

/* Under the gate. */
static void pause_for(double seconds)
{
  struct timespec until = in_seconds(seconds);
  int timed_out = 0;
  while (module.exiting || module.paused || !timed_out)
    if (module.exiting || module.paused)
      pthread_cond_wait(&module.change, &module.gate);
    else
      timed_out = pthread_cond_timedwait(&module.change, &module.gate, &until);
}

/* Under the gate. The more cores the others keep busy, the sooner the wait ends. */
static void throttle_wait(double seconds)
{
  enum { STEPS_PER_CORE = 4 }; /* for each core */
  long steps = seconds > 0 ? STEPS_PER_CORE * sysconf(_SC_NPROCESSORS_ONLN) : 1;
  double before = cpu_times_now().others;
  long left = steps;
  do /* at least once: translation may be paused */
    pause_for(seconds / (double)steps);
  while (cpu_times_now().others - before < seconds && --left > 0);
}

static cpu_times last_throttle; /* of the translator's thread */

static void throttle(void)
{
  double seconds = throttle_seconds(last_throttle);
  pthread_mutex_lock(&module.gate);
  module.at_safe_point = true;
  pthread_cond_broadcast(&module.change);
  throttle_wait(seconds);
  module.at_safe_point = false;
  pthread_mutex_unlock(&module.gate);
  last_throttle = cpu_times_now();
}

/* ---- loading ---- */

/* The hash of the module's own bytes identifies the translator: a version number would not change
 * with each change. */
static char *identify(const char *path, const char *host)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  pop_error *error = pop_file_read(path, SIZE_MAX, &bytes, &size);
  XXH128_hash_t hash = XXH3_128bits(bytes, size);
  char *text = error ? NULL
                     : pop_xasprintf("Populus %016llx%016llx %s", (unsigned long long)hash.high64,
                                     (unsigned long long)hash.low64, host);
  pop_error_free(error);
  free(bytes);
  return text;
}

typedef struct opening {
  const char *path;
  char *error;
} opening;

/* In LLVM's thread. */
static char *open_module(const char *path)
{
  if (!llvm_thread_has_room()) return pop_xstrdup("there is no memory for LLVM");
  const char *why;
  module.interface = library_load(path, RTLD_NOW | RTLD_LOCAL, "translator_module", &why);
  if (!module.interface) return pop_xstrdup(why);
  if (strcmp(module.interface->contract, POPULUS_TRANSLATOR_CONTRACT) != 0)
    return pop_xasprintf(
        "%s belongs to another build of Populus: install it together with what uses it", path);
  const translator_helpers helpers = {.access = translated_access,
                                      .more_time = translated_more_time,
                                      .find = translated_find,
                                      .value = translated_value,
                                      .copy = translated_copy};
  module.interface->set_fatal_handler(llvm_thread_give_up);
  char *error = NULL, *text = NULL;
  module.translator = module.interface->create(&helpers, &error);
  if (error) {
    text = pop_xstrdup(error);
    module.interface->forget(error);
  }
  return text;
}

static void open_inside(void *context)
{
  opening *o = context;
  this_thread_is_inside = true;
  o->error = open_module(o->path);
}

/* Inside. The caller may end the process later, and then needs what the C++ library keeps for each
 * thread. */
static void load(void)
{
  char *path = pop_xasprintf("%s/populus-translator.so", pop_data_dir());
  opening o = {.path = path};
  if (!llvm_thread_call(LLVM_TRANSLATOR, open_inside, &o)) {
    module.translator = NULL;
    o.error = pop_xstrdup(llvm_thread_error());
  }
  module.error = o.error;
  module.broken = !module.translator || atexit(stop_for_exit);
  if (module.error) log_write(LOG_WARN, "MACHINE", "tile code is interpreted: %s", module.error);
  if (!module.broken) {
    module.identity = identify(path, module.interface->identity(module.translator));
    native_module_shrink();
    module.interface->prepare_thread();
  }
  free(path);
}

/* Under the gate. */
static void set_inside(bool inside)
{
  this_thread_is_inside = module.inside = inside;
  pthread_cond_broadcast(&module.change);
}

/* May this thread enter? A caller that cannot wait resumes the translator's thread, which may be
 * paused inside. */
static bool may_enter(bool is_background)
{
  if (!is_background) resume_translation();
  while (is_background && module.paused) pthread_cond_wait(&module.change, &module.gate);
  return !module.exiting;
}

bool native_module_enter(bool is_background)
{
  pthread_mutex_lock(&module.gate);
  bool enters = may_enter(is_background);
  pthread_mutex_unlock(&module.gate);
  if (!enters) return false;
  pthread_mutex_lock(&module.use);
  pthread_mutex_lock(&module.gate);
  enters = may_enter(is_background) && !module.broken;
  if (enters) set_inside(true);
  pthread_mutex_unlock(&module.gate);
  module.is_background = is_background;
  if (enters && !module.translator) load();
  if (enters && !module.broken) return true;
  if (enters)
    native_module_leave();
  else
    pthread_mutex_unlock(&module.use);
  return false;
}

void native_module_leave(void)
{
  pthread_mutex_lock(&module.gate);
  set_inside(false);
  pthread_mutex_unlock(&module.gate);
  pthread_mutex_unlock(&module.use);
}

bool native_module_load(const char **error)
{
  bool there = native_module_enter(false);
  *error = module.error ? module.error : "the process ends";
  if (there) native_module_leave();
  return there;
}

/* If another thread was inside at the fork, LLVM is broken in the child. */
void native_module_forked(void)
{
  module.broken |= module.inside && !this_thread_is_inside;
  if (module.broken && !module.error) module.error = pop_xstrdup("the process was forked");
  module.inside = this_thread_is_inside;
  module.at_safe_point = module.paused = module.exiting = false;
  pthread_mutex_init(&module.use, NULL);
  pthread_mutex_init(&module.gate, NULL);
  pthread_cond_init(&module.change, NULL);
}

/* ---- inside ---- */

typedef struct module_call {
  void (*body)(struct module_call *c);
  const code_unit *unit;
  const char *name;
  const uint8_t *bytes;
  size_t size;
  const code_place *place;
  translated_object *object;
  uint8_t *made;
  translated_code code;
  char *why;
} module_call;

/* In LLVM's thread. */
static void serve_call(void *context)
{
  module_call *c = context;
  this_thread_is_inside = true;
  module.interface->set_fatal_handler(llvm_thread_give_up);
  c->body(c);
}

/* False: LLVM has been given up, and the module with it. The call's results are lost. */
static bool call_module(module_call *c)
{
  if (llvm_thread_call(LLVM_TRANSLATOR, serve_call, c)) return true;
  module.broken = true;
  if (!module.error) module.error = pop_xstrdup(llvm_thread_error());
  return false;
}

/* The call's error as a text of this library. */
static char *explain(bool called, const module_call *c)
{
  if (!called) return pop_xasprintf("%s; no more code is compiled", module.error);
  char *text = c->why ? pop_xstrdup(c->why) : NULL;
  if (c->why) module.interface->forget(c->why);
  return text;
}

static void shrink_inside(module_call *c)
{
  (void)c;
  module.interface->shrink();
}

void native_module_shrink(void)
{
  module_call call = {.body = shrink_inside};
  call_module(&call);
}

const char *native_module_identity(void)
{
  return module.identity;
}

static void compile_inside(module_call *c)
{
  last_throttle = cpu_times_now();
  c->made = module.interface->compile(module.translator, c->unit, c->name,
                                      module.is_background ? throttle : NULL, &c->size, &c->why);
}

uint8_t *native_module_compile(const code_unit *code, const char *name, size_t *size, char **error)
{
  module_call call = {.body = compile_inside, .unit = code, .name = name};
  bool called = call_module(&call);
  *error = explain(called, &call);
  *size = called ? call.size : 0;
  return called ? call.made : NULL;
}

static void link_inside(module_call *c)
{
  c->code = module.interface->link(module.translator, c->bytes, c->size, c->name, c->place,
                                   &c->object, &c->why);
}

translated_code native_module_link(const uint8_t *bytes, size_t size, const char *name,
                                   const code_place *place, translated_object **object,
                                   char **error)
{
  module_call call = {
      .body = link_inside, .bytes = bytes, .size = size, .name = name, .place = place};
  bool called = call_module(&call);
  *error = explain(called, &call);
  *object = called ? call.object : NULL;
  return called ? call.code : NULL;
}

static void discard_inside(module_call *c)
{
  module.interface->discard(c->object);
}

void native_module_discard(translated_object *object)
{
  module_call call = {.body = discard_inside, .object = object};
  call_module(&call);
}

void native_module_digest(const void *bytes, size_t size, uint8_t digest[TRANSLATOR_DIGEST_BYTES])
{
  module.interface->digest(bytes, size, digest);
}
