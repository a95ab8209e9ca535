/* Makes several processes one program.
 *
 * interpreter.run_parallel says which function each process runs, by replica and partition. Each
 * process in turn runs up to its next operation that waits for other processes. When all of a group
 * are there, that operation is replaced by ordinary ones on their values: an all_gather by a
 * concatenate, an all_reduce by maps of the region, and so on. An infeed takes the results of the
 * next function in `infeed`. Messages are received in the order in which they were sent.
 *
 * Operations that wait must not be in regions. verify.c reports those that are.
 *
 * This file has the processes, their messages and infeeds; parallel_collectives.c what groups do
 * together; parallel_operations.c the operations that are made for that. */
#include "models/parallel.h"

#include <stdlib.h>
#include <string.h>

/* ---- infeed, send and receive ---- */

static value *make_token(parallel *p, const operation *by, const model_type *type)
{
  return parallel_op(p, by, OP_CREATE_TOKEN, NULL, 0, type)->results[0];
}

/* The results of the next function in `infeed`, then a token. */
static pop_error *take_infeed(parallel *p, process *one)
{
  module *m = p->in->m;
  const operation *op = one->at;
  if (!p->infeed || p->next_infeed == p->infeed->num_items)
    return model_error(m, op->offset, "%s: nothing is left to feed", op->name);
  function *f = module_find(
      m, p->infeed->items[p->next_infeed].text ? p->infeed->items[p->next_infeed].text : "");
  p->next_infeed++;
  if (!f || f->body.num_arguments || f->num_results + 1 != op->num_results)
    return model_error(m, op->offset, "%s: the function that feeds it gives something else",
                       op->name);
  POP_TRY(module_inline(m, f));
  copy_map inside = {pop_xcalloc(f->num_values + 1, sizeof *inside.values)};
  pop_error *error = NULL;
  for (const operation *at = f->body.first; at != f->body.last && !error; at = at->next)
    error = inline_copy(p->in, &inside, at, p->to);
  for (size_t i = 0; i < f->num_results && !error; ++i)
    parallel_set_result(one, i, inline_mapped(&inside, f->body.last->operands[i]));
  free(inside.values);
  if (error) return error;
  parallel_set_result(one, f->num_results, make_token(p, op, op->results[f->num_results]->type));
  return parallel_check_results(p, one);
}

static void send(parallel *p, process *one)
{
  const operation *op = one->at;
  message m = {.channel = parallel_channel(op)};
  m.count = op->num_operands ? op->num_operands - 1 : 0;
  m.values = pop_arena_alloc(p->in->m->arena, (m.count + 1) * sizeof *m.values);
  for (size_t i = 0; i < m.count; ++i) m.values[i] = parallel_operand(one, i);
  pop_push(p->messages, p->num_messages, p->messages_capacity, m);
}

static pop_error *receive(parallel *p, process *one, bool *moved)
{
  const operation *op = one->at;
  for (size_t i = 0; i < p->num_messages; ++i) {
    message *m = &p->messages[i];
    if (m->taken || m->channel != parallel_channel(op)) continue;
    if (m->count + 1 != op->num_results)
      return model_error(p->in->m, op->offset, "%s receives %zu values, and %zu were sent",
                         op->name, op->num_results - 1, m->count);
    m->taken = true;
    for (size_t k = 0; k < m->count; ++k) parallel_set_result(one, k, m->values[k]);
    parallel_set_result(one, m->count, make_token(p, op, op->results[m->count]->type));
    POP_TRY(parallel_check_results(p, one));
    one->at = op->next;
    *moved = true;
    return NULL;
  }
  return NULL;
}

/* ---- processes ---- */

/* Runs one operation unless it must wait. */
static pop_error *step(parallel *p, process *one, bool *moved)
{
  const operation *op = one->at;
  if (parallel_waits(op->code)) return parallel_try_collective(p, one, moved);
  switch (op->code) {
  case OP_RECV:
    return receive(p, one, moved);
  case OP_INFEED:
    POP_TRY(take_infeed(p, one));
    break;
  case OP_SEND:
    send(p, one);
    /* fall through */
  case OP_OUTFEED: /* nobody reads it */
    if (op->num_results) parallel_set_result(one, 0, make_token(p, op, op->results[0]->type));
    break;
  case OP_REPLICA_ID:
  case OP_PARTITION_ID:
    if (op->num_results == 1)
      parallel_set_result(
          one, 0,
          parallel_constant(p, op, op->results[0]->type,
                            op->code == OP_REPLICA_ID ? one->replica : one->partition));
    break;
  default:
    POP_TRY(inline_copy(p->in, &one->map, op, p->to));
  }
  one->at = op->next;
  *moved = true;
  return NULL;
}

