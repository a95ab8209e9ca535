/* Builds the flat list of steps (script.h shows it). The walk over the DAG has an explicit stack,
 * since programs may be nested deeper than the host's stack allows. */
#include "compiler/script.h"

#include <assert.h>
#include <stdlib.h>

/* A step or program whose children are being walked. */
typedef struct frame {
  uint32_t begin; /* its LOOP, SHARED, … op; COMPILER_NONE: a plain sequence */
  uint32_t step;  /* whose children come next */
  size_t next_child, num_children;
  uint32_t height, stack_bytes; /* maxima of its contents so far */
  bool calls;
} frame;

typedef struct builder {
  const compilation *c;
  script *s;
  frame *frames;
  size_t num_frames, frames_capacity;
  uint32_t *shared_op; /* by step: its SHARED op, or COMPILER_NONE */
} builder;

static uint32_t push_op(builder *b, script_op_kind kind, uint32_t step)
{
  assert(b->s->num_ops < COMPILER_NONE);
  pop_push(b->s->ops, b->s->num_ops, b->s->ops_capacity,
           (script_op){.kind = kind, .step = step, .match = COMPILER_NONE});
  return (uint32_t)(b->s->num_ops - 1);
}

static void push_frame(builder *b, uint32_t begin, uint32_t step, size_t num_children)
{
  pop_push(b->frames, b->num_frames, b->frames_capacity,
           (frame){.begin = begin, .step = step, .num_children = num_children});
}

static void raise_to(uint32_t *maximum, uint32_t value)
{
  if (*maximum < value) *maximum = value;
}

/* Adds to the maxima of the innermost open frame. */
static void raise_maxima(builder *b, uint32_t height, uint32_t stack_bytes, bool call)
{
  frame *f = &b->frames[b->num_frames - 1];
  raise_to(&f->height, height);
  raise_to(&f->stack_bytes, stack_bytes);
  f->calls |= call;
}

/* Appends a step: a leaf as an op, anything else as a frame whose children follow. */
static void open_step(builder *b, uint32_t index)
{
  const step *s = &b->c->steps[index];
  switch (s->kind) {
  case STEP_EXECUTE:
    push_op(b, SCRIPT_EXECUTE, index);
    if (s->calls_supervisor) raise_maxima(b, 0, SCRIPT_VERTEX_CALL_BYTES, true);
    return;
  case STEP_EXCHANGE:
    push_op(b, SCRIPT_EXCHANGE, index);
    return;
  case STEP_SYNC:
    push_op(b, SCRIPT_SYNC, index);
    return;
  case STEP_WRITE_UNDEF:
    push_op(b, SCRIPT_WRITE_UNDEF, index);
    return;
  case STEP_HOST_EXCHANGE:
    push_op(b, SCRIPT_HOST_EXCHANGE, index);
    return;
  case STEP_HOST_EVENT:
    push_op(b, SCRIPT_HOST_EVENT, index);
    return;
  case STEP_SWITCH:
    push_frame(b, push_op(b, SCRIPT_SWITCH, index), index, s->num_children);
    return;
  case STEP_WHILE:
    push_frame(b, push_op(b, SCRIPT_WHILE, index), index, s->num_children);
    return;
  case STEP_BLOCK:
    push_frame(b, push_op(b, SCRIPT_BLOCK, index), index, s->num_children);
    return;
  case STEP_SEQUENCE:
    push_frame(b, COMPILER_NONE, index, s->num_children);
    return;
  case STEP_REPEAT:
    if (s->count == 0) return;
    push_frame(b, s->count > 1 ? push_op(b, SCRIPT_LOOP, index) : COMPILER_NONE, index,
               s->num_children);
    return;
  }
}

static void enter_step(builder *b, uint32_t index)
{
  if (b->c->steps[index].num_uses <= 1) {
    open_step(b, index);
    return;
  }
  uint32_t shared = b->shared_op[index];
  if (shared != COMPILER_NONE) {
    const script_op op = b->s->ops[shared];
    uint32_t call = push_op(b, SCRIPT_CALL, index);
    b->s->ops[call].match = shared;
    raise_maxima(b, op.height, op.stack_bytes, true);
    return;
  }
  shared = push_op(b, SCRIPT_SHARED, index);
  b->shared_op[index] = shared;
  push_frame(b, shared, index, 0);
  open_step(b, index);
}

