/* The exchange between tiles and host, in a host sync: what isa.h calls host exchange code.
 *
 * All code is read and checked first, into a list of packets; then all packets are moved, in the order
 * of tiles. Packets of one direction must not overlap where they are written; who wrote the code has
 * to see to that (a later packet wins). */
#include "copies.h"
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packet headers are words in tile memory, in this order. */
typedef struct packet {
  uint32_t address, row_bytes, rows, stride;
  uint32_t host_offset, host_stride;
  uint32_t tile;
  bool to_tile;
  uint8_t *record; /* of the host's */
} packet;

typedef struct reading {
  machine *m;
  const machine_window *windows;
  size_t num_windows;
  packet *packets;
  size_t num_packets, packets_capacity;
  uint64_t *ipu_bytes; /* by IPU */
} reading;

/* The record that packets are about; `memory` NULL: there is no such window. */
typedef struct record {
  uint8_t *memory;
  uint64_t bytes;
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

/* From the first row's first byte to the last one's last, behind `start`. */
static uint64_t extent(const packet *p, uint32_t stride)
{
  return (uint64_t)(p->rows - 1) * stride + p->row_bytes;
}

static record record_of(const reading *r, uint32_t window, uint32_t number)
{
  if (window >= r->num_windows) return (record){NULL, 0};
  const machine_window *w = &r->windows[window];
  return (record){w->memory + number * w->record_bytes, w->record_bytes};
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
  if (!memory_contains(t, header, 4 * ISA_PACKET_HEADER_WORDS, false, false))
    return refuse(r, t, pc, MACHINE_FAULT_INVALID_ADDRESS,
                  "a packet header outside of used memory");
  uint32_t words[ISA_PACKET_HEADER_WORDS];
  for (uint32_t i = 0; i < ISA_PACKET_HEADER_WORDS; i++)
    words[i] = memory_word(r->m, t, header + 4 * i);
  packet p = {words[0], words[1],  words[2], words[3],  words[4],
              words[5], t->number, to_tile,  of->memory};
  if (!check_packet(r, t, pc, &p, of)) return false;
  r->ipu_bytes[t->number / r->m->target.tiles_per_ipu] += (uint64_t)p.row_bytes * p.rows;
  pop_push(r->packets, r->num_packets, r->packets_capacity, p);
  return true;
}

/* The packets of a tile; the cycles of its code in *cycles. */
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

/* May tiles be served in any order? If nobody writes to the host; or if nobody reads from it, and what
 * they write is one behind the other. */
static bool are_independent(const reading *r, const copy_list *copies)
{
  size_t num_to_tiles = 0;
  for (size_t i = 0; i < r->num_packets; i++) num_to_tiles += r->packets[i].to_tile;
  if (num_to_tiles == r->num_packets) return true;
  for (size_t i = 1; i < r->num_packets; i++)
    if (!is_behind(&copies->runs[i - 1], &copies->runs[i])) return false;
  return num_to_tiles == 0;
}

static void move_packets(machine *m, const reading *r)
{
  copy_list copies = {0};
  uint32_t *tiles = pop_xcalloc(r->num_packets + 1, sizeof *tiles);
  for (size_t i = 0; i < r->num_packets; i++) {
    copy_list_add(&copies, rows_of(m, &r->packets[i]));
    tiles[i] = r->packets[i].tile;
  }
  copy_list_finish(&copies, tiles);
  copy_list_run(&copies, are_independent(r, &copies) ? m->pool : NULL);
  copy_list_free(&copies);
  free(tiles);
}

/* The tiles go on when the slowest tile's code and the fullest IPU's bytes are through. */
static void take_time(machine *m, const reading *r, uint64_t code_cycles)
{
  uint64_t bytes = 0, fullest = 0;
  for (uint32_t i = 0; i < m->target.num_ipus; i++) {
    bytes += r->ipu_bytes[i];
    if (r->ipu_bytes[i] > fullest) fullest = r->ipu_bytes[i];
  }
  uint32_t speed = m->target.host_bytes_per_cycle;
  uint64_t cycles = code_cycles + (fullest + speed - 1) / speed;
  uint64_t from = m->at.clocks[0]; /* all are equal behind a sync */
  for (uint32_t i = 0; i < m->num_tiles; i++) m->at.clocks[i] = from + cycles;
  m->host_bytes += bytes;
  superstep_trace(m, MACHINE_TRACE_HOST_EXCHANGE, 0, m->at.host_codes[0], from, from + cycles,
                  bytes);
}

pop_error *machine_host_exchange(machine *m, const machine_window *windows, size_t num_windows)
{
  reading r = {.m = m,
               .windows = windows,
               .num_windows = num_windows,
               .ipu_bytes = pop_xcalloc(m->target.num_ipus, sizeof *r.ipu_bytes)};
  uint64_t longest = 0;
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    const tile *t = &m->tiles[i];
    uint64_t cycles = 0;
    if (m->at.waiting[i] != STOP_HOST_SYNC || m->at.host_codes[i] == 0) continue;
    read_code(&r, t, &cycles);
    if (cycles > longest) longest = cycles;
  }
  if (m->fault.kind == MACHINE_FAULT_NONE) {
    move_packets(m, &r);
    take_time(m, &r, longest);
  }
  free(r.packets);
  free(r.ipu_bytes);
  return m->fault.kind == MACHINE_FAULT_NONE ? NULL : superstep_error(m);
}
