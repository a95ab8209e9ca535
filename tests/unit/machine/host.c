/* runtime/machine: host exchange code, packet by packet, and its faults. */
#include "support/rig.h"

#include <machine/state.h>

enum { SLOT = 6, HOST_CODE = RIG_CODE + 4 * 64, HEADERS = RIG_DATA + 0x400, HEADER_BYTES = 24 };

typedef struct header {
  uint32_t address, row_bytes, rows, stride, host_offset, host_stride;
} header;

static uint32_t packet_word(bool to_tile, uint32_t number)
{
  return isa_imm22_word(to_tile ? ISA_FUNCT3_HOST_READ : ISA_FUNCT3_HOST_WRITE,
                        RIG_WORD(HEADERS + HEADER_BYTES * number));
}

static uint32_t end_word(void)
{
  return isa_imm22_word(ISA_FUNCT3_END, 0);
}

/* A tile that syncs with the host, with this host exchange code if there is some, and then reports
 * 2. */
static void assemble(assembler *a, const uint32_t *words, size_t count)
{
  asm_li(a, A0, 1);
  asm_li(a, A1, count ? HOST_CODE : 0);
  asm_tile(a, TILE_HOST_SYNC, A0, A0, A1);
  rig_report(a, 2);
  while (a->count < 64) asm_word(a, 0);
  for (size_t i = 0; i < count; i++) asm_word(a, words[i]);
}

static void put_headers(const rig *r, uint32_t tile, const header *headers, size_t count)
{
  expect_ok(machine_write(r->m, tile, HEADERS, headers, (uint32_t)(count * sizeof *headers)));
}

static pop_error *exchange(rig *r, uint8_t *host, uint64_t size)
{
  return machine_host_exchange(r->m, &(machine_window){host, size, 1, NULL}, 1);
}

/* Two tiles, both directions: rows that are apart on the tile and in the host's memory. */
Test(machine_host, packets_move_rows_both_ways)
{
  rig r = rig_create(3, 0);
  const uint32_t both[] = {packet_word(true, 0), packet_word(false, 1), end_word()};
  const uint32_t one[] = {packet_word(true, 0), end_word()};
  assemble(&r.code[0], both, 3);
  assemble(&r.code[1], NULL, 0);
  assemble(&r.code[2], one, 2);
  rig_load(&r);
  put_headers(&r, 0, (header[]){{RIG_DATA, 2, 3, 5, 1, 4}, {RIG_CONST, 4, 1, 0, 60, 0}}, 2);
  put_headers(&r, 2, (header[]){{RIG_DATA + 8, 1, 4, 1, 3, 0}}, 1);
  const uint32_t constant = 0x11223344;
  expect_ok(machine_write(r.m, 0, RIG_CONST, &constant, sizeof constant));
  uint8_t host[64];
  for (size_t i = 0; i < sizeof host; i++) host[i] = (uint8_t)i;
  cr_assert_eq(rig_run(&r), 1);
  uint64_t before = machine_get_counters(r.m).cycles;
  expect_ok(exchange(&r, host, sizeof host));
  uint8_t found[13];
  expect_ok(machine_read(r.m, 0, RIG_DATA, found, sizeof found));
  const uint8_t expected[13] = {1, 2, 0, 0, 0, 5, 6, 0, 0, 0, 9, 10, 0};
  cr_assert_arr_eq(found, expected, sizeof expected);
  cr_assert_eq(rig_word(&r, 2, RIG_DATA + 8), 0x03030303);
  cr_assert_arr_eq(host + 60, &constant, 4);
  cr_assert_eq(host[59], 59);
  machine_counters counters = machine_get_counters(r.m);
  cr_assert_eq(counters.host_bytes, 6 + 4 + 4);
  cr_assert_eq(counters.cycles - before, 3 + (14 + 7) / 8, "three instructions, 14 bytes at 8");
  cr_assert_eq(rig_run(&r), 2);
  rig_free(&r);
}

