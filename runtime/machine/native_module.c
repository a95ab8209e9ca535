/* The translator's module in this process: loaded when it is wanted first, then for good; used by one
 * thread at a time.
 *
 * The end of the process. exit() takes LLVM's statics apart, and whoever is in LLVM then crashes. So a
 * handler of atexit waits until nobody is in the module, and keeps everybody out from then on. What
 * it waits for is short: the translator's thread, when it comes to a place where it holds no lock
 * (`breathe`: between two groups of passes), stays there for ever, and the process ends without it.
 * Handlers run in the reverse order of their registration, so this one is registered behind those
 * of LLVM, which loading it registers. While it is being loaded nothing helps: so the translator's
 * thread loads it only while some machine runs, and machine_run does not end meanwhile. */
#include "native.h"

#include <dlfcn.h>
#include <populus/data_dir.h>
#include <populus/file.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

static struct {
  pthread_mutex_t use; /* held by who is inside */
  bool parks;          /* is that the translator's thread? */
  const translator_interface *interface;
  translator *translator;
  char *identity;
  bool broken;
  char *error;

  pthread_mutex_t gate;
  pthread_cond_t change; /* of one of these: */
  bool inside, leaving, loading;
  uint32_t num_running; /* machines */
} module = {.use = PTHREAD_MUTEX_INITIALIZER,
            .gate = PTHREAD_MUTEX_INITIALIZER,
            .change = PTHREAD_COND_INITIALIZER};

static _Thread_local bool this_thread_is_inside;

/* ---- the end of the process ---- */

static void wait_until_left(void)
{
  if (this_thread_is_inside) return; /* LLVM itself calls exit() */
  pthread_mutex_lock(&module.gate);
  module.leaving = true;
  while (module.inside) pthread_cond_wait(&module.change, &module.gate);
  pthread_mutex_unlock(&module.gate);
}

/* Under the gate. */
static void set_inside(bool inside)
{
  this_thread_is_inside = module.inside = inside;
  pthread_cond_broadcast(&module.change);
}

static void stay(void)
{
  for (;;) pause();
}

static void breathe(void)
{
  pthread_mutex_lock(&module.gate);
  bool leaving = module.leaving;
  if (leaving) set_inside(false);
  pthread_mutex_unlock(&module.gate);
  if (leaving) stay();
}

/* ---- loading ---- */

/* The module's own bytes say which translator it is: a version would not change with each change. */
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

static char *open_module(const char *path)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  module.interface = library ? dlsym(library, "translator_module") : NULL;
  if (!module.interface) return pop_xstrdup(dlerror());
  const translator_helpers helpers = {
      .access = translated_access, .find = translated_find, .rounded = translated_float};
  char *error = NULL, *text = NULL;
  module.translator = module.interface->create(&helpers, &error);
  if (error) {
    text = pop_xstrdup(error);
    module.interface->forget(error);
  }
  return text;
}

/* Inside. */
static void load(void)
{
  char *path = pop_xasprintf("%s/populus-translator.so", pop_data_dir());
  module.error = open_module(path);
  module.broken = !module.translator || atexit(wait_until_left);
  if (!module.broken)
    module.identity = identify(path, module.interface->identity(module.translator));
  free(path);
}

/* Takes `use`, then the gate. The translator's thread waits for a moment when it may load. */
static void take_turn(bool parks)
{
  for (;;) {
    pthread_mutex_lock(&module.use);
    pthread_mutex_lock(&module.gate);
    bool loads = !module.translator && !module.broken;
    if (!(parks && loads) || module.num_running) break;
    pthread_mutex_unlock(&module.use);
    pthread_cond_wait(&module.change, &module.gate);
    pthread_mutex_unlock(&module.gate);
  }
  module.parks = parks;
}

bool native_module_enter(bool parks)
{
  take_turn(parks);
  bool enters = !module.leaving && !module.broken, loads = enters && !module.translator;
  if (enters) set_inside(true);
  module.loading = loads;
  pthread_mutex_unlock(&module.gate);
  if (loads) {
    load();
    pthread_mutex_lock(&module.gate);
    module.loading = false;
    pthread_cond_broadcast(&module.change);
    pthread_mutex_unlock(&module.gate);
  }
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

void native_module_run_begins(void)
{
  pthread_mutex_lock(&module.gate);
  if (module.num_running++ == 0) pthread_cond_broadcast(&module.change);
  pthread_mutex_unlock(&module.gate);
}

void native_module_run_ends(void)
{
  pthread_mutex_lock(&module.gate);
  module.num_running--;
  while (module.loading) pthread_cond_wait(&module.change, &module.gate);
  pthread_mutex_unlock(&module.gate);
}

/* A child that was made while another thread was inside has a broken LLVM. */
void native_module_forked(void)
{
  module.broken |= module.inside && !this_thread_is_inside;
  if (module.broken && !module.error) module.error = pop_xstrdup("the process was forked");
  module.inside = this_thread_is_inside;
  module.loading = false;
  pthread_mutex_init(&module.use, NULL);
  pthread_mutex_init(&module.gate, NULL);
  pthread_cond_init(&module.change, NULL);
}

/* ---- inside ---- */

const char *native_module_identity(void)
{
  return module.identity;
}

uint8_t *native_module_compile(const code_unit *code, const char *name, size_t *size, char **error)
{
  char *why = NULL;
  uint8_t *object = module.interface->compile(module.translator, code, name,
                                              module.parks ? breathe : NULL, size, &why);
  *error = why ? pop_xstrdup(why) : NULL;
  if (why) module.interface->forget(why);
  return object;
}

translated_code native_module_link(const uint8_t *bytes, size_t size, const char *name,
                                   translated_object **object, char **error)
{
  char *why = NULL;
  translated_code code = module.interface->link(module.translator, bytes, size, name, object, &why);
  *error = why ? pop_xstrdup(why) : NULL;
  if (why) module.interface->forget(why);
  return code;
}

void native_module_discard(translated_object *object)
{
  module.interface->discard(object);
}

void native_module_digest(const void *bytes, size_t size, uint8_t digest[TRANSLATOR_DIGEST_BYTES])
{
  module.interface->digest(bytes, size, digest);
}
