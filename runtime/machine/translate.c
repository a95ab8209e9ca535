/* Units: which code is worth translating, which tiles have it, and how a context runs on it.
 *
 *   a context calls a vertex, is long at one place, or leaves native code
 *   --> translate_request(tile, pc)
 *     the tile's table has the pc                 nothing to do
 *     another tile has the same code there        the tile's table gets that unit
 *     otherwise                                   a new unit is discovered; native.c looks whether
 *                                                 the process has it already
 *   the translator's thread (MACHINE_AUTO) or the caller (MACHINE_TRANSLATOR) has it made
 *   translate_run() runs a context: on native code where the tile's table has some, else on the
 *   interpreter
 *
 * So each distinct code is translated once, and the interpreter runs while LLVM works. In
 * MACHINE_AUTO nothing is wanted before the interpreter has executed so much that translation could
 * pay. Code from the cache's folder pays earlier. Results do not depend on when native code becomes
 * available: both do the same, to the cycle.
 *
 * Locks: `lock` guards the machine's units. A tile's table belongs to the thread that runs the
 * tile. */
#include "translate.h"
#include "block_copy.h"
#include "float_control.h"
#include "guard.h"
#include "isa/float.h"
#include "isa/integer.h"
#include "isa/packed.h"
#include "native.h"

#include <populus/arena.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A unit that this machine uses. */
typedef struct held_unit {
  uint32_t pc; /* its entry */
  native_unit *unit;
  struct held_unit *next; /* in the same chain of the hash table */
} held_unit;

struct tile_entry {
  uint32_t pc;       /* 0: free */
  native_unit *unit; /* NULL: nothing to translate there */
};

enum { UNIT_CHAINS = 1024 };

/* MACHINE_AUTO: instructions that the interpreter executes before anything is taken from the
 * folder; before anything is compiled; and consecutively at a place before the place counts as
 * hot. */
enum { WARM_UP_LOAD = 20000000, WARM_UP = 200000000, SLICE_SLOTS = 1000000 };

struct translation {
  machine_engine mode;
  uint64_t warm_up, warm_up_load;   /* WARM_UP, or what the options say */
  native_folder *folder;            /* NULL: none */
  atomic_uint_fast64_t interpreted; /* instructions, roughly */
  pthread_mutex_t lock;
  held_unit *chains[UNIT_CHAINS];
  _Atomic(native_unit *) hot; /* the last unit wanted for a hot place */
};

/* Life */

pop_error *translate_start(machine *m)
{
  if (m->options.engine == MACHINE_INTERPRETER) return NULL;
  translation *tr = pop_xcalloc(1, sizeof *tr);
  tr->mode = m->options.engine;
  tr->warm_up = m->options.warm_up ? m->options.warm_up : WARM_UP;
  tr->warm_up_load = tr->warm_up;
  if (m->options.native_folder)
    tr->folder = native_folder_of(m->options.native_folder, m->options.native_folder_max_bytes);
  /* Looking there needs LLVM, which takes some tens of milliseconds to load. */
  bool looks_early = tr->folder && native_folder_is_used(tr->folder);
  if (looks_early && tr->warm_up > WARM_UP_LOAD) tr->warm_up_load = WARM_UP_LOAD;
  pthread_mutex_init(&tr->lock, NULL);
  m->translation = tr;
  guard_install();
  const char *error;
  if (tr->mode == MACHINE_AUTO || native_module_load(&error)) return NULL;
  return pop_error_new(POP_ERROR_SYSTEM, "tile code cannot be translated: %s", error);
}

void translate_end(machine *m)
{
  translation *tr = m->translation;
  if (!tr) return;
  for (unsigned i = 0; i < UNIT_CHAINS; i++)
    for (held_unit *held = tr->chains[i], *next; held; held = next) {
      next = held->next;
      native_release(held->unit);
      free(held);
    }
  pthread_mutex_destroy(&tr->lock);
  free(tr);
  m->translation = NULL;
}

void translate_open(machine *m)
{
  if (m->translation) native_module_run_begins();
}

void translate_close(machine *m)
{
  if (m->translation) native_module_run_ends();
}

void translate_forget_tile(tile *t)
{
  free(t->entries);
  t->entries = NULL;
  t->num_entries = t->num_entry_slots = 0;
  t->reads_flags = FLAGS_UNKNOWN;
}

/* A tile's table: open addressing by pc */

static tile_entry *entry_slot(const tile *t, uint32_t pc)
{
  for (uint32_t i = pc / 4 * 0x9e3779b1u;; i++) {
    tile_entry *e = &t->entries[i & (t->num_entry_slots - 1)];
    if (e->pc == pc || !e->pc) return e;
  }
}

