/* Loops and branches in control code, and the marks of blocks.
 *
 *   LOOP      counter = count;  body;  counter -= 1;  back to the body if it is not 0
 *   SWITCH    t0 = control
 *     CASE      if t0 != value: to the next case;  body;  to the end
 *     default   body
 *   WHILE     condition;  t0 = control;  if it says so: to the end;  body;  back to the condition
 *
 * Loop counters are in s1 … s11, by height: an innermost loop has s1, the loop around it s2, and so
 * on. The height includes the loops of called steps, so no two running loops share a register.
 * Higher loops have their counter on the stack.
 *
 * A loop or switch in which this tile has nothing to do is left out. A While is never left out,
 * because it might not end.
 */
#include "compiler/emit/flow.h"
#include "compiler/emit/blocks.h"
#include "compiler/emit/instrument.h"

#include <assert.h>
#include <stdlib.h>

enum { NO_JUMP = 0 }; /* position 0 holds the entry code */

static uint32_t counter_register(uint32_t height)
{
  return height == 1 ? S1 : S2 + height - 2;
}

/* ---- forward jumps to an end that has no position yet ---- */

static void put_jump_to_end(assembler *a, open_flow *of)
{
  size_t at = a->num_words;
  put(a, (uint32_t)of->last_jump);
  of->last_jump = at;
}

static void set_jumps(assembler *a, const open_flow *of)
{
  for (size_t at = of->last_jump; at != NO_JUMP;) {
    size_t before = a->words[at];
    a->words[at] = jump_word(a, ZERO, at, a->num_words);
    at = before;
  }
}

/* Removes an empty loop or branch. Blocks inside it, in which this tile has nothing to do, become
 * empty at its position. */
static void remove_empty_flow(emitter *e, const open_flow *of)
{
  assembler *a = &e->code;
  a->num_words = of->before;
  a->num_patches = of->patches_before;
  uint32_t here = (uint32_t)of->before * 4;
  for (size_t i = e->c->num_block_marks; i > e->c->tiles[e->tile].first_mark; i--) {
    block_mark *mark = &e->c->block_marks[i - 1];
    if (mark->end <= here) return;
    mark->begin = mark->end = here;
  }
}

/* ---- counted loops ---- */

static void begin_loop(emitter *e, const script_op *loop)
{
  assembler *a = &e->code;
  uint32_t count = e->c->steps[loop->step].count;
  if (loop->height <= SCRIPT_MAX_REGISTER_LOOP_HEIGHT) {
    put_constant(a, counter_register(loop->height), count);
  } else {
    put_constant(a, T0, count);
    put_push(a, T0);
  }
}

static void put_branch_back(assembler *a, uint32_t counter, size_t to)
{
  size_t bytes_back = (a->num_words - to) * 4;
  if (bytes_back <= BRANCH_REACH_BYTES) {
    put(a, rv_branch(OP_BNE, counter, ZERO, -(int32_t)bytes_back));
    return;
  }
  put(a, rv_branch(OP_BEQ, counter, ZERO, 8));
  put_jump(a, ZERO, to);
}

static void end_loop(emitter *e, const open_flow *of)
{
  assembler *a = &e->code;
  if (a->num_words == of->body) {
    remove_empty_flow(e, of);
    return;
  }
  uint32_t height = e->script.ops[of->op].height;
  if (height <= SCRIPT_MAX_REGISTER_LOOP_HEIGHT) {
    uint32_t counter = counter_register(height);
    put(a, rv_addi(counter, counter, -1));
    put_branch_back(a, counter, of->body);
    return;
  }
  put(a, rv_lw(T0, SP, 0));
  put(a, rv_addi(T0, T0, -1));
  put(a, rv_sw(T0, SP, 0));
  put_branch_back(a, T0, of->body);
  put(a, rv_addi(SP, SP, 4));
}

/* ---- branches ---- */

static const control *control_of(const emitter *e, const script_op *op)
{
  return &e->c->controls[e->c->steps[op->step].index];
}

static void put_load_control(emitter *e, const control *decides)
{
  static const isa_op loads[][2] = {
      [1] = {OP_LBU, OP_LB}, [2] = {OP_LHU, OP_LH}, [4] = {OP_LW, OP_LW}};
  put_address(&e->code, T0, control_place(decides, e->tile));
  bool is_signed = pop_type_is_signed_integer(decides->type);
  isa_op load = loads[pop_type_bytes(decides->type)][is_signed];
  put(&e->code, isa_word(load, T0, T0, 0, 0));
}

