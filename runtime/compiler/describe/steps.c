/* The programs of an executable, as profiles number them, from the script. Each op of the script
 * that is no end becomes a step. A shared step becomes a function, which is also called where the
 * script has it. */
#include "compiler/describe/describe.h"
#include "compiler/emit/emit.h"
#include "compiler/script.h"

#include <assert.h>
#include <stdlib.h>

/* A step whose children are being added. */
typedef struct open_step {
  uint32_t number;
  uint32_t *children;
  size_t num_children, children_capacity;
} open_step;

typedef struct step_describer {
  const compilation *c;
  pop_executable *e;
  open_step *open; /* innermost last */
  size_t num_open, open_capacity;
  uint32_t *function_of; /* by script op: the function of a SHARED op */
  uint32_t op;           /* the op that is being described */
} step_describer;

static uint32_t add_step(step_describer *d, executable_step_kind kind, const char *name,
                         uint32_t index)
{
  pop_executable *e = d->e;
  uint32_t number = (uint32_t)e->num_steps;
  pop_push(e->steps, e->num_steps, e->steps_capacity,
           (executable_step){.kind = kind,
                             .name = pop_arena_strdup(e->arena, name),
                             .index = index,
                             .position = d->op});
  return number;
}

static void add_child(step_describer *d, uint32_t child)
{
  assert(d->open && d->num_open > 0);
  open_step *in = &d->open[d->num_open - 1];
  pop_push(in->children, in->num_children, in->children_capacity, child);
}

static void open(step_describer *d, uint32_t number)
{
  pop_push(d->open, d->num_open, d->open_capacity, (open_step){.number = number});
}

/* All children of the innermost open step have been added. */
static void close(step_describer *d)
{
  assert(d->open && d->num_open > 0);
  open_step done = d->open[--d->num_open];
  pop_executable *e = d->e;
  executable_step *step = &e->steps[done.number];
  step->first_child = e->num_step_children;
  step->num_children = (uint32_t)done.num_children;
  for (size_t i = 0; i < done.num_children; i++)
    pop_push(e->step_children, e->num_step_children, e->step_children_capacity, done.children[i]);
  free(done.children);
}

/* Adds a child with children and opens it. `holds_sequence`: its only child is a sequence, which is
 * opened as well. */
static void open_child(step_describer *d, executable_step_kind kind, const char *name,
                       uint32_t index, bool holds_sequence)
{
  uint32_t number = add_step(d, kind, name, index);
  add_child(d, number);
  open(d, number);
  if (!holds_sequence) return;
  uint32_t body = add_step(d, EXECUTABLE_STEP_SEQUENCE, "", 0);
  add_child(d, body);
  open(d, body);
}

static void begin(step_describer *d, uint32_t op_number, const script_op *op)
{
  const compilation *c = d->c;
  pop_executable *e = d->e;
  const step *s = op->kind == SCRIPT_PROGRAM ? NULL : &c->steps[op->step];
  switch ((script_op_kind)op->kind) {
  case SCRIPT_PROGRAM: {
    uint32_t root = add_step(d, EXECUTABLE_STEP_SEQUENCE, c->program_names[op->step], 0);
    pop_push(e->control_steps, e->num_control_steps, e->control_steps_capacity, root);
    open(d, root);
    return;
  }
  case SCRIPT_SHARED: {
    uint32_t function = d->function_of[op_number];
    add_child(d, add_step(d, EXECUTABLE_STEP_CALL, s->name, function));
    e->functions[function] = add_step(d, EXECUTABLE_STEP_SEQUENCE, s->name, 0);
    open(d, e->functions[function]);
    return;
  }
  case SCRIPT_LOOP:
    open_child(d, EXECUTABLE_STEP_REPEAT, s->name, 0, true);
    e->steps[d->open[d->num_open - 2].number].count = s->count;
    return;
  case SCRIPT_SWITCH:
    if (s->count) add_child(d, add_step(d, EXECUTABLE_STEP_SET_CONSENSUS, s->name, 0));
    open_child(d, s->count ? EXECUTABLE_STEP_IF : EXECUTABLE_STEP_SWITCH, s->name, 0, false);
    return;
  case SCRIPT_WHILE:
    open_child(d, s->count ? EXECUTABLE_STEP_WHILE_TRUE : EXECUTABLE_STEP_WHILE_FALSE, s->name, 0,
               true); /* the condition's sequence ends where the CASE begins */
    return;
  case SCRIPT_CASE:
    if (s->kind == STEP_WHILE) close(d);
    open_child(d, EXECUTABLE_STEP_SEQUENCE, "", 0, false);
    return;
  case SCRIPT_BLOCK:
    open_child(d, EXECUTABLE_STEP_BLOCK, s->name, s->index, true);
    return;
  default:
    assert(!"a beginning");
  }
}

static void end(step_describer *d, script_op_kind kind)
{
  close(d);
  if (kind == SCRIPT_LOOP_END || kind == SCRIPT_BLOCK_END) close(d); /* after its sequence */
}