static void grow_entries(tile *t)
{
  tile old = *t;
  t->num_entry_slots = old.num_entry_slots ? 2 * old.num_entry_slots : 16;
  t->entries = pop_xcalloc(t->num_entry_slots, sizeof *t->entries);
  for (uint32_t i = 0; i < old.num_entry_slots; i++)
    if (old.entries[i].pc) *entry_slot(t, old.entries[i].pc) = old.entries[i];
  free(old.entries);
}

static void add_entry(tile *t, uint32_t pc, native_unit *unit)
{
  if (2 * t->num_entries >= t->num_entry_slots) grow_entries(t);
  *entry_slot(t, pc) = (tile_entry){pc, unit};
  t->num_entries++;
}

/* Is the unit's code right for the context's control registers? */
static bool is_valid_in(const context *c, const code_unit *code)
{
  if (c->frm) return false;
  if (!c->float_control) return true;
  return code->checked && !(code->rounds_halves && float_is_random(c->float_control));
}

static translated_code find_native(const tile *t, const context *c, uint32_t pc)
{
  if (!t->num_entries) return NULL;
  const tile_entry *e = entry_slot(t, pc);
  if (!e->unit || !is_valid_in(c, &e->unit->code)) return NULL;
  return atomic_load_explicit(&e->unit->native, memory_order_acquire);
}

/* The unit of a tile at a pc */

/* csrrw, csrrs, … of 1 (fflags) or 3 (fcsr) with a destination */
static bool reads_flags(uint32_t word)
{
  bool csr = (word & 0x7f) == 0x73 && (word >> 12 & 3) != 0;
  return csr && (word >> 20 == 1 || word >> 20 == 3) && (word >> 7 & 31);
}

enum { SCAN_WORDS = 64 };

/* May an instruction in these words read fflags? It has no branches, so it is vectorised; it runs
 * over the code of every tile. */
static bool may_read_flags(const uint32_t words[SCAN_WORDS])
{
  static const uint32_t mask = 0xffd0007f, system_1_or_3 = 0x00100073;
  uint32_t found = 0;
  for (int i = 0; i < SCAN_WORDS; i++) found |= (words[i] & mask) == system_1_or_3;
  return found;
}

/* Does some instruction of the tile's code read fflags? Words of data count, too, which errs on the
 * safe side. */
static bool finds_flag_readers(const machine *m, const tile *t)
{
  for (size_t i = 0; i < t->num_segments; i++) {
    const pop_image_segment *s = &t->segments[i];
    if (!s->executable) continue;
    const uint8_t *code = t->memory + (s->start - m->target.memory_base);
    for (uint32_t at = 0, bytes; at + 4 <= s->size; at += bytes) {
      uint32_t words[SCAN_WORDS] = {0};
      bytes = s->size - at < sizeof words ? (s->size - at) & ~3u : sizeof words;
      memcpy(words, code + at, bytes);
      if (!may_read_flags(words)) continue;
      for (int w = 0; w < SCAN_WORDS; w++)
        if (reads_flags(words[w])) return true;
    }
  }
  return false;
}

/* Do workers of the tile start under float control? */
static uint32_t needs_checks(const tile *t)
{
  return t->float_initial != 0;
}

static bool rounds_halves(const code_unit *code)
{
  for (size_t i = 0; i < code->num_ops; i++)
    if (float_gives_half(code->ops[i].id)) return true;
  return false;
}

static native_unit *find_unit(const translation *tr, const machine *m, const tile *t, uint32_t pc)
{
  for (held_unit *held = tr->chains[pc / 4 % UNIT_CHAINS]; held; held = held->next)
    if (held->pc == pc && held->unit->code.checked == needs_checks(t) &&
        code_unit_fits(m, t, &held->unit->code))
      return held->unit;
  return NULL;
}

static native_unit *add_unit(machine *m, tile *t, uint32_t pc)
{
  translation *tr = m->translation;
  code_unit code;
  if (!code_unit_discover(m, t, pc, &code)) return NULL;
  code_unit_find_windows(m, t, &code);
  code.checked = needs_checks(t);
  code.rounds_halves = rounds_halves(&code);
  held_unit *held = pop_xmalloc(sizeof *held);
  held_unit **chain = &tr->chains[pc / 4 % UNIT_CHAINS];
  *held = (held_unit){.pc = pc, .unit = native_acquire(&code), .next = *chain};
  *chain = held;
  return held->unit;
}

