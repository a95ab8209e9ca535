/* Lightweight profiling (the Graph Analyser's guide). A few tiles have a buffer of marks, each a
 * number and the cycle counter, for the begin and the end of each timed block.
 *
 *   mark     a3 = rdcycle;  a2 = number;  a1 = routine(a2, a3)
 *   routine  if the buffer is full, it keeps the time of the first mark without room
 *
 * The host empties the buffers whenever all tiles sync with it. Where that would be too seldom the
 * compiler adds a flush: a host sync of its own, which is a block itself. An upper bound of the
 * fill level is tracked along the script: the marks of a loop or a function are known, and of
 * branches the worst counts. A loop that may fill the buffer is flushed every n-th iteration, which
 * all tiles count.
 */
#include "compiler/emit/blocks.h"

#include "compiler/emit/block_tiles.h"
#include "compiler/emit/instrument.h"
#include <assert.h>
#include <stdlib.h>

enum {
  MARK_BYTES = 8,
  HEAD_BYTES = 8,
  FLUSH_MARKS = 2, /* in the buffer after a flush */
  COPIED_MARKS =
      3 /* in the buffer after a stream copy; the host empties it after the copy's first mark */
};

static uint32_t capacity_of(const compilation *c)
{
  return c->options.blocks.buffer_bytes / MARK_BYTES;
}

/* ---- upper bounds of fill levels ---- */

