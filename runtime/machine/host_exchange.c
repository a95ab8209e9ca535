/* The exchange between tiles and host, in a host sync: what isa.h calls host exchange code.
 *
 * First all code is read and checked, which gives a list of packets. Then all packets are moved, in
 * the order of tiles. Packets of one direction should not overlap where they are written; the
 * author of the code is responsible for that (a later packet wins).
 *
 * The packets of the last few exchanges are kept as plans. Code does not change, but packet headers
 * and numbers of records are data. So they are compared and read each time. If anything has
 * changed, the code is read again, which also finds all faults. */
#include "copies.h"
#include "state.h"

#include <populus/arena.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Packet headers are words in tile memory, in this order. */
typedef struct packet {
  uint32_t address, row_bytes, rows, stride;
  uint32_t host_offset, host_stride;
  uint32_t tile;
  bool to_tile;
  uint8_t *record; /* of the host's */
  uint32_t window;
  const uint8_t *header,
      *number; /* in tile memory: its header; the number of its record, NULL: 0 */
} packet;

enum { HEADER_BYTES = 4 * ISA_PACKET_HEADER_WORDS };

typedef struct reading {
  machine *m;
  const machine_window *windows;
  size_t num_windows;
  packet *packets;
  size_t num_packets, packets_capacity;
  uint64_t *ipu_bytes; /* by IPU */
  copy_list copies;    /* of the packets, made when all are read */
} reading;

/* The current record; `memory` NULL: there is no such window. */
typedef struct record {
  uint8_t *memory;
  uint64_t bytes;
  uint32_t window;
  const uint8_t *number;
} record;

static bool refuse_value(const reading *r, const tile *t, uint32_t pc, machine_fault_kind kind,
                         uint32_t value, const char *detail)
{
  machine_fault fault = superstep_supervisor_fault(r->m, t, kind, pc);
  fault.address = value;
  snprintf(fault.detail, sizeof fault.detail, "host exchange: %.128s", detail);
  superstep_fault(r->m, &fault);
  return false;
}

static bool refuse(const reading *r, const tile *t, uint32_t pc, machine_fault_kind kind,
                   const char *detail)
{
  return refuse_value(r, t, pc, kind, 0, detail);
}

/* Bytes from the first row's start to the last row's end. */
static uint64_t extent(const packet *p, uint32_t stride)
{
  return (uint64_t)(p->rows - 1) * stride + p->row_bytes;
}

static const uint8_t *host_place(const machine *m, const tile *t, uint32_t address)
{
  return t->memory + (address - m->target.memory_base);
}

static record record_of(const reading *r, uint32_t window, uint32_t number)
{
  if (window >= r->num_windows) return (record){.window = window};
  const machine_window *w = &r->windows[window];
  return (record){
      .memory = w->memory + number * w->record_bytes, .bytes = w->record_bytes, .window = window};
}

/* hostRecord. */
static bool choose_record(const reading *r, const tile *t, uint32_t pc, uint32_t word,
                          record *chosen)
{
  uint32_t window = word >> 25, offset = word >> 7 & (ISA_MAX_WORD_OFFSET - 1), number = 0;
  uint32_t at = r->m->target.memory_base + 4 * offset;
  if (offset && !memory_contains(t, at, 4, false, false))
    return refuse(r, t, pc, MACHINE_FAULT_INVALID_ADDRESS,
                  "the number of a record outside of used memory");
  if (offset) number = memory_word(r->m, t, at);
  if (window < r->num_windows && number >= r->windows[window].num_records) {
    const machine_window *w = &r->windows[window];
    char detail[160];
    snprintf(detail, sizeof detail, "offset %d in %.80s, which has offsets 0 to %llu", (int)number,
             w->name ? w->name : "a window", (unsigned long long)w->num_records - 1);
    return refuse_value(r, t, pc, MACHINE_FAULT_INVALID_OPERAND, number, detail);
  }
  *chosen = record_of(r, window, number);
  if (offset) chosen->number = host_place(r->m, t, at);
  return true;
}