static bool is_warm_for_compiling(translation *tr)
{
  return atomic_load(&tr->interpreted) >= tr->warm_up;
}

/* MACHINE_TRANSLATOR translates everything at once. */
static bool is_warm_for_loading(translation *tr)
{
  return tr->mode == MACHINE_TRANSLATOR || atomic_load(&tr->interpreted) >= tr->warm_up_load;
}

/* The tile's unit at `pc`; NULL if there can be none. A new one is queued (MACHINE_AUTO) or made
 * (MACHINE_TRANSLATOR). */
static native_unit *request_unit(machine *m, tile *t, uint32_t pc)
{
  translation *tr = m->translation;
  pthread_mutex_lock(&tr->lock);
  native_unit *u = find_unit(tr, m, t, pc);
  bool held = u != NULL;
  if (!held) u = add_unit(m, t, pc);
  if (!held && u && tr->mode == MACHINE_AUTO)
    native_request(u, tr->folder, is_warm_for_compiling(tr));
  pthread_mutex_unlock(&tr->lock);
  if (!held && u && tr->mode == MACHINE_TRANSLATOR) native_make(u, tr->folder);
  return u;
}

/* From now on units that are not in the folder are worth compiling. */
static void request_compiling(translation *tr)
{
  pthread_mutex_lock(&tr->lock);
  for (unsigned i = 0; i < UNIT_CHAINS; i++)
    for (held_unit *held = tr->chains[i]; held; held = held->next)
      native_request(held->unit, tr->folder, true);
  pthread_mutex_unlock(&tr->lock);
}

void translate_request(machine *m, tile *t, uint32_t pc)
{
  if (t->num_entries && entry_slot(t, pc)->pc) return;
  if (!is_warm_for_loading(m->translation)) return;
  if (pc % 4 || pc - t->code_start >= t->code_bytes) return;
  if (t->reads_flags == FLAGS_UNKNOWN)
    t->reads_flags = finds_flag_readers(m, t) ? FLAGS_READ : FLAGS_IGNORED;
  add_entry(t, pc, t->reads_flags == FLAGS_READ ? NULL : request_unit(m, t, pc));
}

bool translate_has(const tile *t, const context *c, uint32_t pc)
{
  return find_native(t, c, pc) != NULL;
}

/* Helpers of native code */

/* The window if it lies in `outer`, else none: native code assumes that loads are legal where
 * stores are. */
static window window_inside(window w, window outer)
{
  uint32_t offset = w.start - outer.start;
  bool inside = offset <= outer.size && w.size <= outer.size - offset;
  return inside ? w : (window){0};
}

static window own_state(const translated_frame *frame)
{
  return window_inside(memory_own_state(frame->m, frame->t, frame->c), frame->c->readable);
}

static void set_other(translated_frame *frame, window other)
{
  frame->other_start = other.start;
  frame->other_bytes = other.size;
}

/* Looking for the own state at each call of a vertex would cost more than the call. So it is only
 * done on tiles where some vertex has written its own state. */
static void find_own_state(translated_frame *frame)
{
  if (frame->t->writes_states && !frame->other_bytes) set_other(frame, own_state(frame));
}

/* Remembers the window around an allowed store, so that the next stores near it need not ask. */
static void remember_store(translated_frame *frame, uint32_t start)
{
  window state = own_state(frame);
  bool in_state = start - state.start < state.size;
  if (in_state) frame->t->writes_states = true;
  window data = in_state ? state : memory_data_around(frame->m, frame->t, frame->c, start);
  set_other(frame, window_inside(data, frame->c->readable));
}

uint32_t translated_access(translated_frame *frame, uint32_t start, uint32_t how, uint32_t sp)
{
  uint32_t bytes = how & ACCESS_BYTES, align = how >> ACCESS_ALIGN_SHIFT & 7;
  frame->t->native_questions++;
  if (start & (align - 1) || start + bytes < start) return 0;
  if (!(how & ACCESS_STORE)) return memory_may_load(frame->m, frame->t, start, bytes);
  frame->probe->x[2] = sp;
  frame->probe->vertex_state = frame->c->vertex_state;
  for (uint32_t at = start; at < start + bytes; at += align)
    if (!memory_access(frame->m, frame->t, frame->probe, at, align, true, how & ACCESS_BY_SP))
      return 0;
  remember_store(frame, start);
  return 1;
}

