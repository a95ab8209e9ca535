/* The host's side of data streams: their connections and their copies. */
#ifndef ENGINE_STREAMS_H
#define ENGINE_STREAMS_H

#include "executable/executable.h"
#include "machine/machine.h"
#include <populus/engine.h>

typedef struct streams streams;

/* The executable must outlive the streams. */
streams *streams_new(const pop_executable *executable);
void streams_free(streams *s); /* NULL is fine */
/* `s` are the streams of another replica. Their broadcast streams are those of the leader. */
void streams_follow(streams *s, streams *leader);
/* Finds the stream of this name. If the graph has `num_replicas` of them, *number is that of
 * replica 0; the others follow. Errors: STREAM with the nearest name. `call` is for messages. */
POP_MUST_CHECK pop_error *streams_find(const streams *s, const char *call, const char *handle,
                                       size_t *number, uint32_t *num_replicas);
/* A broadcast stream is connected once, for all replicas: an error if the stream is one. */
POP_MUST_CHECK pop_error *streams_check_own(const streams *s, const char *call, size_t number);

/* Of every `of` copies' data in a buffer, copy `number` belongs to this connection; 0 of 1: all. */
typedef struct stream_share {
  uint32_t number, of;
} stream_share;
POP_MUST_CHECK pop_error *streams_connect(streams *s, const char *call, size_t number, void *begin,
                                          void *end, stream_share share);
/* The turn of a callback that several streams (of replicas) share: each copy that it fetches is
 * completed before the next, whichever stream they belong to. Initially NULL; freed with the last
 * stream. */
typedef struct callback_turn callback_turn;
POP_MUST_CHECK pop_error *streams_connect_callback(streams *s, const char *call, size_t number,
                                                   const pop_stream_callback *callback,
                                                   callback_turn **turn);
/* The most seconds that a callback's fetch may take; a longer one is an error of the copy. 0: no
 * limit. */
void streams_limit_callbacks(streams *s, double seconds);
/* The most copies of a stream that may be prefetched; 0: the stream's own depth. */
void streams_limit_lookahead(streams *s, uint32_t copies);
/* How many copies of a stream may be prefetched. */
uint32_t streams_lookahead(const streams *s, size_t number);
/* What streams_begin and streams_end of this stream use. Calls for streams with different ones may
 * be made at the same time. It is what streams_set_user has set since the stream was connected;
 * otherwise the context of the stream's callbacks, which so is used by one thread at a time;
 * otherwise the connection. */
const void *streams_used_by(const streams *s, size_t number);
void streams_set_user(streams *s, size_t number, const void *user);
/* Connected buffers restart at their beginning, and prefetched data are dropped. */
void streams_restart(streams *s);

/* The memory for a window of a host exchange, in which the tiles of a machine wait. It holds the
 * host's data for the device. For a broadcast stream the leader begins; the others use its memory.
 * Errors: RUNTIME. */
POP_MUST_CHECK pop_error *streams_begin(streams *s, const executable_window *window,
                                        uint8_t **memory);
/* The exchange is done, and callbacks are told. `prefetch`: the data of the next copies may be
 * fetched. Of the copies that have begun the oldest ends first. */
POP_MUST_CHECK pop_error *streams_end(streams *s, const executable_window *window, uint8_t *memory,
                                      bool prefetch);

#endif
