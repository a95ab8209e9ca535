/* Tile memory and its protection. There is one reservation of address space for all tiles; only
 * pages that hold something take memory. Nothing lies around the tiles that a stray access could
 * harm (guard.h).
 *
 * Most accesses of a context lie in the largest readable run of segments, in the largest writable
 * one, or in its own stack. The interpreter tests these three windows itself. All other accesses
 * come to memory_access, which knows all rules. A worker's writable window leaves out every stack,
 * so that no store into another context's stack passes unchecked. */
#include "control.h"
#include "copies.h"
#include "float_control.h"

#include <assert.h>
#include <errno.h>
#include <populus/arena.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* How tiles lie in the reservation. Native code reaches 2^32 bytes from where tile address 0 would
 * be.
 *
 *   APART   a gap between every two tiles; only tiles and gaps in reach
 *   BESIDE  tile after tile; only tiles in reach
 *   BARE    nothing reserved around them: if a limit of address space allows no more
 *
 * A tile that lies apart takes two entries of the kernel's table of mappings, of which a process
 * has 65,530. Gaps of 2^32 bytes would leave no other tile in reach. They were tried: exchanges
 * took 10 % longer, because each tile then has lines of the page tables' upper levels to itself.
 * With 1 MiB no difference was found (tests/bench/supersteps.c). */
typedef enum layout { APART, BESIDE, BARE, NUM_LAYOUTS } layout;
enum { MAX_TILES_APART = 8192 };
static const size_t gap = (size_t)1 << 20, reach = (size_t)1 << 32;

static bool make_accessible(machine *m, layout how, size_t tile_bytes)
{
  if (how != APART)
    return !mprotect(m->tiles[0].memory, m->num_tiles * tile_bytes, PROT_READ | PROT_WRITE);
  for (uint32_t i = 0; i < m->num_tiles; i++)
    if (mprotect(m->tiles[i].memory, tile_bytes, PROT_READ | PROT_WRITE)) return false;
  return true;
}

static bool reserve(machine *m, layout how)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t tile_bytes = (m->target.memory_bytes + page - 1) / page * page;
  size_t stride = tile_bytes + (how == APART ? gap : 0), around = how == BARE ? 0 : reach, bytes;
  if (__builtin_mul_overflow(m->num_tiles, stride, &bytes) ||
      __builtin_add_overflow(bytes, 2 * around, &bytes))
    return false;
  void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  m->memory = memory;
  m->reserved_bytes = bytes;
  for (uint32_t i = 0; i < m->num_tiles; i++) m->tiles[i].memory = m->memory + around + i * stride;
  if (make_accessible(m, how, tile_bytes)) return true;
  int reason = errno;
  memory_release(m);
  errno = reason;
  return false;
}

pop_error *memory_reserve(machine *m)
{
  layout how = m->num_tiles <= MAX_TILES_APART ? APART : BESIDE;
  for (; how < NUM_LAYOUTS; how++)
    if (reserve(m, how)) return NULL;
  return pop_error_new(POP_ERROR_MEMORY,
                       "cannot reserve address space for the memory of %u tiles of %u bytes: %s",
                       m->num_tiles, m->target.memory_bytes, strerror(errno));
}

bool memory_is_reserved(const machine *m, const void *place)
{
  return (uintptr_t)place - (uintptr_t)m->memory < m->reserved_bytes;
}

void memory_clear(machine *m)
{
  madvise(m->memory, m->reserved_bytes, MADV_DONTNEED);
}

void memory_release(machine *m)
{
  if (m->memory) munmap(m->memory, m->reserved_bytes);
  m->memory = NULL;
}

void memory_unload(tile *t)
{
  free(t->segments);
  free(t->pages);
  free(t->controlled_pages);
  free(t->events);
  free(t->states);
  estimate_forget(t);
  translate_forget_tile(t);
  *t = (tile){.number = t->number, .memory = t->memory};
}

/* Segment and window arithmetic */

static uint32_t segment_end(const pop_image_segment *s)
{
  return s->start + s->size;
}