/* Enters the next child of the innermost frame. A branch of a Switch and the body of a While are
 * put in a CASE. */
static void enter_child(builder *b)
{
  frame *f = &b->frames[b->num_frames - 1];
  uint32_t number = (uint32_t)f->next_child++, index = f->step;
  const step *s = &b->c->steps[index];
  uint32_t child = b->c->children[s->first_child + number];
  if (s->kind == STEP_SWITCH || (s->kind == STEP_WHILE && number == 1)) {
    uint32_t begin = push_op(b, SCRIPT_CASE, index);
    b->s->ops[begin].child = number;
    push_frame(b, begin, COMPILER_NONE, 0);
  }
  enter_step(b, child);
}

/* Emits the end of the innermost frame and adds its measures to the enclosing frame. */
static void close_frame(builder *b)
{
  const frame f = b->frames[--b->num_frames];
  uint32_t height = f.height, stack_bytes = f.stack_bytes;
  bool call = f.calls;
  if (f.begin != COMPILER_NONE) {
    script_op *begin = &b->s->ops[f.begin];
    if (begin->kind == SCRIPT_LOOP) {
      height++;
      if (height > SCRIPT_MAX_REGISTER_LOOP_HEIGHT) stack_bytes += 4;
    } else if (begin->kind == SCRIPT_SHARED) {
      begin->calls = f.calls;
      if (f.calls) stack_bytes += 4;
      call = true;
    }
    begin->height = height;
    begin->stack_bytes = stack_bytes;
    static const uint8_t end_of[] = {
        [SCRIPT_LOOP] = SCRIPT_LOOP_END,     [SCRIPT_SWITCH] = SCRIPT_SWITCH_END,
        [SCRIPT_WHILE] = SCRIPT_WHILE_END,   [SCRIPT_CASE] = SCRIPT_CASE_END,
        [SCRIPT_SHARED] = SCRIPT_SHARED_END, [SCRIPT_PROGRAM] = SCRIPT_PROGRAM_END,
        [SCRIPT_BLOCK] = SCRIPT_BLOCK_END};
    uint32_t end = push_op(b, end_of[begin->kind], begin->step);
    b->s->ops[end].match = f.begin;
    b->s->ops[f.begin].match = end;
    if (b->s->ops[f.begin].kind == SCRIPT_SHARED)
      pop_push(b->s->shared, b->s->num_shared, b->s->shared_capacity, f.begin);
  }
  if (b->num_frames) raise_maxima(b, height, stack_bytes, call);
}

void script_build(const compilation *c, script *s)
{
  *s = (script){0};
  builder b = {.c = c, .s = s, .shared_op = pop_xcalloc(c->num_steps + 1, sizeof *b.shared_op)};
  for (size_t i = 0; i < c->num_steps; i++) b.shared_op[i] = COMPILER_NONE;
  for (uint32_t p = 0; p < c->num_control_programs; p++) {
    push_frame(&b, push_op(&b, SCRIPT_PROGRAM, p), COMPILER_NONE, 0);
    enter_step(&b, c->control_programs[p]);
    while (b.num_frames) {
      frame *f = &b.frames[b.num_frames - 1];
      if (f->next_child == f->num_children)
        close_frame(&b);
      else
        enter_child(&b);
    }
  }
  free(b.frames);
  free(b.shared_op);
}

const step *script_accesses(const compilation *c, const script *s, uint32_t op)
{
  const script_op *at = &s->ops[op];
  const step *of = &c->steps[at->step];
  switch ((script_op_kind)at->kind) {
  case SCRIPT_EXECUTE:
  case SCRIPT_EXCHANGE:
  case SCRIPT_WRITE_UNDEF:
  case SCRIPT_HOST_EXCHANGE:
  case SCRIPT_HOST_EVENT:
  case SCRIPT_SWITCH:
    return of;
  case SCRIPT_CASE:
    return of->kind == STEP_WHILE ? of : NULL;
  default:
    return NULL;
  }
}

void script_free(script *s)
{
  free(s->ops);
  free(s->shared);
  *s = (script){0};
}

uint32_t script_stack_bytes(const script *s)
{
  uint32_t bytes = 0;
  for (size_t i = 0; i < s->num_ops; i++)
    if (s->ops[i].kind == SCRIPT_PROGRAM) raise_to(&bytes, s->ops[i].stack_bytes);
  return bytes;
}
