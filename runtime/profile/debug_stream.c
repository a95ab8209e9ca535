/* See populus/debug_stream.h. */
#include "base/object.h"

#include <populus/debug_stream.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static struct stream {
  pthread_mutex_t lock;
  FILE *file; /* NULL: none is open */
  pop_profile_format format;
  bool has_contexts;
} stream = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* CBOR: a map of one entry, whose value is a list of indefinite length. */
static const char cbor_begin[] = "\xa1\x68"
                                 "contexts\x9f";
static const char cbor_end[] = "\xff";

uint64_t pop_debug_next_id(void)
{
  static atomic_uint_least64_t last;
  return atomic_fetch_add(&last, 1) + 1;
}

static void put(const char *cbor, const char *json)
{
  fputs(stream.format == POP_PROFILE_CBOR ? cbor : json, stream.file);
}

pop_error *pop_debug_stream_open(const char *path, pop_profile_format format)
{
  POP_TRY(object_check_argument(path, "the path", __func__));
  if (format > POP_PROFILE_CBOR)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: there is no format %d", __func__,
                         (int)format);
  pop_error *error = NULL;
  pthread_mutex_lock(&stream.lock);
  if (stream.file)
    error = pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                          "%s: '%s': another file is open: pop_debug_stream_close ends it",
                          __func__, path);
  else if (!(stream.file = fopen(path, "wbe")))
    error = pop_error_new(POP_ERROR_SYSTEM, "%s: cannot make '%s': %s", __func__, path,
                          strerror(errno));
  if (!error) {
    stream.format = format;
    stream.has_contexts = false;
    put(cbor_begin, "{\"contexts\":[");
  }
  pthread_mutex_unlock(&stream.lock);
  return error;
}

bool pop_debug_stream_is_open(void)
{
  pthread_mutex_lock(&stream.lock);
  bool open = stream.file != NULL;
  pthread_mutex_unlock(&stream.lock);
  return open;
}

pop_error *pop_debug_stream_add(pop_profile_value context)
{
  if (!context.node)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "there is no debug information to add");
  pop_error *error = NULL;
  pthread_mutex_lock(&stream.lock);
  if (stream.file) {
    put("", stream.has_contexts ? "," : "");
    stream.has_contexts = true;
    error = pop_profile_write(context, stream.format, stream.file);
  }
  pthread_mutex_unlock(&stream.lock);
  return error;
}

pop_error *pop_debug_stream_close(void)
{
  pop_error *error = NULL;
  pthread_mutex_lock(&stream.lock);
  if (stream.file) {
    put(cbor_end, "]}\n");
    bool failed = ferror(stream.file);
    failed = fclose(stream.file) != 0 || failed;
    stream.file = NULL;
    if (failed)
      error = pop_error_new(POP_ERROR_SYSTEM, "%s: the file could not be written", __func__);
  }
  pthread_mutex_unlock(&stream.lock);
  return error;
}