bool memory_contains(const tile *t, uint32_t address, uint32_t bytes, bool writable,
                     bool executable)
{
  for (size_t i = 0; i < t->num_segments; i++) {
    const pop_image_segment *s = &t->segments[i];
    if (address - s->start >= s->size) continue;
    if ((writable && !s->writable) || (executable && !s->executable)) return false;
    uint32_t inside = segment_end(s) - address;
    if (inside >= bytes) return true;
    address += inside; /* the rest must be in the next segment */
    bytes -= inside;
  }
  return false;
}

bool memory_may_load(const machine *m, const tile *t, uint32_t address, uint32_t bytes)
{
  uint32_t offset = address - m->target.memory_base, size = m->target.memory_bytes;
  if (!m->options.lenient_loads) return memory_contains(t, address, bytes, false, false);
  return offset < size && bytes <= size - offset;
}

static uint8_t *host_address(const machine *m, const tile *t, uint32_t address)
{
  assert(address - m->target.memory_base <= m->target.memory_bytes); /* callers have checked it */
  return t->memory + (address - m->target.memory_base);
}

uint32_t memory_word(const machine *m, const tile *t, uint32_t address)
{
  uint32_t word = 0;
  if (memory_contains(t, address, 4, false, false))
    memcpy(&word, host_address(m, t, address), sizeof word);
  return word;
}

/* The larger of `best` and the window of the whole words in [start, end). */
static window larger_window(const machine *m, const tile *t, window best, uint32_t start,
                            uint32_t end)
{
  uint32_t first = (start + 3) & ~3u, last = end & ~3u;
  if (last <= first || last - first <= best.size) return best;
  return (window){.start = first, .size = last - first, .host = host_address(m, t, first)};
}

static window readable_window(const machine *m, const tile *t)
{
  window best = {0};
  uint32_t base = m->target.memory_base;
  if (m->options.lenient_loads)
    return larger_window(m, t, best, base, base + m->target.memory_bytes);
  for (size_t i = 0, j; i < t->num_segments; i = j) {
    for (j = i + 1; j < t->num_segments; j++)
      if (segment_end(&t->segments[j - 1]) != t->segments[j].start) break;
    best = larger_window(m, t, best, t->segments[i].start, segment_end(&t->segments[j - 1]));
  }
  return best;
}

/* The largest of `best` and the pieces of [start, end) between the stacks. */
static window window_between_stacks(const machine *m, const tile *t, window best, uint32_t start,
                                    uint32_t end)
{
  while (start < end) {
    uint32_t stop = end, next = end;
    for (unsigned i = 0; i < NUM_CONTEXTS; i++) { /* the first stack that ends behind `start` */
      const window *s = &t->stacks[i];
      if (s->size && s->start + s->size > start && s->start < stop) {
        stop = s->start > start ? s->start : start;
        next = s->start + s->size;
      }
    }
    best = larger_window(m, t, best, start, stop);
    start = next;
  }
  return best;
}

/* Accesses inside the writable window rely on this: it lies in writable segments, and touches no
 * stack. */
static bool is_all_data(const tile *t, const window *w)
{
  for (size_t i = 0; i < NUM_CONTEXTS; i++)
    if (t->stacks[i].size && w->start < t->stacks[i].start + t->stacks[i].size &&
        t->stacks[i].start < w->start + w->size)
      return false;
  return memory_contains(t, w->start, w->size, true, false);
}

static void find_windows(const machine *m, tile *t)
{
  t->readable = readable_window(m, t);
  t->writable = (window){0};
  for (size_t i = 0; i < t->num_segments; i++)
    if (t->segments[i].writable && !t->segments[i].states)
      t->writable = window_between_stacks(m, t, t->writable, t->segments[i].start,
                                          segment_end(&t->segments[i]));
  assert(!t->writable.size || is_all_data(t, &t->writable));
}

/* Loading */

static void find_stacks(const machine *m, tile *t, const tile_stack *stacks)
{
  for (unsigned i = 0; stacks && i < NUM_CONTEXTS; i++) {
    const tile_stack *s = &stacks[i];
    if (s->size && memory_contains(t, s->start, s->size, true, false))
      t->stacks[i] = larger_window(m, t, (window){0}, s->start, s->start + s->size);
  }
}