/* The tiles of an IPU share its link to the host. The IPU with most bytes sets the time. */
Test(machine_host, each_ipu_has_its_own_way)
{
  enum { BYTES = 1024 };
  for (uint32_t num_ipus = 1; num_ipus <= 2; num_ipus++) {
    rig r = rig_create(2, 0);
    machine_free(r.m);
    r.target.num_ipus = num_ipus;
    r.target.tiles_per_ipu = 2 / num_ipus;
    machine_options options = {0};
    expect_ok(machine_create(&r.target, &options, &r.m));
    const uint32_t one[] = {packet_word(true, 0), end_word()};
    for (uint32_t i = 0; i < 2; i++) assemble(&r.code[i], one, 2);
    rig_load(&r);
    for (uint32_t i = 0; i < 2; i++)
      put_headers(&r, i, (header[]){{RIG_DATA + 0x800, BYTES, 1, 0, 0, 0}}, 1);
    rig_run(&r);
    uint64_t before = machine_get_counters(r.m).cycles;
    static uint8_t host[BYTES];
    expect_ok(exchange(&r, host, sizeof host));
    cr_assert_eq(machine_get_counters(r.m).cycles - before,
                 2 + (uint64_t)BYTES * 2 / num_ipus / r.target.host_bytes_per_cycle);
    rig_free(&r);
  }
}

/* ---- many bytes, any number of threads ---- */

enum { MANY = 96, BIG = 0x1c00 };