static bool is_default(const emitter *e, const script_op *op)
{
  const step *s = &e->c->steps[op->step];
  return op->child + 1 == s->num_children;
}

/* If the value is another one, the case jumps to its own end. */
static void begin_case(flow *f, open_flow *of, const script_op *op)
{
  emitter *e = f->e;
  assembler *a = &e->code;
  const step *s = &e->c->steps[op->step];
  const control *decides = control_of(e, op);
  if (s->kind == STEP_WHILE) {
    put_load_control(e, decides);
    put(a, rv_branch(s->count ? OP_BNE : OP_BEQ, T0, ZERO, 8));
    put_jump_to_end(a, &f->open[f->num_open - 1]);
  } else if (!is_default(e, op)) {
    uint32_t value = e->c->case_values[decides->first_value + op->child];
    if (value) put_constant(a, T1, value);
    put(a, rv_branch(OP_BEQ, T0, value ? T1 : ZERO, 8));
    put_jump_to_end(a, of);
  }
}

/* An empty case jumps to the end of the Switch at once: its test is inverted. */
static void invert_test(assembler *a, const open_flow *of, open_flow *parent)
{
  size_t jump = of->body - 1, branch = of->body - 2;
  a->words[branch] ^= isa_rows[OP_BEQ].match ^ isa_rows[OP_BNE].match;
  a->words[jump] = (uint32_t)parent->last_jump;
  parent->last_jump = jump;
}

static void end_case(flow *f, const open_flow *of)
{
  assembler *a = &f->e->code;
  const script_op *op = &f->e->script.ops[of->op];
  open_flow *parent = &f->open[f->num_open - 1];
  bool empty = a->num_words == of->body;
  parent->does_something |= !empty;
  if (f->e->c->steps[op->step].kind == STEP_WHILE || is_default(f->e, op)) return;
  if (empty) {
    invert_test(a, of, parent);
    return;
  }
  put_jump_to_end(a, parent);
  set_jumps(a, of);
}

/* ---- blocks of programs: no code, only marks ---- */

static void add_mark(emitter *e, const open_flow *of)
{
  compilation *c = e->c;
  block_mark mark = {.block = c->steps[e->script.ops[of->op].step].index,
                     .begin = (uint32_t)of->body * 4,
                     .end = (uint32_t)e->code.num_words * 4};
  pop_push(c->block_marks, c->num_block_marks, c->block_marks_capacity, mark);
}

/* ---- all kinds ---- */

static void begin_flow(flow *f, uint32_t number)
{
  emitter *e = f->e;
  assembler *a = &e->code;
  const script_op *op = &e->script.ops[number];
  open_flow of = {.op = number, .before = a->num_words, .patches_before = a->num_patches};
  if (op->kind == SCRIPT_LOOP) begin_loop(e, op);
  if (op->kind == SCRIPT_SWITCH) put_load_control(e, control_of(e, op));
  if (op->kind == SCRIPT_CASE) begin_case(f, &of, op);
  of.body = a->num_words;
  if (op->kind == SCRIPT_CASE) put_branch_taken(e, op->child);
  if (op->kind == SCRIPT_BLOCK) put_block_mark(e, e->c->steps[op->step].index, false);
  pop_push(f->open, f->num_open, f->open_capacity, of);
}

static void end_flow(flow *f, uint32_t kind)
{
  assembler *a = &f->e->code;
  assert(f->num_open > 0); /* regions are properly nested */
  open_flow of = f->open[--f->num_open];
  switch (kind) {
  case SCRIPT_BLOCK_END:
    put_block_mark(f->e, f->e->c->steps[f->e->script.ops[of.op].step].index, true);
    add_mark(f->e, &of);
    return;
  case SCRIPT_LOOP_END:
    end_loop(f->e, &of);
    return;
  case SCRIPT_CASE_END:
    end_case(f, &of);
    return;
  case SCRIPT_SWITCH_END:
    if (of.does_something)
      set_jumps(a, &of);
    else
      remove_empty_flow(f->e, &of);
    return;
  default: /* SCRIPT_WHILE_END */
    put_jump(a, ZERO, of.body);
    set_jumps(a, &of);
    put_branch_taken(f->e, 0); /* the body was not taken */
    return;
  }
}

void put_flow(flow *f, uint32_t op)
{
  const script_op *at = &f->e->script.ops[op];
  if (at->match > op)
    begin_flow(f, op);
  else
    end_flow(f, at->kind);
}

void flow_free(flow *f)
{
  free(f->open);
  *f = (flow){0};
}
