/* Reports a vertex whose code and data fit no tile when it is compiled, not when a graph
 * uses it. */
#include "popc_internal.h"

#include <populus/target.h>

#include <string.h>

static uint64_t bytes_of(const pop_live_sections *live)
{
  uint64_t bytes = 0;
  for (int group = 0; group < POP_LINK_GROUP_COUNT; ++group)
    bytes += pop_live_sections_group_bytes(live, (pop_link_group)group);
  return bytes;
}

/* UINT32_MAX if the target has a user's own name, whose memory is unknown. */
static uint32_t tile_memory(const popc_origin *origin)
{
  const popc_settings *settings = origin->settings;
  const char *architecture = origin->target;
  for (size_t i = 0; i < settings->num_variants; ++i)
    if (!strcmp(settings->variants[i].name, origin->target))
      architecture = settings->variants[i].architecture;
  pop_target target;
  pop_error *error = pop_target_create(architecture, 1, &target);
  pop_error_free(error);
  return error ? UINT32_MAX : target.memory_bytes;
}

static pop_error *check_vertex(const pop_link_set *set, const pop_vertex_type *type,
                               const char *target, uint32_t memory)
{
  const char *symbol = type->symbol;
  pop_live_sections *live;
  POP_TRY(pop_live_sections_create(set, &symbol, NULL, 1, &live));
  uint64_t bytes = bytes_of(live);
  uint32_t code = pop_live_sections_group_bytes(live, POP_LINK_CODE);
  pop_live_sections_free(live);
  if (bytes <= memory) return NULL;
  return pop_error_new(POP_ERROR_CODELET_COMPILE,
                       "%s: vertex '%s' needs %llu bytes of tile memory (%u of code), and a tile "
                       "of %s has %u",
                       type->source, type->name, (unsigned long long)bytes, code, target, memory);
}

pop_error *popc_check_vertex_sizes(const pop_link_set *set, const pop_gp *gp,
                                   const pop_live_sections *all, const popc_origin *origin)
{
  uint32_t memory = tile_memory(origin);
  if (bytes_of(all) <= memory) return NULL; /* so none of them alone needs more */
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i)
    POP_TRY(check_vertex(set, pop_gp_vertex_type(gp, i), origin->target, memory));
  return NULL;
}