static bool check_packet(const reading *r, const tile *t, uint32_t pc, const packet *p,
                         const record *of)
{
  char detail[128];
  if (p->row_bytes == 0 || p->rows == 0)
    return refuse(r, t, pc, MACHINE_FAULT_EXCHANGE_CONFIG, "a packet of no bytes");
  if (p->rows > 1 && (p->to_tile ? p->stride : p->host_stride) < p->row_bytes)
    return refuse(r, t, pc, MACHINE_FAULT_EXCHANGE_CONFIG,
                  "rows of a packet lie over each other where they go to");
  uint64_t bytes = extent(p, p->stride);
  if (bytes > UINT32_MAX || !memory_contains(t, p->address, (uint32_t)bytes, p->to_tile, false)) {
    snprintf(detail, sizeof detail, "%llu bytes at 0x%x are not %s memory of the tile",
             (unsigned long long)bytes, p->address, p->to_tile ? "writable" : "used");
    return refuse(r, t, pc, MACHINE_FAULT_INVALID_ADDRESS, detail);
  }
  uint64_t end = p->host_offset + extent(p, p->host_stride);
  if (of->memory && end <= of->bytes) return true;
  snprintf(detail, sizeof detail, "bytes %u to %llu of the host's %llu", p->host_offset,
           (unsigned long long)end, (unsigned long long)of->bytes);
  return refuse(r, t, pc, MACHINE_FAULT_EXCHANGE_CONFIG, detail);
}

static bool read_packet(reading *r, const tile *t, uint32_t pc, uint32_t word, bool to_tile,
                        const record *of)
{
  uint32_t header = r->m->target.memory_base + 4 * isa_imm22(word);
  if (!memory_contains(t, header, HEADER_BYTES, false, false))
    return refuse(r, t, pc, MACHINE_FAULT_INVALID_ADDRESS,
                  "a packet header outside of used memory");
  packet p = {.tile = t->number,
              .to_tile = to_tile,
              .record = of->memory,
              .window = of->window,
              .header = host_place(r->m, t, header),
              .number = of->number};
  memcpy(&p, p.header, HEADER_BYTES);
  if (!check_packet(r, t, pc, &p, of)) return false;
  r->ipu_bytes[t->number / r->m->target.tiles_per_ipu] += (uint64_t)p.row_bytes * p.rows;
  pop_push(r->packets, r->num_packets, r->packets_capacity, p);
  return true;
}

/* Reads the packets of a tile. *cycles: those of its code. */
static bool read_code(reading *r, const tile *t, uint64_t *cycles)
{
  uint32_t pc = r->m->at.host_codes[t->number];
  record current = record_of(r, 0, 0);
  for (*cycles = 1;; pc += 4, ++*cycles) {
    if (pc % 4 || !memory_contains(t, pc, 4, false, true))
      return refuse(r, t, pc, MACHINE_FAULT_INVALID_PC, "the code runs out of executable memory");
    uint32_t word = memory_word(r->m, t, pc);
    uint32_t funct3 = word >> 12 & 7;
    if ((word & 0x7f) == ISA_CUSTOM_3) {
      if (!choose_record(r, t, pc, word, &current)) return false;
      continue;
    }
    bool is_host = (word & 0x7f) == ISA_CUSTOM_1 && funct3 >= ISA_FUNCT3_END &&
                   funct3 <= ISA_FUNCT3_HOST_WRITE;
    if (!is_host)
      return refuse(r, t, pc, MACHINE_FAULT_INVALID_INSTRUCTION, "no host exchange instruction");
    if (funct3 == ISA_FUNCT3_END) return true;
    if (!read_packet(r, t, pc, word, funct3 == ISA_FUNCT3_HOST_READ, &current)) return false;
  }
}

static copy_run rows_of(const machine *m, const packet *p)
{
  uint8_t *on_tile = m->tiles[p->tile].memory + (p->address - m->target.memory_base);
  uint8_t *on_host = p->record + p->host_offset;
  return p->to_tile
             ? (copy_run){on_tile, on_host, p->stride, p->host_stride, p->row_bytes, p->rows}
             : (copy_run){on_host, on_tile, p->host_stride, p->stride, p->row_bytes, p->rows};
}