static pop_error *check_segments(const pop_image *image)
{
  uint32_t free_from = image->base;
  for (size_t i = 0; i < image->num_segments; i++) {
    const pop_image_segment *s = &image->segments[i];
    uint64_t end = (uint64_t)s->start + s->size;
    if (s->start < free_from || end > (uint64_t)image->base + image->size)
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "tile %u: segment %zu (0x%x, %u bytes) overlaps the one before or lies "
                           "outside the image (0x%x, %u bytes)",
                           image->tile, i, s->start, s->size, image->base, image->size);
    if (s->executable && (s->start % 4 || s->writable))
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "tile %u: executable segment %zu at 0x%x must start at a multiple of 4 "
                           "and must not be writable",
                           image->tile, i, s->start);
    free_from = (uint32_t)end;
  }
  return NULL;
}

static pop_error *check_image(const machine *m, const pop_image *image)
{
  const pop_target *target = &m->target;
  if (image->tile >= m->num_tiles)
    return pop_error_new(POP_ERROR_FILE_LOAD, "image of tile %u: target %s has tiles 0 to %u only",
                         image->tile, target->name, m->num_tiles - 1);
  if (m->tiles[image->tile].loaded)
    return pop_error_new(POP_ERROR_FILE_LOAD, "tile %u is loaded twice", image->tile);
  if (image->base != target->memory_base)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "tile %u: the image starts at 0x%x, but the tile memory of target %s at "
                         "0x%x: it was made for another target",
                         image->tile, image->base, target->name, target->memory_base);
  if (image->size > target->memory_bytes)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "tile %u: the image has %u bytes, %u bytes more than the tile has (%u)",
                         image->tile, image->size, image->size - target->memory_bytes,
                         target->memory_bytes);
  return check_segments(image);
}

/* Does not touch pages that stay zero: they cost no memory. */
static void copy_nonzero(uint8_t *to, const uint8_t *from, size_t size)
{
  enum { CHUNK = 4096 };
  static const uint8_t zeros[CHUNK];
  for (size_t at = 0; at < size; at += CHUNK) {
    size_t bytes = size - at < CHUNK ? size - at : CHUNK;
    if (memcmp(from + at, zeros, bytes)) memcpy(to + at, from + at, bytes);
  }
}

static void find_code(tile *t)
{
  uint32_t start = UINT32_MAX, end = 0;
  for (size_t i = 0; i < t->num_segments; i++) {
    const pop_image_segment *s = &t->segments[i];
    if (!s->executable || !s->size) continue;
    if (s->start < start) start = s->start;
    end = segment_end(s);
  }
  if (end <= start) return;
  t->code_start = start / PAGE_BYTES * PAGE_BYTES;
  t->code_bytes = (end - t->code_start + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  t->pages = pop_xcalloc(t->code_bytes / PAGE_BYTES, sizeof *t->pages);
}

pop_error *machine_load(machine *m, const pop_image *image, const tile_stack *stacks)
{
  POP_TRY(check_image(m, image));
  tile *t = &m->tiles[image->tile];
  t->segments = pop_xcalloc(image->num_segments + 1, sizeof *t->segments);
  t->num_segments = image->num_segments;
  if (image->num_segments)
    memcpy(t->segments, image->segments, image->num_segments * sizeof *t->segments);
  if (image->entry % 4 || !memory_contains(t, image->entry, 4, false, true)) {
    free(t->segments);
    t->segments = NULL;
    t->num_segments = 0;
    return pop_error_new(POP_ERROR_FILE_LOAD, "tile %u: the entry 0x%x is not in executable code",
                         image->tile, image->entry);
  }
  copy_nonzero(t->memory, image->bytes, image->size);
  t->loaded = true;
  t->loaded_bytes = image->size;
  m->num_loaded++;
  find_stacks(m, t, stacks);
  find_windows(m, t);
  find_code(t);
  float_control_start(m, t);
  superstep_start_supervisor(m, t, image->entry);
  return NULL;
}

pop_error *machine_set_states(machine *m, uint32_t tile, const uint32_t *starts, size_t count)
{
  if (tile >= m->num_tiles)
    return pop_error_new(POP_ERROR_INDEX, "states of tile %u: the target has tiles 0 to %u", tile,
                         m->num_tiles - 1);
  for (size_t i = 1; i < count; i++)
    if (starts[i] < starts[i - 1])
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "states of tile %u: 0x%x comes before 0x%x: they must be ascending",
                           tile, starts[i - 1], starts[i]);
  struct tile *t = &m->tiles[tile];
  free(t->states);
  t->states = pop_xcalloc(count + 1, sizeof *t->states);
  t->num_states = count;
  if (count) memcpy(t->states, starts, count * sizeof *starts);
  return NULL;
}

