/* Streaming output of profiles. A producer calls the functions below in order, and a back end makes
 * JSON, CBOR or values of it. Only the last one keeps anything.
 *
 *   graph profile, execution profile --emitter--> json_emitter   json.c
 *                                                 cbor_emitter   emit_cbor.c
 *                                                 emit_to_values value_build.c -> pop_profile
 *
 * `key` is NULL in vectors, and for the outermost value. Every begin has an end. */
#ifndef BASE_EMITTER_H
#define BASE_EMITTER_H

#include <populus/profile.h>

typedef struct emitter_back_end {
  void (*begin_map)(void *context, const char *key);
  void (*end_map)(void *context);
  void (*begin_vector)(void *context, const char *key);
  void (*end_vector)(void *context);
  void (*put_int)(void *context, const char *key, int64_t value);
  void (*put_double)(void *context, const char *key, double value);
  void (*put_string)(void *context, const char *key, const char *value);
  void (*put_bool)(void *context, const char *key, bool value);
} emitter_back_end;

typedef struct emitter {
  const emitter_back_end *to;
  void *context;
} emitter;

static inline void emit_begin_map(const emitter *e, const char *key)
{
  e->to->begin_map(e->context, key);
}

static inline void emit_end_map(const emitter *e)
{
  e->to->end_map(e->context);
}

static inline void emit_begin_vector(const emitter *e, const char *key)
{
  e->to->begin_vector(e->context, key);
}

static inline void emit_end_vector(const emitter *e)
{
  e->to->end_vector(e->context);
}

static inline void emit_int(const emitter *e, const char *key, int64_t value)
{
  e->to->put_int(e->context, key, value);
}

static inline void emit_double(const emitter *e, const char *key, double value)
{
  e->to->put_double(e->context, key, value);
}

static inline void emit_string(const emitter *e, const char *key, const char *value)
{
  e->to->put_string(e->context, key, value);
}

static inline void emit_bool(const emitter *e, const char *key, bool value)
{
  e->to->put_bool(e->context, key, value);
}

/* Writes a profile, or a part of one, to an emitter: exactly one value. */
typedef void emit_function(const emitter *to, const void *what);

/* emit_stream.c: writes what `emit` says of `what` to the stream, in the format. SYSTEM if it
 * cannot be written. */
POP_MUST_CHECK pop_error *emit_to_stream(emit_function *emit, const void *what,
                                         pop_profile_format format, FILE *stream);
/* value_build.c: the same as values, which the caller frees. */
pop_profile *emit_to_values(emit_function *emit, const void *what);

/* emit_cbor.c */
emitter cbor_emitter(FILE *stream);

#endif