/* 0: one thread that works from the last item to the first, as one of several threads might. */
static const uint32_t thread_counts[] = {0, 1, 2, 7};
enum { NUM_COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

static rig create_big(uint32_t num_threads, const uint32_t *words, size_t count)
{
  rig r = rig_create_with(MANY, (machine_options){.num_threads = num_threads ? num_threads : 1});
  if (num_threads == 0) thread_pool_reverse(r.m->pool);
  for (uint32_t i = 0; i < MANY; i++) assemble(&r.code[i], words, count);
  rig_load(&r);
  return r;
}

/* Tile i gets rows of 7 bytes, every MANY-th row of the host's. The second packet, from the
 * beginning of the host's memory, overwrites half of the first one. */
Test(machine_host, packets_of_a_tile_keep_their_order)
{
  enum { ROW = 7, ROWS = BIG / ROW / 2 };
  static uint8_t host[MANY * ROW * ROWS], found[ROW * ROWS];
  for (size_t i = 0; i < sizeof host; i++) host[i] = (uint8_t)(i * 31 >> 3);
  const uint32_t words[] = {packet_word(true, 0), packet_word(true, 1), end_word()};
  for (unsigned k = 0; k < NUM_COUNTS; k++) {
    rig r = create_big(thread_counts[k], words, 3);
    for (uint32_t i = 0; i < MANY; i++) {
      const header headers[] = {{RIG_DATA + 0x800, ROW, ROWS, ROW, i * ROW, MANY * ROW},
                                {RIG_DATA + 0x800, ROW * ROWS / 2, 1, 0, i, 0}};
      put_headers(&r, i, headers, 2);
    }
    rig_run(&r);
    expect_ok(exchange(&r, host, sizeof host));
    for (uint32_t i = 0; i < MANY; i++) {
      expect_ok(machine_read(r.m, i, RIG_DATA + 0x800, found, sizeof found));
      for (uint32_t b = 0; b < sizeof found; b++) {
        uint32_t from = b < ROW * ROWS / 2 ? i + b : (b / ROW * MANY + i) * ROW + b % ROW;
        cr_assert_eq(found[b], host[from], "%u threads, tile %u, byte %u", thread_counts[k], i, b);
      }
    }
    rig_free(&r);
  }
}

/* Either each tile's bytes follow those of the tile before, or half of them overlap: then a later
 * tile wins. */
Test(machine_host, what_tiles_write_to_the_host_does_not_depend_on_threads)
{
  enum { BYTES = BIG / 2 };
  static uint8_t host[MANY * BYTES], content[BYTES];
  const uint32_t words[] = {packet_word(false, 0), end_word()};
  for (unsigned k = 0; k < 2 * NUM_COUNTS; k++) {
    uint32_t step = k < NUM_COUNTS ? BYTES : BYTES / 2;
    rig r = create_big(thread_counts[k % NUM_COUNTS], words, 2);
    for (uint32_t i = 0; i < MANY; i++) {
      memset(content, (int)(i + 1), sizeof content);
      expect_ok(machine_write(r.m, i, RIG_DATA + 0x800, content, sizeof content));
      put_headers(&r, i, (header[]){{RIG_DATA + 0x800, BYTES, 1, 0, i * step, 0}}, 1);
    }
    rig_run(&r);
    for (unsigned again = 0; again < 20; again++) {
      memset(host, 0, sizeof host);
      expect_ok(exchange(&r, host, sizeof host));
      for (uint32_t b = 0; b < (MANY - 1) * step + BYTES; b += 16) {
        uint32_t last = b / step < MANY ? b / step : MANY - 1;
        cr_assert_eq(host[b], last + 1, "step %u, %u threads, byte %u", step,
                     thread_counts[k % NUM_COUNTS], b);
      }
    }
    rig_free(&r);
  }
}

Test(machine_host, ranges_go_both_ways_by_any_number_of_threads)
{
  enum { BYTES = 24, PER_TILE = BIG / BYTES / 2, RANGES = MANY * PER_TILE };
  static memory_range ranges[RANGES];
  static uint8_t sent[RANGES * BYTES], back[RANGES * BYTES];
  for (uint32_t i = 0; i < RANGES; i++) /* every second place of each tile, tiles in turn */
    ranges[i] = (memory_range){i % MANY, RIG_DATA + 0x800 + 2 * BYTES * (i / MANY), BYTES};
  ranges[17].bytes = 0;
  for (size_t i = 0; i < sizeof sent; i++) sent[i] = (uint8_t)(i * 7 >> 2);
  for (unsigned k = 0; k < NUM_COUNTS; k++) {
    rig r = create_big(thread_counts[k], NULL, 0);
    expect_ok(machine_write_ranges(r.m, ranges, RANGES, sent));
    uint32_t word;
    memcpy(&word, sent + (MANY + 1) * BYTES - BYTES, sizeof word); /* one range is empty */
    cr_assert_eq(rig_word(&r, 1, RIG_DATA + 0x800 + 2 * BYTES), word);
    cr_assert_eq(rig_word(&r, 1, RIG_DATA + 0x800 + BYTES), 0);
    memset(back, 0, sizeof back);
    expect_ok(machine_read_ranges(r.m, ranges, RANGES, back));
    cr_assert_arr_eq(back, sent, sizeof sent - BYTES);
    rig_free(&r);
  }
}

/* Nothing is written if one range is wrong. Code that is written is used at once. */
Test(machine_host, ranges_are_checked_and_may_hold_code)
{
  rig r = rig_create(2, 0);
  for (uint32_t i = 0; i < 2; i++) {
    rig_report(&r.code[i], 1);
    rig_report(&r.code[i], 2);
  }
  rig_load(&r);
  cr_assert_eq(rig_run(&r), 1);
  const memory_range wrong[] = {{0, RIG_DATA, 4}, {2, RIG_DATA, 4}},
                     outside[] = {{1, RIG_BASE - 4, 8}};
  uint32_t words[2] = {1, 2};
  expect_error(machine_write_ranges(r.m, wrong, 2, words), POP_ERROR_INDEX, "tile 2", "write");
  cr_assert_eq(rig_word(&r, 0, RIG_DATA), 0);
  expect_error(machine_read_ranges(r.m, outside, 1, words), POP_ERROR_INDEX, "tile 1", "read");
  assembler other = {.base = RIG_CODE};
  rig_report(&other, 1);
  rig_report(&other, 3);
  const uint32_t bytes = 4 * (uint32_t)other.count;
  const memory_range code[] = {{0, RIG_CODE, bytes}, {1, RIG_CODE, bytes}};
  uint32_t twice[2 * ASM_MAX_WORDS];
  memcpy(twice, other.words, bytes);
  memcpy((uint8_t *)twice + bytes, other.words, bytes);
  expect_ok(machine_write_ranges(r.m, code, 2, twice));
  cr_assert_eq(rig_run(&r), 3);
  rig_free(&r);
}

/* Packets with three windows. One window has records, and the tile chooses one. */
Test(machine_host, records_of_windows_are_chosen_on_the_tile)
{
  rig r = rig_create(1, 0);
  const uint32_t words[] = {packet_word(true, 0),
                            isa_host_record_word(2, RIG_WORD(RIG_DATA + 16)),
                            packet_word(true, 1),
                            packet_word(false, 2),
                            isa_host_record_word(1, 0),
                            packet_word(true, 3),
                            end_word()};
  assemble(&r.code[0], words, sizeof words / sizeof *words);
  rig_load(&r);
  put_headers(&r, 0,
              (header[]){{RIG_DATA, 4, 1, 0, 0, 0},
                         {RIG_DATA + 4, 4, 1, 0, 0, 0},
                         {RIG_DATA + 12, 2, 1, 0, 5, 0},
                         {RIG_DATA + 8, 4, 1, 0, 4, 0}},
              4);
  const uint32_t of_tile[] = {0xaabbccdd, 2};
  expect_ok(machine_write(r.m, 0, RIG_DATA + 12, of_tile, sizeof of_tile));
  uint8_t host[3][32];
  for (size_t i = 0; i < sizeof host; i++) host[i / 32][i % 32] = (uint8_t)i;
  const machine_window windows[] = {
      {host[0], 4, 1, NULL}, {host[1], 32, 1, NULL}, {host[2], 7, 4, "remote buffer 'w'"}};
  rig_run(&r);
  uint64_t before = machine_get_counters(r.m).cycles;
  expect_ok(machine_host_exchange(r.m, windows, 3));
  cr_assert_eq(machine_get_counters(r.m).cycles - before, 7 + (14 + 7) / 8);
  cr_assert_eq(rig_word(&r, 0, RIG_DATA), 0x03020100);
  cr_assert_eq(rig_word(&r, 0, RIG_DATA + 4), 0x51504f4e, "record 2 begins at byte 14 of window 2");
  cr_assert_eq(rig_word(&r, 0, RIG_DATA + 8), 0x27262524);
  cr_assert_eq(host[2][14 + 5], 0xdd);
  cr_assert_eq(host[2][14 + 6], 0xcc);
  rig_free(&r);
}

/* Decoded code is kept, but headers, numbers of records and windows are read again each time. Wrong
 * ones are found as the first time. */
Test(machine_host, an_exchange_that_comes_again_is_what_the_tile_says_now)
{
  for (int plain = 0; plain < 2; plain++) {
    rig r = rig_create(1, 0);
    machine_free(r.m);
    machine_options options = {.plain = plain};
    expect_ok(machine_create(&r.target, &options, &r.m));
    const uint32_t words[] = {isa_host_record_word(0, RIG_WORD(RIG_DATA)), packet_word(true, 0),
                              packet_word(false, 1), end_word()};
    assemble(&r.code[0], words, 4);
    rig_load(&r);
    header headers[] = {{RIG_DATA + 8, 4, 1, 0, 0, 0}, {RIG_CONST, 4, 1, 0, 4, 0}};
    put_headers(&r, 0, headers, 2);
    uint8_t host[2][24];
    for (size_t i = 0; i < sizeof host; i++) host[i / 24][i % 24] = (uint8_t)i;
    rig_run(&r);
    uint64_t before = machine_get_counters(r.m).cycles;
    for (uint32_t i = 0; i < 6; i++) { /* any record, in either memory */
      uint32_t number = i % 3, given = 0x01020304 * (i + 1);
      machine_window window = {host[i % 2], 8, 3, "remote buffer 'w'"};
      expect_ok(machine_write(r.m, 0, RIG_DATA, &number, 4));
      expect_ok(machine_write(r.m, 0, RIG_CONST, &given, 4));
      expect_ok(machine_host_exchange(r.m, &window, 1));
      cr_assert_arr_eq(host[i % 2] + 8 * number + 4, &given, 4);
      cr_assert_eq(rig_word(&r, 0, RIG_DATA + 8) & 255, 24 * (i % 2) + 8 * number);
    }
    cr_assert_eq(machine_get_counters(r.m).cycles - before, 6 * (4 + 1));
    headers[0].address = RIG_DATA + 12;
    headers[0].host_offset = 2;
    put_headers(&r, 0, headers, 2);
    machine_window window = {host[0], 8, 3, "remote buffer 'w'"}; /* record 2 */
    expect_ok(machine_host_exchange(r.m, &window, 1));
    cr_assert_eq(rig_word(&r, 0, RIG_DATA + 12) & 0xffff, 0x1312);
    window = (machine_window){host[0], 6, 4, "remote buffer 'w'"};
    headers[1].host_offset = 0;
    put_headers(&r, 0, headers, 2);
    uint8_t expected = host[0][2 * 6 + 2]; /* another size of records */
    expect_ok(machine_host_exchange(r.m, &window, 1));
    cr_assert_eq(rig_word(&r, 0, RIG_DATA + 12) & 0xff, expected);
    const uint32_t behind = 4;
    expect_ok(machine_write(r.m, 0, RIG_DATA, &behind, 4));
    expect_error(machine_host_exchange(r.m, &window, 1), POP_ERROR_RUNTIME, "offsets 0 to 3",
                 "offset 4");
    rig_free(&r);
  }
}

Test(machine_host, wrong_records_are_faults)
{
  static const struct {
    uint32_t word, number;
    machine_fault_kind kind;
    const char *detail;
  } cases[] = {
      {RIG_WORD(RIG_DATA), 3, MACHINE_FAULT_INVALID_OPERAND,
       "offset 3 in remote buffer 'w', which has offsets 0 to 2"},
      {RIG_WORD(RIG_DATA), UINT32_MAX, MACHINE_FAULT_INVALID_OPERAND, "offset -1 in remote"},
      {ISA_MAX_WORD_OFFSET - 1, 0, MACHINE_FAULT_INVALID_ADDRESS, "outside of used memory"},
      {1u << 18, 0, MACHINE_FAULT_EXCHANGE_CONFIG, "of the host's 0"}, /* window 1 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r = rig_create(1, 0);
    const uint32_t words[] = {isa_host_record_word(0, cases[i].word), packet_word(true, 0),
                              end_word()};
    assemble(&r.code[0], words, 3);
    rig_load(&r);
    put_headers(&r, 0, (header[]){{RIG_DATA + 8, 4, 1, 0, 0, 0}}, 1);
    expect_ok(machine_write(r.m, 0, RIG_DATA, &cases[i].number, 4));
    uint8_t host[16];
    memset(host, 1, sizeof host);
    rig_run(&r);
    machine_window window = {host, 4, 3, "remote buffer 'w'"};
    expect_error(machine_host_exchange(r.m, &window, 1), POP_ERROR_RUNTIME, cases[i].detail,
                 cases[i].detail);
    cr_assert_eq(machine_get_fault(r.m)->kind, cases[i].kind);
    cr_assert_eq(rig_word(&r, 0, RIG_DATA + 8), 0);
    rig_free(&r);
  }
}

Test(machine_host, wrong_packets_are_faults_and_nothing_moves)
{
  const struct {
    header header;
    uint32_t words[2];
    machine_fault_kind kind;
    const char *detail;
  } cases[] = {
      {{RIG_DATA, 0, 1, 0, 0, 0}, {0}, MACHINE_FAULT_EXCHANGE_CONFIG, "no bytes"},
      {{RIG_DATA, 4, 0, 0, 0, 0}, {0}, MACHINE_FAULT_EXCHANGE_CONFIG, "no bytes"},
      {{RIG_CONST, 4, 1, 0, 0, 0}, {0}, MACHINE_FAULT_INVALID_ADDRESS, "not writable"},
      {{RIG_END - 4, 8, 1, 0, 0, 0}, {0}, MACHINE_FAULT_INVALID_ADDRESS, "8 bytes"},
      {{RIG_DATA, 4, UINT32_MAX, 0, 0, 0}, {0}, MACHINE_FAULT_EXCHANGE_CONFIG, "over each other"},
      {{RIG_DATA, 4, 2, 3, 0, 4}, {0}, MACHINE_FAULT_EXCHANGE_CONFIG, "over each other"},
      {{RIG_DATA, 4, UINT32_MAX, 4, 0, 0},
       {packet_word(false, 1)},
       MACHINE_FAULT_EXCHANGE_CONFIG,
       "over each other"},
      {{RIG_DATA, 4, 2, 0xfffffffc, 0, 0}, {0}, MACHINE_FAULT_INVALID_ADDRESS, "4294967296 bytes"},
      {{RIG_DATA, 4, UINT32_MAX, UINT32_MAX, 0, 0}, {0}, MACHINE_FAULT_INVALID_ADDRESS, "bytes"},
      {{RIG_DATA, 4, 1, 0, 61, 0}, {0}, MACHINE_FAULT_EXCHANGE_CONFIG, "61 to 65"},
      {{RIG_DATA, 4, 2, 4, 4, UINT32_MAX}, {0}, MACHINE_FAULT_EXCHANGE_CONFIG, "of the host's 64"},
      {{RIG_DATA, 4, 1, 0, UINT32_MAX, 0}, {0}, MACHINE_FAULT_EXCHANGE_CONFIG, "of the host's 64"},
      {{RIG_DATA, 4, 1, 0, 0, 0}, {0x13, 0}, MACHINE_FAULT_INVALID_INSTRUCTION, "no host exchange"},
      {{RIG_DATA, 4, 1, 0, 0, 0},
       {ISA_FUNCT3_HOST_READ << 12 | 0xffff8000 | ISA_CUSTOM_1, 0},
       MACHINE_FAULT_INVALID_ADDRESS,
       "packet header"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rig r = rig_create(2, 0);
    const uint32_t good[] = {packet_word(true, 0), end_word()};
    const uint32_t bad[] = {packet_word(true, 0),
                            cases[i].words[0] ? cases[i].words[0] : packet_word(true, 1),
                            end_word()};
    assemble(&r.code[0], good, 2);
    assemble(&r.code[1], bad, 3);
    rig_load(&r);
    put_headers(&r, 0, (header[]){{RIG_DATA, 4, 1, 0, 0, 0}}, 1);
    put_headers(&r, 1, (header[]){{RIG_DATA, 4, 1, 0, 0, 0}, cases[i].header}, 2);
    rig_run(&r);
    uint8_t host[64];
    memset(host, 1, sizeof host);
    char where[16];
    snprintf(where, sizeof where, "case %zu", i);
    expect_error(exchange(&r, host, sizeof host), POP_ERROR_RUNTIME, cases[i].detail, where);
    const machine_fault *fault = machine_get_fault(r.m);
    cr_assert_eq(fault->kind, cases[i].kind, "%s: %s", where, machine_fault_name(fault->kind));
    cr_assert_eq(fault->tile, 1);
    cr_assert_eq(fault->pc, HOST_CODE + 4, "%s", where);
    cr_assert_eq(rig_word(&r, 0, RIG_DATA), 0, "%s: something moved", where);
    rig_free(&r);
  }
}

/* Code that does not end, and words that are not code. */
Test(machine_host, code_must_end_in_executable_memory)
{
  static const uint32_t addresses[] = {HOST_CODE + 2, RIG_DATA, 0x10, 0xfffffffc};
  for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
    rig r = rig_create(1, 0);
    asm_li(&r.code[0], A1, addresses[i]);
    asm_tile(&r.code[0], TILE_HOST_SYNC, A0, ZERO, A1);
    rig_load(&r);
    rig_run(&r);
    uint8_t host[4];
    expect_error(exchange(&r, host, sizeof host), POP_ERROR_RUNTIME,
                 "runs out of executable memory", "no code");
    cr_assert_eq(machine_get_fault(r.m)->kind, MACHINE_FAULT_INVALID_PC);
    rig_free(&r);
  }
}
