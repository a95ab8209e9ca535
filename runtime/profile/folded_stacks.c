#include "profile/execution_traces.h"
#include "profile/simulation.h"

#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

/* Cycles by the stack's text. The table and the arena own the texts. */
typedef struct stacks {
  const execution *x;
  pop_arena *arena;
  pop_name_table numbers;
  const char **texts;
  uint64_t *cycles;
  size_t num_texts, texts_capacity, num_cycles, cycles_capacity;
  pop_bytes stack; /* the run and open blocks */
  uint64_t latest; /* end of the steps before */
} stacks;

static void push_part(pop_bytes *stack, const char *name, size_t length)
{
  if (stack->size) pop_bytes_append(stack, ";", 1);
  for (const char *c = name; c < name + length; c++) {
    char put = *c == ';' ? ':' : *c == '\n' || *c == '\r' ? ' ' : *c;
    pop_bytes_append(stack, &put, 1);
  }
}

static void push_frame(pop_bytes *stack, const char *name)
{
  push_part(stack, name, strlen(name));
}

/* Adds a frame for each part between slashes that is not empty: names of copies may begin with a
 * slash. */
static void push_path(pop_bytes *stack, const char *path)
{
  for (size_t length; *path; path += length) {
    path += strspn(path, "/");
    length = strcspn(path, "/");
    if (length) push_part(stack, path, length);
  }
}

static void pop_frame(pop_bytes *stack)
{
  while (stack->size && stack->data[stack->size - 1] != ';') stack->size--;
  if (stack->size) stack->size--;
}

static void add_cycles(stacks *s, uint64_t cycles)
{
  pop_bytes_append(&s->stack, "", 1);
  const char *text = (const char *)s->stack.data;
  uint32_t number = pop_name_table_find(&s->numbers, text);
  if (number == POP_NAME_NONE) {
    number = (uint32_t)s->num_texts;
    const char *kept = pop_arena_strdup(s->arena, text);
    pop_push(s->texts, s->num_texts, s->texts_capacity, kept);
    pop_push(s->cycles, s->num_cycles, s->cycles_capacity, (uint64_t)0);
    pop_name_table_add(&s->numbers, kept, number);
  }
  s->cycles[number] += cycles;
}

static void take_step(void *context, const simulated_step *step)
{
  stacks *s = context;
  uint64_t from = step->from > s->latest ? step->from : s->latest;
  size_t size = s->stack.size;
  if (step->to <= from || step->phase == PHASE_ANS) return; /* other tiles' steps are counted */
  push_path(&s->stack, step->name);
  push_frame(&s->stack, step->kind == EXECUTABLE_STEP_SYNC && step->phase == PHASE_WHOLE &&
                                step->index != ISA_SYNC_INTERNAL
                            ? "External Sync"
                            : simulated_step_type(step));
  add_cycles(s, step->to - from);
  s->stack.size = size;
  s->latest = step->to;
}

static void take_run(void *context, const execution_run *run, uint64_t cycle, bool begins)
{
  stacks *s = context;
  (void)cycle;
  const char *name = s->x->executable->programs[run->program];
  s->stack.size = 0;
  if (begins) push_frame(&s->stack, *name ? name : "run");
}

static void take_block(void *context, const executable_step *block, uint64_t cycle, bool begins)
{
  stacks *s = context;
  (void)cycle;
  if (begins)
    push_frame(&s->stack, block->name);
  else
    pop_frame(&s->stack);
}

void print_folded_stacks(FILE *stream, const execution *x)
{
  simulation_totals totals;
  stacks s = {.x = x, .arena = pop_arena_new()};
  simulate(x, &(simulation_visitor){take_step, take_run, take_block, &s}, &totals);
  for (size_t i = 0; i < s.num_texts; i++)
    fprintf(stream, "%s %llu\n", s.texts[i], (unsigned long long)s.cycles[i]);
  pop_name_table_free(&s.numbers);
  free(s.texts);
  free(s.cycles);
  pop_bytes_free(&s.stack);
  pop_arena_free(s.arena);
}