/* Slots from `clock` on to the run's cycle limit. */
static uint64_t slots_allowed(const machine *m, const tile *t, uint64_t clock)
{
  uint64_t limit = cycle_limit(m, t), left = clock < limit ? limit - clock : 0;
  return left / m->target.num_worker_contexts;
}

uint64_t translated_more_time(translated_frame *frame)
{
  uint64_t allowed = slots_allowed(frame->m, frame->t, frame->clock);
  uint64_t added = allowed > frame->limit ? allowed - frame->limit : 0;
  if (added > NATIVE_SLOTS) added = NATIVE_SLOTS;
  frame->limit += added;
  return added;
}

translated_code translated_find(translated_frame *frame, uint32_t pc)
{
  find_own_state(frame);
  translated_code native = find_native(frame->t, frame->c, pc);
  if (native) return native;
  translate_request(frame->m, frame->t, pc);
  return find_native(frame->t, frame->c, pc);
}

static uint32_t float_value(uint32_t id, uint32_t a, uint32_t b, uint32_t c, rounding_mode mode)
{
  const float_format *s = &float_single, *h = &float_half;
  uint32_t flags = 0, ha = float_unbox(a), hb = float_unbox(b), hc = float_unbox(c);
  bool negative = (id == OP_FCVT_S_W || id == OP_FCVT_H_W) && a >> 31;
  uint32_t magnitude = negative ? 0 - a : a;
  switch (id) {
  case OP_FADD_S:
    return float_add(s, a, b, mode, &flags);
  case OP_FSUB_S:
    return float_add(s, a, float_negate(s, b), mode, &flags);
  case OP_FMUL_S:
    return float_multiply(s, a, b, mode, &flags);
  case OP_FDIV_S:
    return float_divide(s, a, b, mode, &flags);
  case OP_FSQRT_S:
    return float_sqrt(s, a, mode, &flags);
  case OP_FMADD_S:
    return float_multiply_add(s, a, b, c, mode, &flags);
  case OP_FMSUB_S:
    return float_multiply_add(s, a, b, float_negate(s, c), mode, &flags);
  case OP_FNMSUB_S:
    return float_multiply_add(s, float_negate(s, a), b, c, mode, &flags);
  case OP_FNMADD_S:
    return float_multiply_add(s, float_negate(s, a), b, float_negate(s, c), mode, &flags);
  case OP_FCVT_S_W:
  case OP_FCVT_S_WU:
    return float_from_integer(s, negative, magnitude, mode, &flags);
  case OP_FCLASS_S:
    return float_classify(s, a);
  case OP_FADD_H:
    return float_box(float_add(h, ha, hb, mode, &flags));
  case OP_FSUB_H:
    return float_box(float_add(h, ha, float_negate(h, hb), mode, &flags));
  case OP_FMUL_H:
    return float_box(float_multiply(h, ha, hb, mode, &flags));
  case OP_FDIV_H:
    return float_box(float_divide(h, ha, hb, mode, &flags));
  case OP_FSQRT_H:
    return float_box(float_sqrt(h, ha, mode, &flags));
  case OP_FMADD_H:
    return float_box(float_multiply_add(h, ha, hb, hc, mode, &flags));
  case OP_FMSUB_H:
    return float_box(float_multiply_add(h, ha, hb, float_negate(h, hc), mode, &flags));
  case OP_FNMSUB_H:
    return float_box(float_multiply_add(h, float_negate(h, ha), hb, hc, mode, &flags));
  case OP_FNMADD_H:
    return float_box(
        float_multiply_add(h, float_negate(h, ha), hb, float_negate(h, hc), mode, &flags));
  case OP_FCVT_H_S:
    return float_box(float_convert(h, s, a, mode, &flags));
  case OP_FCVT_H_W:
  case OP_FCVT_H_WU:
    return float_box(float_from_integer(h, negative, magnitude, mode, &flags));
  default: /* OP_FCLASS_H: all that is left */
    return float_classify(h, ha);
  }
}

uint32_t translated_value(uint32_t id, uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
  switch (id) {
#define VALUE_CASE(id, ...) case OP_##id:
    VALUES(VALUE_CASE)
    return isa_value((isa_op)id, a, b, c);
#define PACKED_CASE(id, ...) case OP_##id:
    PACKED(PACKED_CASE)
    return packed_word((isa_op)id, a, b, &(uint32_t){0});
  default:
    return float_value(id, a, b, c, (rounding_mode)mode);
  }
}