/* Code pages */

/* The key of a page: its words that are code. Executable segments start at a multiple of 4
 * (check_segments), so no word is in two of them. */
static code_key page_key(const machine *m, const tile *t, uint32_t address)
{
  code_key key = {.address = address};
  for (size_t i = 0; i < t->num_segments; i++) {
    const pop_image_segment *s = &t->segments[i];
    uint32_t first = s->start > address ? (s->start - address) / 4 : 0;
    uint32_t bytes = segment_end(s) > address ? segment_end(s) - address : 0;
    uint32_t end = bytes / 4 < PAGE_WORDS ? bytes / 4 : PAGE_WORDS;
    if (!s->executable || first >= end) continue;
    for (uint32_t word = first; word < end; word++) key.executable[word / 32] |= 1u << word % 32;
    memcpy(&key.words[first], host_address(m, t, address + 4 * first), 4 * (end - first));
  }
  return key;
}

const code_page *memory_code_page(machine *m, tile *t, uint32_t pc, bool controlled)
{
  uint32_t offset = pc - t->code_start;
  if (pc % 4 || offset >= t->code_bytes) return NULL;
  if (controlled && !t->controlled_pages)
    t->controlled_pages = pop_xcalloc(t->code_bytes / PAGE_BYTES, sizeof(code_page *));
  const code_page **page = &(controlled ? t->controlled_pages : t->pages)[offset / PAGE_BYTES];
  if (!*page) {
    code_key key = page_key(m, t, t->code_start + offset / PAGE_BYTES * PAGE_BYTES);
    key.controlled = controlled;
    pthread_mutex_lock(&m->code_lock);
    *page = code_cache_get(&m->code, &key);
    pthread_mutex_unlock(&m->code_lock);
  }
  return *page;
}

/* Faults */

static uint8_t *refuse(context *c, machine_fault_kind kind, uint32_t address)
{
  c->fault.kind = kind;
  c->fault.address = address;
  return NULL;
}

static uint8_t *refuse_stack(const tile *t, context *c, uint32_t address)
{
  const window *own = &t->stacks[c->number];
  if (own->size && address < own->start)
    snprintf(c->fault.detail, sizeof c->fault.detail,
             "the stack has %u bytes from 0x%x; this store needs %u or more", own->size, own->start,
             own->start + own->size - address);
  else
    snprintf(c->fault.detail, sizeof c->fault.detail, "store into the stack of another context");
  return refuse(c, MACHINE_FAULT_STACK_OVERFLOW, address);
}

static bool in_window(const window *w, uint32_t address)
{
  return address - w->start < w->size;
}

/* Is the store below the own stack, and either relative to sp or in a frame that sp has already
 * been moved over? */
static bool overflows_stack(const machine *m, const tile *t, const context *c, uint32_t address,
                            bool by_sp)
{
  const window *own = &t->stacks[c->number];
  uint32_t sp = c->x[2];
  bool below = own->size && address < own->start;
  bool in_frame = sp >= m->target.memory_base && sp < own->start && address >= sp;
  return below && (by_sp || in_frame);
}

static bool in_stack_of_another(const tile *t, const context *c, uint32_t address)
{
  if (c->number == MACHINE_SUPERVISOR) return false;
  for (unsigned i = 0; i < NUM_CONTEXTS; i++)
    if (i != c->number && in_window(&t->stacks[i], address)) return true;
  return false;
}

