/* Checks the limit of host memory for data (option target.maxHostMemory). The need is known before
 * anything is loaded: tile memory up to the last byte used, or the graph's on the CPU; rows of
 * remote buffers; buffers of streams, including prefetched copies. The library's own bookkeeping is
 * not counted. */
#include "engine/engine_private.h"

typedef struct memory_need {
  uint64_t tiles, remote_buffers, streams;
  uint64_t broadcast; /* of streams that all replicas share */
} memory_need;

/* Saturating. */
static void add(uint64_t *sum, uint64_t count, uint64_t bytes)
{
  uint64_t more;
  if (__builtin_mul_overflow(count, bytes, &more) || __builtin_add_overflow(*sum, more, sum))
    *sum = UINT64_MAX;
}

static memory_need need_of_replica(const pop_engine *engine)
{
  const pop_executable *e = engine->executable;
  memory_need need = {0};
  if (engine->on_cpu) need.tiles = cpu_memory_bytes(e->cpu);
  for (uint32_t t = 0; !engine->on_cpu && t < pop_target_num_tiles(&e->target); t++)
    add(&need.tiles, 1, e->memory_rows[e->tiles[t].memory].total_including_gaps);
  for (size_t i = 0; i < e->num_remote_buffers; i++) {
    const executable_remote_buffer *b = &e->remote_buffers[i];
    uint64_t row = 0;
    add(&row, b->num_elements, pop_type_bytes(b->type));
    add(&need.remote_buffers, b->repeats, row);
  }
  for (size_t i = 0; i < e->num_streams; i++) {
    const executable_stream *s = &e->streams[i];
    uint64_t copy = 0, copies = 1;
    if (!s->is_used || (s->broadcast && s->replica > 0)) continue;
    if (engine->prefetch && s->to_device)
      copies += streams_lookahead(engine->replicas[engine->first].streams, i);
    add(&copy, s->num_elements, pop_type_bytes(s->type));
    add(s->broadcast ? &need.broadcast : &need.streams, copies, copy);
  }
  return need;
}

pop_error *engine_check_memory(const pop_engine *engine)
{
  if (!engine->max_host_memory) return NULL;
  memory_need need = need_of_replica(engine);
  uint64_t all = 0;
  add(&all, engine->num_own, need.tiles);
  add(&all, engine->num_own, need.remote_buffers);
  add(&all, engine->num_replicas, need.streams);
  add(&all, 1, need.broadcast);
  add(&need.streams, 1, need.broadcast); /* for the message */
  if (all <= engine->max_host_memory) return NULL;
  return pop_error_new(
      POP_ERROR_MEMORY,
      "the engine needs %llu bytes of the host's memory; option target.maxHostMemory allows %llu. "
      "Of "
      "each of %u replicas, %llu are for %s, %llu for remote buffers, %llu for streams",
      (unsigned long long)all, (unsigned long long)engine->max_host_memory, engine->num_own,
      (unsigned long long)need.tiles, engine->on_cpu ? "the graph on the CPU" : "tile memory",
      (unsigned long long)need.remote_buffers, (unsigned long long)need.streams);
}