uint64_t translated_copy(translated_frame *frame, uint32_t address, uint32_t rows, uint32_t sp,
                         int64_t left)
{
  block_copy block;
  uint64_t slots = rows ? 0 : block_copy_plain(frame->c, address, left);
  if (slots) return slots + 1;
  frame->c->x[2] = sp; /* the rules for stacks need it */
  if (!block_copy_read(frame->m, frame->t, frame->c, address, rows, &block)) return 0;
  if (left < (int64_t)block.slots) left += (int64_t)translated_more_time(frame);
  if (left < (int64_t)block.slots) return 0;
  block_copy_run(frame->m, frame->t, &block);
  return block.slots + 1;
}

/* Running */

static translated_frame make_frame(machine *m, tile *t, context *c, context *probe)
{
  uint64_t slots = slots_allowed(m, t, c->clock);
  window writable = window_inside(c->writable, c->readable);
  window stack = window_inside(c->stack, c->readable);
  probe->number = c->number;
  return (translated_frame){.c = c,
                            .memory = t->memory - m->target.memory_base,
                            .limit = slots < NATIVE_SLOTS ? slots : NATIVE_SLOTS,
                            .clock = c->clock,
                            .instructions = c->instructions,
                            .slot_cycles = m->target.num_worker_contexts,
                            .stack_end =
                                (uintptr_t)__builtin_frame_address(0) - TRANSLATED_STACK_BYTES,
                            .tile_number = t->number,
                            .random = t->random[c->number],
                            .readable_start = c->readable.start,
                            .readable_bytes = c->readable.size,
                            .writable_start = writable.start,
                            .writable_bytes = writable.size,
                            .stack_start = stack.start,
                            .stack_bytes = stack.size,
                            .m = m,
                            .t = t,
                            .probe = probe};
}

/* Runs the context on native code as long as there is any, and adds its time and instructions.
 * False: nothing was executed. */
static bool run_native(machine *m, tile *t, context *c)
{
  translated_code native = find_native(t, c, c->pc);
  if (!native) return false;
  context probe;
  translated_frame frame = make_frame(m, t, c, &probe);
  find_own_state(&frame);
  uint64_t before;
  guard_set_running(c);
  do {
    before = frame.slots;
    native(&frame);
    native = find_native(t, c, c->pc);
  } while (native && frame.slots != before);
  guard_set_running(NULL);
  c->clock += frame.slots * m->target.num_worker_contexts;
  c->instructions += frame.slots - frame.extra;
  t->instructions += frame.slots - frame.extra;
  return frame.slots != 0;
}

/* Wants native code for a hot place: where the interpreter stays long, or where native code has
 * left to. The latter is the caller of the hot code, which would otherwise call it interpreted
 * again. While native code for the last hot place is being made, no other is wanted: it may be in
 * the same loop. */
static void request_hot(machine *m, tile *t, uint32_t pc)
{
  translation *tr = m->translation;
  native_unit *last = atomic_load_explicit(&tr->hot, memory_order_acquire);
  /* Without a lock if it has its code, as it mostly does: all threads come here for each vertex. */
  if (last && !atomic_load_explicit(&last->native, memory_order_relaxed) && !native_is_done(last))
    return;
  translate_request(m, t, pc);
  if (!t->num_entries) return;
  native_unit *unit = entry_slot(t, pc)->unit;
  if (unit != last) atomic_store_explicit(&tr->hot, unit, memory_order_release);
}

static void note_interpreted(translation *tr, uint64_t instructions)
{
  uint64_t before = atomic_fetch_add(&tr->interpreted, instructions);
  bool becomes_warm = before < tr->warm_up && before + instructions >= tr->warm_up;
  if (becomes_warm && tr->mode == MACHINE_AUTO) request_compiling(tr);
}

stop translate_run(machine *m, tile *t, context *c)
{
  translation *tr = m->translation;
  if (c->number != MACHINE_SUPERVISOR && !watches_calls(m, t)) translate_request(m, t, c->pc);
  for (;;) {
    bool was_native = run_native(m, t, c);
    if (c->returns_to && c->pc == c->returns_to) return STOP_RETURN;
    /* Code with watched calls must not become native (estimate.c). */
    bool calls = watches_calls(m, t) && !c->returns_to;
    if (was_native && !calls && tr->mode == MACHINE_AUTO) request_hot(m, t, c->pc);
    uint64_t before = c->instructions;
    stop why = interpret(m, t, c, SLICE_SLOTS);
    note_interpreted(tr, c->instructions - before);
    calls = watches_calls(m, t) && !c->returns_to;
    if (why == STOP_SLICE && !calls) request_hot(m, t, c->pc);
    if (why != STOP_SLICE && why != STOP_NATIVE) return why;
  }
}