static const pop_image_segment *segment_at(const tile *t, uint32_t address)
{
  for (size_t i = 0; i < t->num_segments; i++)
    if (address - t->segments[i].start < t->segments[i].size) return &t->segments[i];
  return NULL;
}

bool memory_is_plain(const tile *t, uint32_t address, uint32_t bytes)
{
  const pop_image_segment *s = segment_at(t, address);
  if (!s || !s->writable || s->states || s->size - (address - s->start) < bytes) return false;
  for (unsigned i = 0; i < NUM_CONTEXTS; i++)
    if (address < t->stacks[i].start + t->stacks[i].size && address + bytes > t->stacks[i].start)
      return false;
  return true;
}

/* Start of the first state behind `state`, at most `end`. */
static uint32_t next_state(const tile *t, uint32_t state, uint32_t end)
{
  size_t low = 0, high = t->num_states;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (t->states[middle] <= state)
      low = middle + 1;
    else
      high = middle;
  }
  return low < t->num_states && t->states[low] < end ? t->states[low] : end;
}

/* Does the address lie in the state of another vertex? A worker may work for a vertex of the
 * supervisor, which has started it with another vertex_state (populus/workers.h). */
static bool in_state_of_another(const tile *t, const context *c, uint32_t address)
{
  const pop_image_segment *s = segment_at(t, address);
  if (!s || !s->states) return false;
  uint32_t own = c->vertex_state;
  if (own - s->start >= s->size) own = t->supervisor.vertex_state;
  return own - s->start >= s->size || address < own ||
         address >= next_state(t, own, segment_end(s));
}

window memory_own_state(const machine *m, const tile *t, const context *c)
{
  uint32_t own = c->vertex_state;
  const pop_image_segment *s = segment_at(t, own);
  if (!s || !s->states || !s->writable) s = segment_at(t, own = t->supervisor.vertex_state);
  if (!s || !s->states || !s->writable || own < t->stacks[c->number].start) return (window){0};
  window state = larger_window(m, t, (window){0}, own, next_state(t, own, segment_end(s)));
  return state.size && is_all_data(t, &state) ? state : (window){0};
}

window memory_data_around(const machine *m, const tile *t, const context *c, uint32_t address)
{
  const pop_image_segment *s = segment_at(t, address);
  if (!s || !s->writable || s->states) return (window){0};
  uint32_t start = s->start, end = segment_end(s);
  for (unsigned i = 0; i < NUM_CONTEXTS; i++) {
    const window *stack = &t->stacks[i];
    if (in_window(stack, address)) return (window){0};
    if (stack->size && stack->start > address && stack->start < end) end = stack->start;
    if (stack->size && stack->start <= address && stack->start + stack->size > start)
      start = stack->start + stack->size;
  }
  window data = larger_window(m, t, (window){0}, start, end);
  bool below = start < t->stacks[c->number].start; /* then it depends on sp */
  return below || !data.size || !is_all_data(t, &data) ? (window){0} : data;
}

bool memory_has_data_apart(const tile *t)
{
  uint64_t bytes = 0, stacks = 0;
  for (size_t i = 0; i < t->num_segments; i++)
    if (t->segments[i].writable && !t->segments[i].states) bytes += t->segments[i].size;
  for (unsigned i = 0; i < NUM_CONTEXTS; i++) stacks += t->stacks[i].size; /* in such segments */
  return bytes >= stacks + t->writable.size + 4;
}

static uint8_t *refuse_state(context *c, uint32_t address)
{
  snprintf(c->fault.detail, sizeof c->fault.detail, "store into the state of another vertex");
  return refuse(c, MACHINE_FAULT_INVALID_ADDRESS, address);
}

uint8_t *memory_access(machine *m, const tile *t, context *c, uint32_t address, uint32_t bytes,
                       bool store, bool by_sp)
{
  if (address & (bytes - 1)) return refuse(c, MACHINE_FAULT_MISALIGNED, address);
  if (store && (overflows_stack(m, t, c, address, by_sp) || in_stack_of_another(t, c, address)))
    return refuse_stack(t, c, address);
  if (store && in_state_of_another(t, c, address)) return refuse_state(c, address);
  if (store ? !memory_contains(t, address, bytes, true, false)
            : !memory_may_load(m, t, address, bytes))
    return refuse(c, MACHINE_FAULT_INVALID_ADDRESS, address);
  return host_address(m, t, address);
}

