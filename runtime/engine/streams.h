/* The host's side of data streams: what they are connected to, and their copies. */
#ifndef ENGINE_STREAMS_H
#define ENGINE_STREAMS_H

#include "executable/executable.h"
#include "machine/machine.h"
#include <populus/engine.h>

typedef struct streams streams;

/* The executable must outlive the streams. */
streams *streams_new(const pop_executable *executable);
void streams_free(streams *s); /* NULL is fine */
/* `s` are the streams of another replica: those that are broadcast are the leader's. */
void streams_follow(streams *s, streams *leader);
/* The number of the stream of this name; of `num_replicas` in one graph it is replica 0's, the others' come
 * next. Errors: STREAM with the nearest name. `call` is for messages. */
POP_MUST_CHECK pop_error *streams_find(const streams *s, const char *call, const char *handle,
                                       size_t *number, uint32_t *num_replicas);
/* A stream that is broadcast is connected once, for all replicas. */
POP_MUST_CHECK pop_error *streams_check_own(const streams *s, const char *call, size_t number);

/* Of every `of` copies' data in a buffer, that number `number` is this connection's; 0 of 1: all. */
typedef struct stream_share {
  uint32_t number, of;
} stream_share;
POP_MUST_CHECK pop_error *streams_connect(streams *s, const char *call, size_t number, void *begin,
                                          void *end, stream_share share);
/* A callback that several streams (of replicas) are connected to: of what it fetches each copy is completed before the next,
 * whoever's that is. Begins as NULL, and goes with the last of them. */
typedef struct callback_turn callback_turn;
POP_MUST_CHECK pop_error *streams_connect_callback(streams *s, const char *call, size_t number,
                                                   const pop_stream_callback *callback,
                                                   callback_turn **turn);
/* Seconds that a callback's fetch may take before the copy is an error; 0: any number. */
void streams_limit_callbacks(streams *s, double seconds);
/* Copies of a stream that may be prefetched; 0: as many as it says itself. */
void streams_limit_lookahead(streams *s, uint32_t copies);
/* What streams_begin and streams_end work on: calls for different ones may be made at once. It is the context of the
 * stream's callbacks, which is thus used by one thread at a time, or the connection if there is none; or what the stream has
 * been told since it was connected. */
const void *streams_used_by(const streams *s, size_t number);
void streams_set_user(streams *s, size_t number, const void *user);
/* Buffers start at their beginning again, what was prefetched is given up. */
void streams_restart(streams *s);

/* The memory for a window of a host exchange, in which the tiles of a machine wait: what the host has for the
 * device is in it. A stream that is broadcast begins with the leader; the others have its memory. Errors:
 * RUNTIME. */
POP_MUST_CHECK pop_error *streams_begin(streams *s, const executable_window *window,
                                        uint8_t **memory);
/* The exchange is done: callbacks hear of it. With `prefetch`, the next copies' data may be asked for. Of
 * the copies that have begun the oldest ends first. */
POP_MUST_CHECK pop_error *streams_end(streams *s, const executable_window *window, uint8_t *memory,
                                      bool prefetch);

#endif