static void add_leaf(step_describer *d, const script_op *op)
{
  const compilation *c = d->c;
  const step *s = &c->steps[op->step];
  executable_step_kind kind = EXECUTABLE_STEP_WRITE_UNDEF;
  const char *name = s->name;
  uint32_t index = s->index;
  switch ((script_op_kind)op->kind) {
  case SCRIPT_EXECUTE:
    kind = EXECUTABLE_STEP_EXECUTE;
    name = profiled_set_name(&c->compute_sets[index]);
    break;
  case SCRIPT_EXCHANGE:
    kind = c->exchanges[index].zone == EXCHANGE_WITHIN_IPUS ? EXECUTABLE_STEP_EXCHANGE
                                                            : EXECUTABLE_STEP_GLOBAL_EXCHANGE;
    name = profiled_exchange_name(&c->exchanges[index]);
    break;
  case SCRIPT_SYNC:
    kind = EXECUTABLE_STEP_SYNC;
    break;
  case SCRIPT_HOST_EXCHANGE:
    kind = EXECUTABLE_STEP_STREAM_COPY;
    name = c->host_exchanges[index].name;
    index = c->host_exchanges[index].event - 1;
    break;
  case SCRIPT_HOST_EVENT:
    index--;
    kind = c->host_events[index].kind == HOST_EVENT_ABORT ? EXECUTABLE_STEP_ABORT
                                                          : EXECUTABLE_STEP_STREAM_COPY;
    name = c->host_events[index].name;
    break;
  case SCRIPT_CALL:
    kind = EXECUTABLE_STEP_CALL;
    index = d->function_of[op->match];
    break;
  default: /* WRITE_UNDEF */
    index = 0;
    break;
  }
  add_child(d, add_step(d, kind, name, index));
}

void describe_steps(const compilation *c, pop_executable *e)
{
  script s;
  script_build(c, &s);
  step_describer d = {
      .c = c, .e = e, .function_of = pop_xcalloc(s.num_ops + 1, sizeof *d.function_of)};
  for (uint32_t i = 0; i < s.num_shared; i++) {
    d.function_of[s.shared[i]] = i;
    pop_push(e->functions, e->num_functions, e->functions_capacity, 0);
  }
  for (uint32_t i = 0; i < s.num_ops; i++) {
    const script_op *op = &s.ops[i];
    d.op = i;
    if (op->match == COMPILER_NONE || op->kind == SCRIPT_CALL)
      add_leaf(&d, op);
    else if (op->match > i)
      begin(&d, i, op);
    else
      end(&d, (script_op_kind)op->kind);
  }
  assert(d.num_open == 0);
  free(d.open);
  free(d.function_of);
  script_free(&s);
}

/* ---- what is acknowledged ---- */

static int compare_rows(const void *a, const void *b)
{
  const executable_acknowledged *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  if (x->last != y->last) return x->last < y->last ? -1 : 1;
  return x->first_tile < y->first_tile ? -1 : x->first_tile > y->first_tile;
}

void describe_acknowledged(const compilation *c, pop_executable *e)
{
  for (size_t i = 0; i < c->num_acknowledged; i++) {
    const acknowledged_row *row = &c->acknowledged[i];
    pop_push(e->acknowledged, e->num_acknowledged, e->acknowledged_capacity,
             (executable_acknowledged){row->first, row->last, row->first_tile, row->num_tiles});
  }
  if (e->num_acknowledged)
    qsort(e->acknowledged, e->num_acknowledged, sizeof *e->acknowledged, compare_rows);
}

/* ---- what is measured ---- */

void describe_measures(const compilation *c, pop_executable *e)
{
  e->instrumentation = c->options.instrumentation;
  for (size_t i = 0; i < c->num_measures; i++) {
    const tile_measure *m = &c->measures[i];
    pop_push(e->measures, e->num_measures, e->measures_capacity,
             (executable_measure){.kind = m->kind,
                                  .index = m->kind == MEASURE_HOST_EXCHANGE
                                               ? c->host_exchanges[m->index].event - 1
                                               : m->index,
                                  .tile = m->tile,
                                  .address = place_address(c, m->at),
                                  .words = m->words,
                                  .overhead = m->overhead});
  }
}

/* ---- exchanges ---- */

static void add_part(pop_executable *e, executable_exchange_part part)
{
  pop_push(e->exchange_parts, e->num_exchange_parts, e->exchange_parts_capacity, part);
}

void describe_exchanges(const compilation *c, pop_executable *e)
{
  for (size_t i = 0; i < c->num_exchanges; i++) {
    const exchange *x = &c->exchanges[i];
    pop_push(e->exchanges, e->num_exchanges, e->exchanges_capacity,
             (executable_exchange){.name = pop_arena_strdup(e->arena, profiled_exchange_name(x)),
                                   .zone = x->zone,
                                   .first_part = e->num_exchange_parts,
                                   .num_parts = x->num_tiles,
                                   .link_bytes = x->link_bytes,
                                   .gateway_bytes = x->gateway_bytes});
    for (size_t t = 0; t < x->num_tiles; t++) {
      const tile_exchange *part = &c->tile_exchanges[x->first_tile + t];
      add_part(e, (executable_exchange_part){part->tile, part->cycles, part->bytes_sent,
                                             part->bytes_received});
    }
  }
}

void describe_host_parts(const compilation *c, const host_exchange *x, executable_event *event,
                         pop_executable *e)
{
  const host_packet *packets = c->host_packets + x->first_packet;
  assert(packets || x->num_packets == 0);
  event->first_part = e->num_exchange_parts;
  for (size_t i = 0; i < x->num_packets; i++) {
    const host_packet *p = &packets[i], *before = NULL;
    if (i > 0 && packets[i - 1].tile == p->tile) before = &packets[i - 1];
    if (!before) add_part(e, (executable_exchange_part){.tile = p->tile, .cycles = 1}); /* end */
    executable_exchange_part *part = &e->exchange_parts[e->num_exchange_parts - 1];
    uint64_t bytes = (uint64_t)p->row_bytes * p->rows;
    part->cycles += 1 + packet_begins_record(before, p);
    *(p->to_tile ? &part->bytes_received : &part->bytes_sent) += bytes;
  }
  event->num_parts = e->num_exchange_parts - event->first_part;
}
