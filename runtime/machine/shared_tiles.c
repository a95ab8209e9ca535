/* What ranks of one host have of each other's tile memory (shared_tiles.h). */
#include "shared_tiles.h"

#include "base/log.h"
#include "state.h"
#include <fcntl.h>
#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct token {
  uint8_t bytes[16];
} token;

/* Of a machine, as its rank tells the others. */
typedef struct offer {
  int32_t pid, file; /* -1: it is not shared */
  uint64_t bytes, stride;
  token behind; /* them */
} offer;

/* By replica of the graph; NULL: not mapped. */
typedef struct mapping {
  uint8_t *tiles;
  uint64_t bytes, stride;
} mapping;

typedef struct shared_tiles {
  mapping *mappings;
  uint32_t num_mappings;
  uint8_t *reads, *read_by; /* by rank */
} shared_tiles;

/* ---- one's own ---- */

/* A file that is larger than the user allows would end the process. */
static bool may_have(size_t bytes)
{
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > bytes + sizeof(token));
}

int shared_tiles_new(size_t bytes)
{
  token behind;
  int file = may_have(bytes) ? memfd_create("populus-tiles", MFD_CLOEXEC) : -1;
  if (file < 0) return -1;
  if (getrandom(&behind, sizeof behind, 0) == (ssize_t)sizeof behind &&
      ftruncate(file, (off_t)(bytes + sizeof behind)) == 0 &&
      pwrite(file, &behind, sizeof behind, (off_t)bytes) == (ssize_t)sizeof behind)
    return file;
  close(file);
  return -1;
}

void shared_tiles_clear(int file, size_t bytes)
{
  (void)!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
}

/* ---- those of others ---- */

static bool has_token(int file, const offer *o)
{
  token found;
  return pread(file, &found, sizeof found, (off_t)o->bytes) == (ssize_t)sizeof found &&
         memcmp(&found, &o->behind, sizeof found) == 0;
}

static bool map_offer(const offer *o, mapping *to)
{
  char path[64];
  if (o->file < 0) return false;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", o->pid, o->file);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  void *memory = has_token(file, o)
                     ? mmap(NULL, o->bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0)
                     : MAP_FAILED;
  close(file);
  if (memory == MAP_FAILED) return false;
  *to = (mapping){memory, o->bytes, o->stride};
  return true;
}

static void unmap(mapping *m)
{
  if (m->tiles) munmap(m->tiles, m->bytes);
  *m = (mapping){0};
}

static offer make_offer(const machine *m)
{
  offer o = {.pid = (int32_t)getpid(), .file = m->shared_file};
  if (m->shared_file < 0) return o;
  o.bytes = m->shared_bytes;
  o.stride = m->shared_bytes / m->num_tiles;
  if (pread(m->shared_file, &o.behind, sizeof o.behind, (off_t)o.bytes) != (ssize_t)sizeof o.behind)
    o.file = -1;
  return o;
}

/* All replicas of a rank, or none. */
static bool map_rank(shared_tiles *s, const offer *offers, uint32_t first, uint32_t count)
{
  uint32_t i = 0;
  while (i < count && map_offer(&offers[first + i], &s->mappings[first + i])) i++;
  if (i == count) return true;
  while (i-- > 0) unmap(&s->mappings[first + i]);
  return false;
}

static pop_error *take_offers(const machine_group *group, shared_tiles *s)
{
  offer *mine = pop_xcalloc(group->num_own, sizeof *mine),
        *all = pop_xcalloc(group->total, sizeof *all);
  for (uint32_t i = 0; i < group->num_own; i++) mine[i] = make_offer(group->own[i]);
  pop_error *error = ranks_gather(group->ranks, "memory that is shared", NULL, mine,
                                  group->num_own * sizeof *mine, all);
  for (uint32_t i = 0; i < ranks_count(group->ranks) && !error; i++)
    s->reads[i] =
        i != ranks_own(group->ranks) && map_rank(s, all, i * group->num_own, group->num_own);
  free(mine);
  free(all);
  return error;
}

static pop_error *tell_others(const machine_group *group, shared_tiles *s)
{
  uint32_t count = ranks_count(group->ranks), own = ranks_own(group->ranks);
  uint8_t *all = pop_xcalloc((size_t)count * count, 1);
  pop_error *error =
      ranks_gather(group->ranks, "memory that is shared, seen", NULL, s->reads, count, all);
  for (uint32_t i = 0; i < count; i++) s->read_by[i] = all[(size_t)i * count + own];
  free(all);
  return error;
}

pop_error *machine_share(const machine_group *group)
{
  machine *keeper = group->own[0];
  uint32_t count = ranks_count(group->ranks);
  if (count == 1 || keeper->shared_tiles) return NULL;
  shared_tiles *s = keeper->shared_tiles = pop_xcalloc(1, sizeof *s);
  *s = (shared_tiles){.mappings = pop_xcalloc(group->total, sizeof *s->mappings),
                      .num_mappings = group->total,
                      .reads = pop_xcalloc(count, 1),
                      .read_by = pop_xcalloc(count, 1)};
  POP_TRY(take_offers(group, s));
  uint32_t read = 0;
  for (uint32_t i = 0; i < count; i++) read += s->reads[i];
  log_write(LOG_INFO, "ENGINE", "Tiles of %u other instances are read where they are", read);
  return tell_others(group, s);
}

bool shared_tiles_reads(const machine_group *group, uint32_t rank)
{
  const shared_tiles *s = group->own[0]->shared_tiles;
  return s && s->reads[rank];
}

bool shared_tiles_are_read_by(const machine_group *group, uint32_t rank)
{
  const shared_tiles *s = group->own[0]->shared_tiles;
  return s && s->read_by[rank];
}

uint8_t *shared_tiles_find(const machine_group *group, uint32_t replica, uint32_t tile)
{
  const mapping *m = &group->own[0]->shared_tiles->mappings[replica];
  return m->tiles + tile * m->stride;
}

void shared_tiles_forget(machine *m)
{
  shared_tiles *s = m->shared_tiles;
  if (!s) return;
  for (uint32_t i = 0; i < s->num_mappings; i++) unmap(&s->mappings[i]);
  free(s->mappings);
  free(s->reads);
  free(s->read_by);
  free(s);
  m->shared_tiles = NULL;
}
