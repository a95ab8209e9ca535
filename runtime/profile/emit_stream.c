/* Writes profiles, and values in them, to streams. */
#include "base/emitter.h"
#include "base/json.h"
#include "base/object.h"

#include <errno.h>

pop_error *emit_to_stream(emit_function *emit, const void *what, pop_profile_format format,
                          FILE *stream)
{
  json_writer json = {.stream = stream,
                      .layout = format == POP_PROFILE_JSON ? JSON_DENSE : JSON_PRETTY};
  emitter to = format == POP_PROFILE_CBOR ? cbor_emitter(stream) : json_emitter(&json);
  emit(&to, what);
  return fflush(stream) == 0 && !ferror(stream) ? NULL
                                                : pop_error_errno(errno, "cannot write a profile");
}

/* Recursion is bounded: how deep profiles are nested does not depend on the graph. */
static void emit_entry(const emitter *to, const char *key, pop_profile_value value)
{
  pop_profile_kind kind = pop_profile_kind_of(value);
  switch (kind) {
  case POP_PROFILE_BOOL:
    emit_bool(to, key, pop_profile_as_bool(value));
    return;
  case POP_PROFILE_INT:
    emit_int(to, key, pop_profile_as_int(value));
    return;
  case POP_PROFILE_DOUBLE:
    emit_double(to, key, pop_profile_as_double(value));
    return;
  case POP_PROFILE_STRING:
    emit_string(to, key, pop_profile_as_string(value));
    return;
  case POP_PROFILE_NONE:
  case POP_PROFILE_VECTOR:
  case POP_PROFILE_MAP:
    break;
  }
  bool is_map = kind == POP_PROFILE_MAP;
  if (is_map)
    emit_begin_map(to, key);
  else
    emit_begin_vector(to, key);
  for (size_t i = 0; i < pop_profile_count(value); ++i)
    emit_entry(to, pop_profile_key(value, i), pop_profile_at(value, i));
  if (is_map)
    emit_end_map(to);
  else
    emit_end_vector(to);
}

static void emit_value(const emitter *to, const void *value)
{
  emit_entry(to, NULL, *(const pop_profile_value *)value);
}

pop_error *pop_profile_write(pop_profile_value value, pop_profile_format format, FILE *stream)
{
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  if (!value.node)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "pop_profile_write: there is no such value");
  return emit_to_stream(emit_value, &value, format, stream);
}
