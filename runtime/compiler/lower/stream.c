/* Turns stream copies into windows of host exchanges. The tensor's elements are in the stream's
 * buffer in row-major order.
 *
 * A copy of more bytes than the stream's splitLimit becomes several exchanges of its own. Adjacent
 * copies are merged into one exchange where that cannot be observed (draft_can_take;
 * <populus/stream.h> has the rules). */
#include "compiler/lower/stream.h"
#include <populus/stream.h>

#include <stdlib.h>

void lower_streams(compilation *c)
{
  const pop_graph *graph = c->graph;
  for (size_t i = 0; i < graph->num_streams; i++) {
    const host_stream *s = &graph->streams[i];
    pop_push(c->streams, c->num_streams, c->streams_capacity,
             (stream_info){.name = pop_arena_strdup(c->arena, s->name),
                           .type = s->type,
                           .to_device = s->to_device,
                           .num_elements = s->num_elements,
                           .split_bytes = s->split_bytes,
                           .depth = s->depth,
                           .mode = s->mode,
                           .replica = s->replica,
                           .num_replicas = s->num_replicas});
  }
}

static pop_error *too_much(const stream_info *s, const char *name, uint32_t ipu)
{
  return pop_error_new(
      POP_ERROR_CONTROL_PROGRAM,
      "stream copy '%s': stream '%s' moves more than %llu MiB from or to IPU %u in one host "
      "exchange: give the stream a splitLimit (pop_stream_set_option), or make it smaller and use "
      "several copies, of slices of the tensor",
      name, s->name, (unsigned long long)(POP_STREAM_COPY_MAX_BYTES >> 20), ipu);
}

/* Appends `part` to the waiting group. If it cannot join, or is to be alone, the group becomes a
 * step first. */
static void hand_over(stream_lowering *s, lowering *l, bool alone, step_list *steps)
{
  if (alone || !draft_can_take(&s->group, l->c, &s->part)) draft_keep(l, &s->group, steps);
  draft_take(&s->group, l->c, &s->part);
  if (alone) draft_keep(l, &s->group, steps);
}

static void start_part(stream_lowering *s, const compilation *c, const char *name, uint32_t stream,
                       uint64_t begin, uint64_t bytes)
{
  draft_start(&s->part, c);
  s->part.name = name;
  draft_add_window(&s->part,
                   &(host_window){.object = stream, .begin = begin, .bytes = bytes, .records = 1});
}

pop_error *lower_stream_copy(stream_lowering *s, lowering *l, const program *copied,
                             step_list *steps)
{
  compilation *c = l->c;
  stream_info *info = &c->streams[copied->stream];
  const char *name = *copied->name ? pop_arena_strdup(c->arena, copied->name) : info->name;
  uint64_t total = info->num_elements * pop_type_bytes(info->type), at = 0;
  uint64_t most = info->split_bytes && info->split_bytes < total ? info->split_bytes : total;
  segment_walk walk;
  segment row = {0};
  if (!s->group.last_of_tile) draft_start(&s->group, c);
  segment_walk_start(&walk, c, copied->source);
  for (uint64_t begin = 0; begin < total; begin += most) {
    uint64_t end = begin + most < total ? begin + most : total;
    start_part(s, c, name, copied->stream, begin, end - begin);
    while (at < end) {
      if (row.bytes == 0) segment_walk_next(&walk, &row);
      segment now = row;
      if (now.bytes > end - at) now.bytes = (uint32_t)(end - at);
      if (!draft_has_room(&s->part, c, &now) || at - begin + now.bytes > UINT32_MAX)
        return too_much(info, name, now.tile / c->target.tiles_per_ipu);
      draft_add_row(&s->part, c, &now, (uint32_t)(at - begin), (place){COMPILER_NONE, 0},
                    info->to_device);
      at += now.bytes;
      row.bytes -= now.bytes;
      row.at.offset += now.bytes;
    }
    hand_over(s, l, most < total, steps);
  }
  info->is_used = true;
  return NULL;
}

void lower_stream_end(stream_lowering *s, lowering *l, step_list *steps)
{
  draft_keep(l, &s->group, steps);
}

void stream_lowering_free(stream_lowering *s)
{
  draft_free(&s->group);
  draft_free(&s->part);
}