static bool is_behind(const copy_run *before, const copy_run *run)
{
  return before->to + (ptrdiff_t)(before->count - 1) * before->to_step + before->bytes <= run->to;
}

/* May tiles be served in any order? Yes if no tile writes to the host. Also yes if none reads from
 * it, and what they write is consecutive. */
static bool are_independent(const reading *r)
{
  size_t num_to_tiles = 0;
  for (size_t i = 0; i < r->num_packets; i++) num_to_tiles += r->packets[i].to_tile;
  if (num_to_tiles == r->num_packets) return true;
  for (size_t i = 1; i < r->num_packets; i++)
    if (!is_behind(&r->copies.runs[i - 1], &r->copies.runs[i])) return false;
  return num_to_tiles == 0;
}

static void make_copies(const machine *m, reading *r)
{
  uint32_t *tiles = pop_xcalloc(r->num_packets + 1, sizeof *tiles);
  for (size_t i = 0; i < r->num_packets; i++) {
    copy_list_add(&r->copies, rows_of(m, &r->packets[i]));
    tiles[i] = r->packets[i].tile;
  }
  copy_list_finish(&r->copies, tiles);
  free(tiles);
}

static void move_packets(machine *m, reading *r)
{
  copy_list_run(&r->copies, are_independent(r) ? m->pool : NULL);
}

static void free_reading(reading *r)
{
  free(r->packets);
  free(r->ipu_bytes);
  copy_list_free(&r->copies);
}

/* The tiles go on after the slowest tile's code and the bytes of the fullest IPU. */
static void take_time(machine *m, const reading *r, uint64_t code_cycles)
{
  uint64_t bytes = 0, fullest = 0;
  for (uint32_t i = 0; i < m->target.num_ipus; i++) {
    bytes += r->ipu_bytes[i];
    if (r->ipu_bytes[i] > fullest) fullest = r->ipu_bytes[i];
  }
  uint32_t speed = m->target.host_bytes_per_cycle;
  uint64_t cycles = code_cycles + (fullest + speed - 1) / speed;
  uint64_t from = m->at.clocks[0]; /* all clocks are equal behind a sync */
  for (uint32_t i = 0; i < m->num_tiles; i++) m->at.clocks[i] = from + cycles;
  m->host_bytes += bytes;
  superstep_trace(m, MACHINE_TRACE_HOST_EXCHANGE, 0, m->at.host_codes[0], from, from + cycles,
                  bytes);
}

/* ---- plans ---- */

/* An exchange as it was the last time. */
typedef struct host_plan {
  uint64_t hash;           /* of `waiting` and `codes` */
  uint8_t *waiting;        /* by tile, as in tile_stops */
  uint32_t *codes;         /* by tile */
  machine_window *windows; /* `memory` and `name` have no meaning */
  reading read;
  uint64_t longest; /* cycles of the tiles' code */
} host_plan;

struct host_plans {
  host_plan items[64]; /* by hash */
};

static void free_plan(host_plan *plan)
{
  free(plan->waiting);
  free(plan->codes);
  free(plan->windows);
  free_reading(&plan->read);
  *plan = (host_plan){0};
}

void host_exchange_forget(machine *m)
{
  struct host_plans *plans = m->host_plans;
  if (!plans) return;
  for (size_t i = 0; i < sizeof plans->items / sizeof *plans->items; i++)
    free_plan(&plans->items[i]);
  free(plans);
  m->host_plans = NULL;
}

static host_plan *plan_slot(machine *m, uint64_t hash)
{
  if (!m->host_plans) m->host_plans = pop_xcalloc(1, sizeof *m->host_plans);
  size_t count = sizeof m->host_plans->items / sizeof *m->host_plans->items;
  return &m->host_plans->items[hash % count];
}