static uint64_t add(uint64_t a, uint64_t b)
{
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t multiply_saturating(uint64_t a, uint64_t b)
{
  return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* The number of marks that the op itself writes. */
static uint64_t marks_of_op(const compilation *c, const script_op *op)
{
  if (op->kind == SCRIPT_BLOCK || op->kind == SCRIPT_BLOCK_END)
    return c->block_is_timed[c->steps[op->step].index];
  return op->kind == SCRIPT_HOST_EXCHANGE && times_streams(c) ? 1 + COPIED_MARKS : 0;
}

/* By op that begins a region: the marks of one pass through its body. */
static uint64_t *count_marks(const compilation *c, const script *s)
{
  uint64_t *marks = pop_xcalloc(s->num_ops + 1, sizeof *marks);
  uint32_t *open = pop_xcalloc(s->num_ops + 1, sizeof *open);
  size_t depth = 0;
  for (uint32_t i = 0; i < s->num_ops; i++) {
    const script_op *op = &s->ops[i];
    uint64_t own = marks_of_op(c, op);
    if (op->kind == SCRIPT_CALL) own = marks[op->match];
    if (op->match != COMPILER_NONE && op->match < i && op->kind != SCRIPT_CALL) {
      uint32_t begin = open[--depth];
      uint64_t inside = marks[begin];
      if (op->kind == SCRIPT_LOOP_END)
        inside = multiply_saturating(inside, c->steps[op->step].count);
      if (op->kind == SCRIPT_WHILE_END && inside) inside = UINT64_MAX;
      own = add(own, inside);
    }
    if (depth) marks[open[depth - 1]] = add(marks[open[depth - 1]], own);
    if (op->match != COMPILER_NONE && op->match > i && op->kind != SCRIPT_CALL) {
      open[depth++] = i;
      if (op->kind == SCRIPT_BLOCK) marks[open[depth - 1]] = 0; /* counted in the parent */
    }
  }
  free(open);
  return marks;
}

/* An open region, and fill levels. */
typedef struct open_fill {
  uint64_t before, most; /* SWITCH */
  uint64_t behind;       /* LOOP, WHILE, SHARED: after its end */
  bool flush_free;       /* no flush inside */
} open_fill;

typedef struct fill_planner {
  const compilation *c;
  const script *s;
  uint64_t *marks;
  uint32_t *every; /* by op: see emitter.flush_every */
  uint64_t capacity, fill;
  open_fill *open;
  size_t depth;
  size_t num_flush_free; /* number of open regions without flushes */
} fill_planner;

static void make_room(fill_planner *p, uint32_t op, uint64_t marks)
{
  if (add(p->fill, marks) <= p->capacity) return;
  p->every[op] = 1;
  p->fill = FLUSH_MARKS;
}

/* A loop whose marks all fit needs no flush. Otherwise there is a flush before it and on every n-th
 * iteration. */
static void enter_loop(fill_planner *p, uint32_t i, open_fill *of)
{
  const script_op *op = &p->s->ops[i];
  uint64_t once = p->marks[i], room = p->capacity - FLUSH_MARKS;
  uint64_t all =
      op->kind == SCRIPT_LOOP ? multiply_saturating(once, p->c->steps[op->step].count) : UINT64_MAX;
  if (once == 0 || add(p->fill, all) <= p->capacity) {
    of->flush_free = true;
    of->behind = once == 0 ? p->fill : p->fill + all;
    return;
  }
  uint64_t passes = room / once;
  /* The WHILE_END is a While's last op; the CASE_END of the body is just before it. */
  uint32_t at = op->kind == SCRIPT_LOOP ? op->match : op->match - 1;
  p->every[i] = 1;
  p->every[at] = passes ? (uint32_t)passes : 1;
  p->fill = FLUSH_MARKS;
  of->flush_free = passes > 0;
  of->behind = passes ? FLUSH_MARKS + passes * once : p->capacity;
}

/* A function: its callers make room for its marks; if they never fit, it flushes first. */
static void enter_function(fill_planner *p, uint32_t i, open_fill *of)
{
  uint64_t once = p->marks[i];
  if (once <= p->capacity - FLUSH_MARKS) {
    make_room(p, i, once);
    of->flush_free = true;
    of->behind = p->fill + once;
    return;
  }
  p->every[i + 1] = 1;
  p->fill = FLUSH_MARKS;
  of->behind = p->capacity;
}

static void call_function(fill_planner *p, uint32_t i)
{
  uint64_t once = p->marks[p->s->ops[i].match];
  if (once > p->capacity - FLUSH_MARKS) {
    p->fill = p->capacity;
    return;
  }
  make_room(p, i, once);
  p->fill += once;
}

static void enter_op(fill_planner *p, uint32_t i)
{
  open_fill of = {.before = p->fill, .most = p->fill, .behind = p->fill};
  if (p->num_flush_free == 0) {
    switch (p->s->ops[i].kind) {
    case SCRIPT_LOOP:
    case SCRIPT_WHILE:
      enter_loop(p, i, &of);
      break;
    case SCRIPT_SHARED:
      enter_function(p, i, &of);
      break;
    default:
      break;
    }
  }
  p->num_flush_free += of.flush_free;
  p->open[p->depth++] = of;
}

static void leave_op(fill_planner *p, uint32_t i)
{
  open_fill of = p->open[--p->depth], *in = p->depth ? &p->open[p->depth - 1] : NULL;
  p->num_flush_free -= of.flush_free;
  if (p->num_flush_free) return;
  switch (p->s->ops[i].kind) {
  case SCRIPT_LOOP_END:
  case SCRIPT_WHILE_END:
  case SCRIPT_SHARED_END:
    p->fill = of.behind;
    return;
  case SCRIPT_CASE_END:
    assert(in); /* its SWITCH or WHILE */
    if (p->fill > in->most) in->most = p->fill;
    if (p->c->steps[p->s->ops[i].step].kind == STEP_SWITCH) p->fill = in->before;
    return;
  case SCRIPT_SWITCH_END:
    p->fill = of.most;
    return;
  default:
    return;
  }
}

static void plan_op(fill_planner *p, uint32_t i)
{
  const script_op *op = &p->s->ops[i];
  uint64_t own = marks_of_op(p->c, op);
  if (p->num_flush_free == 0 && own) {
    make_room(p, i, own);
    p->fill += own;
  }
  if (op->kind == SCRIPT_CALL) {
    if (p->num_flush_free == 0) call_function(p, i);
  } else if (op->match != COMPILER_NONE) {
    if (op->match > i)
      enter_op(p, i);
    else
      leave_op(p, i);
  } else if (p->num_flush_free == 0 &&
             (op->kind == SCRIPT_HOST_EXCHANGE || op->kind == SCRIPT_HOST_EVENT)) {
    p->fill = own ? COPIED_MARKS : 0;
  }
  if (op->kind == SCRIPT_PROGRAM) p->fill = 0;
}

static void plan_flushes(emitter *e)
{
  const script *s = &e->script;
  fill_planner p = {.c = e->c,
                    .s = s,
                    .marks = count_marks(e->c, s),
                    .every = e->flush_every,
                    .capacity = capacity_of(e->c),
                    .open = pop_xcalloc(s->num_ops + 1, sizeof *p.open)};
  for (uint32_t i = 0; i < s->num_ops; i++) plan_op(&p, i);
  free(p.marks);
  free(p.open);
}

void start_blocks(emitter *e)
{
  compilation *c = e->c;
  e->flush_every = pop_xcalloc(e->script.num_ops + 1, sizeof *e->flush_every);
  start_block_tiles(e);
  if (!times_blocks(c) || !c->options.blocks.implicit_flush) return;
  plan_flushes(e);
  pop_push(c->host_events, c->num_host_events, c->host_events_capacity,
           (host_event){.kind = HOST_EVENT_FLUSH, .name = "", .index = COMPILER_NONE});
  e->flush_event = (uint32_t)c->num_host_events;
}

void free_blocks(emitter *e)
{
  free(e->flush_every);
  free_block_tiles(e);
}

/* ---- code ---- */

void put_block_routine(emitter *e)
{
  assembler *a = &e->code;
  if (!has_block_buffer(e)) return;
  uint32_t capacity = capacity_of(e->c);
  place buffer = add_block_buffer(e, (HEAD_BYTES + capacity * MARK_BYTES) / 4);
  e->mark_routine = a->num_words;
  put_address(a, T1, buffer);
  put(a, rv_lw(T0, T1, 0));
  put_constant(a, T2, capacity);
  put(a, rv_branch(OP_BEQ, T0, T2, 7 * 4)); /* full */
  put(a, rv_sh3add(T2, T0, T1));
  put(a, rv_sw(A2, T2, HEAD_BYTES));
  put(a, rv_sw(A3, T2, HEAD_BYTES + 4));
  put(a, rv_addi(T0, T0, 1));
  put(a, rv_sw(T0, T1, 0));
  put(a, rv_jalr(ZERO, A1, 0));
  put(a, rv_lw(T0, T1, 4)); /* full: */
  put(a, rv_branch(OP_BNE, T0, ZERO, 8));
  put(a, rv_sw(A3, T1, 4));
  put(a, rv_jalr(ZERO, A1, 0));
}

/* Writes a mark with the time in a3. */
static void put_timed_mark(emitter *e, uint32_t number, bool ends)
{
  put_constant(&e->code, A2, 2 * number + ends);
  put_jump(&e->code, A1, e->mark_routine);
}

static void put_mark(emitter *e, uint32_t number, bool ends)
{
  put(&e->code, rv_rdcycle(A3));
  put_timed_mark(e, number, ends);
}

void put_block_mark(emitter *e, uint32_t block, bool ends)
{
  if (times_block(e, block)) put_mark(e, MARK_OF_BLOCK(block), ends);
}

static uint32_t stream_number(const emitter *e, uint32_t host_exchange)
{
  return MARK_OF_STREAM(e->c->num_profile_blocks, e->c->host_exchanges[host_exchange].event - 1);
}

void put_stream_mark(emitter *e, uint32_t host_exchange)
{
  if (times_stream(e, host_exchange)) put_mark(e, stream_number(e, host_exchange), false);
}

/* Uses the measured times: the tile does nothing else between the two. */
void put_exchanged_marks(emitter *e, uint32_t host_exchange, place measured)
{
  if (!times_stream(e, host_exchange)) return;
  uint32_t number = stream_number(e, host_exchange);
  for (uint32_t ends = 0; ends < 2; ends++) {
    put_address(&e->code, T1, (place){measured.block, measured.offset + 4 * ends});
    put(&e->code, rv_lw(A3, T1, 0));
    put_timed_mark(e, number + 1, ends);
  }
  put_mark(e, number + 2, true);
}

static void put_flush(emitter *e)
{
  assembler *a = &e->code;
  bool marks = has_block_buffer(e);
  if (marks) put(a, rv_rdcycle(A3));
  put_constant(a, T0, e->flush_event);
  put_tile_op(a, TILE_HOST_SYNC, ZERO, T0, ZERO);
  if (!marks) return;
  put_timed_mark(e, MARK_OF_FLUSH, false);
  put_mark(e, MARK_OF_FLUSH, true);
}

void put_block_flush(emitter *e, uint32_t op)
{
  assembler *a = &e->code;
  uint32_t every = e->flush_every[op];
  if (every <= 1) {
    if (every == 1) put_flush(e);
    return;
  }
  put_address(a, T1, add_result_words(e, 1)); /* passes since the last flush */
  put(a, rv_lw(T0, T1, 0));
  put(a, rv_addi(T0, T0, 1));
  put(a, rv_sw(T0, T1, 0));
  put_constant(a, T2, every);
  size_t branch = a->num_words;
  put(a, 0);
  put(a, rv_sw(ZERO, T1, 0));
  put_flush(e);
  a->words[branch] = rv_branch(OP_BNE, T0, T2, (int32_t)(a->num_words - branch) * 4);
}