static pop_error *run(parallel *p)
{
  size_t done = 0;
  while (done < p->num_processes) {
    bool any = false;
    done = 0;
    for (size_t i = 0; i < p->num_processes; ++i) {
      process *one = &p->processes[i];
      for (bool moved = true; moved && one->at != one->f->body.last; any = any || moved) {
        moved = false;
        POP_TRY(step(p, one, &moved));
      }
      done += one->at == one->f->body.last;
    }
    if (done < p->num_processes && !any)
      return model_error(p->in->m, p->op->offset,
                         "%s: all processes wait for each other, the first one in %s", p->op->name,
                         p->processes[0].at->name);
  }
  return NULL;
}

static pop_error *start_process(parallel *p, const copy_map *map, size_t number, const char *name,
                                size_t *operand)
{
  module *m = p->in->m;
  process *one = &p->processes[number];
  one->f = module_find(m, name);
  if (!one->f) return model_error(m, p->op->offset, "there is no function @%s", name);
  for (size_t i = 0; i < p->in->depth; ++i)
    if (p->in->stack[i] == one->f)
      return model_error(m, p->op->offset, "@%s calls itself: recursion is not supported", name);
  POP_TRY(module_inline(m, one->f));
  one->replica = (int64_t)number / p->num_partitions;
  one->partition = (int64_t)number % p->num_partitions;
  one->at = one->f->body.first;
  one->map.values = pop_xcalloc(one->f->num_values + 1, sizeof *one->map.values);
  for (size_t i = 0; i < one->f->body.num_arguments; ++i) {
    const value *argument = one->f->body.arguments[i];
    if (*operand == p->op->num_operands ||
        !type_equal(p->op->operands[*operand]->type, argument->type))
      return model_error(m, p->op->offset, "%s: argument %zu of @%s is missing, or of another type",
                         p->op->name, i, name);
    one->map.values[argument->number] = inline_mapped(map, p->op->operands[(*operand)++]);
  }
  return NULL;
}

static pop_error *start(parallel *p, const copy_map *map)
{
  module *m = p->in->m;
  const attribute *programs = op_attribute(p->op, "programs");
  if (!programs || programs->kind != ATTRIBUTE_ARRAY || !programs->num_items ||
      programs->items[0].kind != ATTRIBUTE_ARRAY || !programs->items[0].num_items)
    return model_error(m, p->op->offset, "%s: programs is a matrix of functions", p->op->name);
  p->num_replicas = (int64_t)programs->num_items;
  p->num_partitions = (int64_t)programs->items[0].num_items;
  p->num_processes = (size_t)(p->num_replicas * p->num_partitions);
  p->processes = pop_xcalloc(p->num_processes, sizeof *p->processes);
  size_t operand = 0;
  for (size_t i = 0; i < p->num_processes; ++i) {
    const attribute *row = &programs->items[i / (size_t)p->num_partitions];
    size_t column = i % (size_t)p->num_partitions;
    if (row->kind != ATTRIBUTE_ARRAY || row->num_items != (size_t)p->num_partitions ||
        row->items[column].kind != ATTRIBUTE_SYMBOL)
      return model_error(m, p->op->offset, "%s: programs is a matrix of functions", p->op->name);
    POP_TRY(start_process(p, map, i, row->items[column].text, &operand));
  }
  return NULL;
}

/* The results of all processes, in the order of the processes. */
static pop_error *take_results(parallel *p, const copy_map *map)
{
  size_t next = 0;
  for (size_t i = 0; i < p->num_processes; ++i) {
    const operation *last = p->processes[i].f->body.last;
    for (size_t k = 0; k < last->num_operands; ++k, ++next) {
      if (next == p->op->num_results ||
          !type_equal(p->op->results[next]->type, last->operands[k]->type))
        return model_error(p->in->m, p->op->offset, "%s: result %zu has another type", p->op->name,
                           next);
      map->values[p->op->results[next]->number] =
          inline_mapped(&p->processes[i].map, last->operands[k]);
    }
  }
  if (next == p->op->num_results) return NULL;
  return model_error(p->in->m, p->op->offset, "%s has %zu results, not %zu", p->op->name, next,
                     p->op->num_results);
}

pop_error *inline_parallel(inliner *in, const copy_map *map, const operation *op, block *to)
{
  parallel p = {.in = in, .op = op, .to = to, .infeed = op_attribute(op, "infeed")};
  pop_error *error = start(&p, map);
  if (!error) error = run(&p);
  if (!error) error = take_results(&p, map);
  for (size_t i = 0; i < p.num_processes; ++i) free(p.processes[i].map.values);
  free(p.processes);
  free(p.messages);
  return error;
}
