/* Copies between replicas on the CPU. All sources are read before anything is written, because a
 * tensor may be both source and destination. Then the bytes go to the ranks of the receiving
 * replicas, in the order of the sending ones. */
#include "cpu/cpu_private.h"

#include <stdlib.h>

/* Do all replicas of this process wait at the same copy? */
static pop_error *check_together(const cpu_group *group)
{
  for (uint32_t i = 1; i < group->num_own; i++)
    if (group->own[i]->waiting != group->own[0]->waiting)
      return pop_error_new(POP_ERROR_RUNTIME,
                           "replicas have gone different ways: replicas %u and %u have come to "
                           "different copies between replicas",
                           group->first, group->first + i);
  return NULL;
}

static bool is_own(const cpu_group *group, uint32_t replica)
{
  return replica / group->num_own == ranks_own(group->ranks);
}

/* The bytes that this process's replicas send, by rank; to be freed. */
static ranks_part *gather_all(const cpu_group *group, const cpu_view *from, const uint32_t *map)
{
  ranks_part *sent = pop_xcalloc(ranks_count(group->ranks), sizeof *sent);
  for (uint32_t i = 0; i < group->num_own; i++) {
    uint32_t to = map[group->first + i];
    if (to == CPU_NONE) continue;
    ranks_part *part = &sent[to / group->num_own];
    part->data = pop_xrealloc(part->data, part->bytes + from->bytes + 1, 1);
    cpu_gather(group->own[i]->program, from, group->own[i]->memory, part->data + part->bytes);
    part->bytes += from->bytes;
  }
  return sent;
}

/* Each rank's bytes are in the order of its sending replicas. */
static void scatter_all(const cpu_group *group, const cpu_view *to, const uint32_t *map,
                        const ranks_part *received)
{
  for (uint32_t rank = 0; rank < ranks_count(group->ranks); rank++) {
    const uint8_t *at = received[rank].data;
    for (uint32_t i = rank * group->num_own; i < (rank + 1) * group->num_own; i++) {
      if (map[i] == CPU_NONE || !is_own(group, map[i])) continue;
      cpu *c = group->own[map[i] - group->first];
      cpu_scatter(c->program, to, c->memory, at);
      at += to->bytes;
    }
  }
}

static void free_parts(ranks_part *parts, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) free(parts[i].data);
  free(parts);
}

pop_error *cpu_sync_replicas(const cpu_group *group)
{
  const cpu_program *p = group->own[0]->program;
  const cpu_step *step = &p->steps[group->own[0]->waiting];
  const uint32_t *map = p->values + step->first_value;
  uint32_t count = ranks_count(group->ranks);
  char place[64];
  snprintf(place, sizeof place, "copy %u between replicas", group->own[0]->waiting);
  ranks_part *sent = gather_all(group, &p->views[step->index], map);
  ranks_part *received = pop_xcalloc(count, sizeof *received);
  pop_error *error = ranks_exchange(group->ranks, place, check_together(group), sent, received);
  if (!error) scatter_all(group, &p->views[step->other], map, received);
  free_parts(sent, count);
  free_parts(received, count);
  return error;
}