/* The host's view */

static pop_error *check_host_access(const machine *m, uint32_t tile, uint32_t address,
                                    uint32_t size, const char *what)
{
  const pop_target *target = &m->target;
  if (tile >= m->num_tiles)
    return pop_error_new(POP_ERROR_INDEX, "%s tile %u: the target has tiles 0 to %u", what, tile,
                         m->num_tiles - 1);
  uint32_t offset = address - target->memory_base;
  if (address < target->memory_base || offset > target->memory_bytes ||
      size > target->memory_bytes - offset)
    return pop_error_new(POP_ERROR_INDEX,
                         "%s %u bytes at 0x%x of tile %u: its memory is 0x%x to 0x%x", what, size,
                         address, tile, target->memory_base, pop_target_memory_end(target));
  return NULL;
}

pop_error *machine_read(const machine *m, uint32_t tile, uint32_t address, void *bytes,
                        uint32_t size)
{
  POP_TRY(check_host_access(m, tile, address, size, "reading"));
  if (size) memcpy(bytes, host_address(m, &m->tiles[tile], address), size);
  return NULL;
}

/* The host has changed the range. If it has code, everything that follows from the code is
 * forgotten. */
static void forget_code(machine *m, struct tile *t, uint32_t address, uint32_t size)
{
  if (t->pages && address < t->code_start + t->code_bytes && address + size > t->code_start) {
    memset(t->pages, 0, t->code_bytes / PAGE_BYTES * sizeof *t->pages);
    if (t->controlled_pages)
      memset(t->controlled_pages, 0, t->code_bytes / PAGE_BYTES * sizeof *t->pages);
    translate_forget_tile(t);
    exchange_forget(m);
    host_exchange_forget(m);
    control_write_back(m);
  }
}

pop_error *machine_write(machine *m, uint32_t tile, uint32_t address, const void *bytes,
                         uint32_t size)
{
  POP_TRY(check_host_access(m, tile, address, size, "writing"));
  if (!size) return NULL;
  struct tile *t = &m->tiles[tile];
  memcpy(host_address(m, t, address), bytes, size);
  forget_code(m, t, address, size);
  return NULL;
}

/* Lists copies of the ranges to the host, or from it. */
static pop_error *list_ranges(const machine *m, const memory_range *ranges, size_t count,
                              uint8_t *to_host, const uint8_t *from_host, copy_list *copies)
{
  size_t done = 0;
  for (size_t i = 0; i < count; i++) {
    const memory_range *r = &ranges[i];
    POP_TRY(check_host_access(m, r->tile, r->address, r->bytes, to_host ? "reading" : "writing"));
    uint8_t *on_tile = host_address(m, &m->tiles[r->tile], r->address);
    if (r->bytes)
      copy_list_join(copies, to_host ? to_host + done : on_tile,
                     to_host ? on_tile : from_host + done, r->bytes);
    done += r->bytes;
  }
  copy_list_finish(copies, NULL);
  return NULL;
}

pop_error *machine_read_ranges(const machine *m, const memory_range *ranges, size_t count,
                               void *bytes)
{
  copy_list copies = {0};
  pop_error *error = list_ranges(m, ranges, count, bytes, NULL, &copies);
  if (!error) copy_list_run(&copies, m->pool);
  copy_list_free(&copies);
  return error;
}

pop_error *machine_write_ranges(machine *m, const memory_range *ranges, size_t count,
                                const void *bytes)
{
  copy_list copies = {0};
  pop_error *error = list_ranges(m, ranges, count, NULL, bytes, &copies);
  if (!error) copy_list_run(&copies, m->pool);
  for (size_t i = 0; i < count && !error; i++)
    if (ranges[i].bytes)
      forget_code(m, &m->tiles[ranges[i].tile], ranges[i].address, ranges[i].bytes);
  copy_list_free(&copies);
  return error;
}