static uint64_t hash_codes(const machine *m)
{
  uint64_t hash = XXH3_64bits(m->at.waiting, m->num_tiles * sizeof *m->at.waiting);
  return XXH3_64bits_withSeed(m->at.host_codes, m->num_tiles * sizeof *m->at.host_codes, hash);
}

/* Do the same tiles run the same code, with windows of the same sizes? */
static bool is_wanted(const machine *m, const host_plan *plan, const machine_window *windows,
                      size_t num_windows)
{
  if (!plan->codes || plan->read.num_windows != num_windows) return false;
  for (size_t i = 0; i < num_windows; i++)
    if (windows[i].record_bytes != plan->windows[i].record_bytes ||
        windows[i].num_records != plan->windows[i].num_records)
      return false;
  return !memcmp(plan->codes, m->at.host_codes, m->num_tiles * sizeof *plan->codes) &&
         !memcmp(plan->waiting, m->at.waiting, m->num_tiles * sizeof *plan->waiting);
}

/* Are all packets those of the plan? Sets their current records. */
static bool renew(reading *r)
{
  for (size_t i = 0; i < r->num_packets; i++) {
    packet *p = &r->packets[i];
    const machine_window *w = &r->windows[p->window];
    uint32_t number = 0;
    if (memcmp(p, p->header, HEADER_BYTES)) return false;
    if (p->number) memcpy(&number, p->number, sizeof number);
    if (number && number >= w->num_records) return false;
    p->record = w->memory + number * w->record_bytes;
    copy_run *run = &r->copies.runs[i];
    if (p->to_tile)
      run->from = p->record + p->host_offset;
    else
      run->to = p->record + p->host_offset;
  }
  return true;
}

static void *duplicate(const void *items, size_t bytes)
{
  void *copy = pop_xcalloc(bytes + 1, 1);
  return bytes ? memcpy(copy, items, bytes) : copy;
}

/* Keeps what was read as a plan, which takes it over. */
static void keep_plan(machine *m, uint64_t hash, const reading *r, uint64_t longest)
{
  host_plan *plan = plan_slot(m, hash);
  free_plan(plan);
  *plan = (host_plan){.hash = hash,
                      .waiting = duplicate(m->at.waiting, m->num_tiles * sizeof *plan->waiting),
                      .codes = duplicate(m->at.host_codes, m->num_tiles * sizeof *plan->codes),
                      .windows = duplicate(r->windows, r->num_windows * sizeof *plan->windows),
                      .read = *r,
                      .longest = longest};
}

/* Reads the code of all tiles; false after a fault. */
static bool read_all(reading *r, uint64_t *longest)
{
  machine *m = r->m;
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    const tile *t = &m->tiles[i];
    uint64_t cycles = 0;
    if (m->at.waiting[i] != STOP_HOST_SYNC || m->at.host_codes[i] == 0) continue;
    read_code(r, t, &cycles);
    if (cycles > *longest) *longest = cycles;
  }
  return m->fault.kind == MACHINE_FAULT_NONE;
}

pop_error *machine_host_exchange(machine *m, const machine_window *windows, size_t num_windows)
{
  uint64_t hash = hash_codes(m), longest = 0;
  host_plan *plan = plan_slot(m, hash);
  if (!m->options.plain && plan->hash == hash && is_wanted(m, plan, windows, num_windows)) {
    plan->read.windows = windows;
    if (renew(&plan->read)) {
      move_packets(m, &plan->read);
      take_time(m, &plan->read, plan->longest);
      return NULL;
    }
  }
  reading r = {.m = m,
               .windows = windows,
               .num_windows = num_windows,
               .ipu_bytes = pop_xcalloc(m->target.num_ipus, sizeof *r.ipu_bytes)};
  bool good = read_all(&r, &longest);
  if (good) {
    make_copies(m, &r);
    move_packets(m, &r);
    take_time(m, &r, longest);
    keep_plan(m, hash, &r, longest);
    return NULL;
  }
  free_reading(&r);
  return superstep_error(m);
}
