/* The printer of compilations: dump.h. */
#include "compiler/dump.h"
#include "compiler/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which passes ---- */

bool dump_wanted(const char *list, const char *pass)
{
  size_t length = strlen(pass);
  while (list && *list) {
    size_t name = strcspn(list, ",");
    if (name == length && memcmp(list, pass, length) == 0) return true;
    list += name + (list[name] == ',');
  }
  return false;
}

static char *pass_names(const char *const *passes, size_t num_passes)
{
  char *names = NULL;
  size_t size;
  FILE *text = open_memstream(&names, &size);
  if (!text) return NULL;
  for (size_t i = 0; i < num_passes; i++) fprintf(text, "%s%s", i ? ", " : "", passes[i]);
  fclose(text);
  return names;
}

pop_error *dump_check(const char *list, const char *const *passes, size_t num_passes)
{
  while (list && *list) {
    size_t length = strcspn(list, ",");
    bool known = false;
    for (size_t i = 0; i < num_passes; i++)
      known |= strlen(passes[i]) == length && memcmp(list, passes[i], length) == 0;
    if (!known) {
      char *names = pass_names(passes, num_passes);
      pop_error *error = pop_error_new(POP_ERROR_INVALID_OPTION,
                                       "POPULUS_DUMP: there is no pass '%.*s'; the passes are %s",
                                       (int)length, list, names ? names : "");
      free(names);
      return error;
    }
    list += length + (list[length] == ',');
  }
  return NULL;
}

/* ---- the printer ---- */

/* b12+8: byte 8 of block 12. */
static void print_place(FILE *out, place p)
{
  if (p.block == COMPILER_NONE)
    fprintf(out, "-");
  else
    fprintf(out, "b%u+%u", p.block, p.offset);
}

static void print_variables(const compilation *c, FILE *out)
{
  for (size_t i = 0; i < c->num_variables; i++) {
    const placed_variable *v = &c->variables[i];
    fprintf(out, "variable %zu '%s' %s%s\n", i, v->name, v->type, v->constant ? " constant" : "");
    for (size_t j = v->first_interval; j < v->first_interval + v->num_intervals; j++) {
      const placed_interval *at = &c->intervals[j];
      fprintf(out, "  elements %llu to %llu on tile %u at ", (unsigned long long)at->begin,
              (unsigned long long)at->end - 1, at->tile);
      print_place(out, at->at);
      fputc('\n', out);
    }
  }
}

static void print_block(const compilation *c, uint32_t number, bool lives, bool addresses,
                        FILE *out)
{
  const block *b = &c->blocks[number];
  fprintf(out, "block b%u tile %u '%s' %s: %u bytes, aligned to %u", number, b->tile, b->name,
          pop_memory_category_key((pop_memory_category)b->category), b->size, b->align);
  if (b->flags & BLOCK_CODE) fprintf(out, ", code");
  if (b->flags & BLOCK_READ_ONLY) fprintf(out, ", read-only");
  if (b->flags & BLOCK_INTERLEAVED) fprintf(out, ", interleaved");
  if (b->flags & BLOCK_TABLE) fprintf(out, ", table");
  if (b->flags & BLOCK_STATES) fprintf(out, ", states");
  if (b->content != COMPILER_NONE)
    fprintf(out, ", has content with %u addresses", c->contents[b->content].num_fixups);
  if (b->flags & BLOCK_ALWAYS_LIVE)
    fprintf(out, ", always live");
  else if (lives)
    fprintf(out, ", live from position %u to %u", b->first_step, b->last_step);
  if (addresses) fprintf(out, ", at 0x%x", b->address);
  fputc('\n', out);
}

static void print_step(const compilation *c, uint32_t number, FILE *out)
{
  static const char *const kinds[] = {"sequence",      "repeat",     "switch", "while",
                                      "execute",       "exchange",   "sync",   "write undef",
                                      "host exchange", "host event", "block"};
  const step *s = &c->steps[number];
  fprintf(out, "step %u %s", number, kinds[s->kind]);
  if (s->name && *s->name) fprintf(out, " '%s'", s->name);
  switch (s->kind) {
  case STEP_SEQUENCE:
    break;
  case STEP_REPEAT:
    fprintf(out, " %u times", s->count);
    break;
  case STEP_WHILE:
    fprintf(out, " control %u is %s0", s->index, s->count ? "not " : "");
    break;
  case STEP_WRITE_UNDEF:
    break;
  default:
    fprintf(out, " %u", s->index);
  }
  if (s->num_children) {
    fprintf(out, " of steps");
    for (size_t i = 0; i < s->num_children; i++)
      fprintf(out, " %u", c->children[s->first_child + i]);
  }
  if (s->num_uses > 1) fprintf(out, ", used %u times", s->num_uses);
  fputc('\n', out);
  for (size_t i = s->first_access; i < s->first_access + s->num_accesses; i++) {
    const block_access *a = &c->accesses[i];
    fprintf(out, "  b%u:%s", a->block, a->reads ? " read" : "");
    if (a->bytes_written) fprintf(out, " written %u bytes", a->bytes_written);
    fputc('\n', out);
  }
}

static void print_programs(const compilation *c, FILE *out)
{
  for (size_t i = 0; i < c->num_control_programs; i++)
    fprintf(out, "program %zu '%s' is step %u\n", i, c->program_names[i], c->control_programs[i]);
  for (uint32_t i = 0; i < c->num_steps; i++) print_step(c, i, out);
  for (size_t i = 0; i < c->num_controls; i++) {
    const control *ctl = &c->controls[i];
    fprintf(out, "control %zu tile %u at ", i, ctl->tile);
    print_place(out, ctl->source);
    fputc('\n', out);
  }
}

/* Positions in the script are the step numbers of liveness (script.h). */
static void print_positions(const compilation *c, FILE *out)
{
  static const char *const kinds[] = {
      "execute", "exchange",     "sync",          "write undef",   "host exchange", "host event",
      "loop",    "end of loop",  "switch",        "end of switch", "while",         "end of while",
      "block",   "end of block", "case",          "end of case",   "shared",        "end of shared",
      "call",    "program",      "end of program"};
  script s = {0};
  script_build(c, &s);
  for (size_t i = 0; i < s.num_ops; i++)
    fprintf(out, "position %zu %s %u\n", i, kinds[s.ops[i].kind], s.ops[i].step);
  script_free(&s);
}

static void print_vertex(const compilation *c, const lowered_vertex *v, FILE *out)
{
  fprintf(out, "    %s state +%u", c->vertex_types[v->type].type->name, v->state_offset);
  if (v->worker == ON_SUPERVISOR)
    fprintf(out, " on the supervisor");
  else if (v->worker == ON_ALL_WORKERS)
    fprintf(out, " on all workers");
  else
    fprintf(out, " on worker %u", v->worker);
  if (v->graph_vertex != COMPILER_NONE) fprintf(out, ", vertex %u of the graph", v->graph_vertex);
  fputc('\n', out);
}

static void print_compute_set(const compilation *c, size_t number, FILE *out)
{
  const lowered_compute_set *cs = &c->compute_sets[number];
  fprintf(out, "compute set %zu '%s'\n", number, cs->name);
  for (size_t i = cs->first_work; i < cs->first_work + cs->num_works; i++) {
    const tile_work *w = &c->works[i];
    fprintf(out, "  tile %u: states in b%u\n", w->tile, w->state_block);
    for (uint32_t j = 0; j < w->num_vertices; j++)
      print_vertex(c, &c->vertices[w->first_vertex + j], out);
  }
}

static void print_message(const compilation *c, size_t number, FILE *out)
{
  const message *m = &c->messages[number];
  fprintf(out, "  message %zu: %u words of tile %u from ", number, m->num_words, m->source_tile);
  print_place(out, m->source);
  for (uint32_t i = 0; i < m->num_receivers; i++) {
    const receiver *r = &c->receivers[m->first_receiver + i];
    fprintf(out, "%s tile %u at ", i ? "," : " to", r->tile);
    print_place(out, r->destination);
  }
  fputc('\n', out);
}

static void print_exchange_op(const exchange_op *op, FILE *out)
{
  static const char *const names[] = {"send", "receive at",  "receive from",   "delay",
                                      "end",  "global send", "global receive", "replica map"};
  fprintf(out, "    %s", names[op->kind]);
  switch (op->kind) {
  case EXCHANGE_SEND:
    fputc(' ', out);
    print_place(out, op->at);
    fprintf(out, ", %u words", op->count);
    break;
  case EXCHANGE_RECEIVE_MUX:
    fprintf(out, " tile %u, %u words", op->tile, op->count);
    break;
  case EXCHANGE_DELAY:
    fprintf(out, " %u cycles", op->count);
    break;
  case EXCHANGE_END:
    break;
  default:
    fputc(' ', out);
    print_place(out, op->at);
  }
  fputc('\n', out);
}

static void print_exchange(const compilation *c, size_t number, FILE *out)
{
  static const char *const zones[] = {"within IPUs", "between IPUs", "between replicas"};
  const exchange *x = &c->exchanges[number];
  fprintf(out, "exchange %zu '%s' %s\n", number, x->name, zones[x->zone]);
  for (size_t i = x->first_message; i < x->first_message + x->num_messages; i++)
    print_message(c, i, out);
  for (size_t i = x->first_tile; i < x->first_tile + x->num_tiles; i++) {
    const tile_exchange *t = &c->tile_exchanges[i];
    fprintf(out, "  tile %u: %u cycles, %llu bytes sent, %llu received\n", t->tile, t->cycles,
            (unsigned long long)t->bytes_sent, (unsigned long long)t->bytes_received);
    for (uint32_t j = 0; j < t->num_ops; j++)
      print_exchange_op(&c->exchange_ops[t->first_op + j], out);
  }
}

static void print_host(const compilation *c, FILE *out)
{
  for (size_t i = 0; i < c->num_host_exchanges; i++) {
    const host_exchange *x = &c->host_exchanges[i];
    fprintf(out, "host exchange %zu '%s'\n", i, x->name);
    for (size_t j = x->first_packet; j < x->first_packet + x->num_packets; j++) {
      const host_packet *p = &c->host_packets[j];
      fprintf(out, "  %s tile %u at ", p->to_tile ? "to" : "from", p->tile);
      print_place(out, p->at);
      fprintf(out, ": %u rows of %u bytes\n", p->rows, p->row_bytes);
    }
  }
}

static void print_tiles(const compilation *c, bool addresses, FILE *out)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  for (uint32_t t = 0; t < num_tiles; t++) {
    const tile_layout *l = &c->tiles[t];
    if (l->code_group == COMPILER_NONE && l->num_blocks == 0) continue;
    fprintf(out, "tile %u", t);
    if (l->code_group != COMPILER_NONE) fprintf(out, " code group %u", l->code_group);
    if (l->worker_stack_bytes) fprintf(out, ", stacks of %u bytes", l->worker_stack_bytes);
    if (addresses) {
      fprintf(out, ", ends at 0x%x", l->end);
      if (l->same_as != COMPILER_NONE) fprintf(out, ", planned as tile %u", l->same_as);
      if (l->shortage) fprintf(out, ", lacks %u bytes", l->shortage);
    }
    fputc('\n', out);
  }
}

static void print_acknowledged(const compilation *c, FILE *out)
{
  for (size_t i = 0; i < c->num_acknowledged; i++) {
    const acknowledged_row *row = &c->acknowledged[i];
    fprintf(out, "positions %u to %u are acknowledged by tiles %u to %u\n", row->first, row->last,
            row->first_tile, row->first_tile + row->num_tiles - 1);
  }
}

void dump_compilation(const compilation *c, const char *pass, FILE *out)
{
  flockfile(out);
  fprintf(out, "---- after %s ----\n", pass);
  bool allocated = c->blocks_by_tile != NULL, has_lives = c->tiles != NULL;
  has_lives |= strcmp(pass, "liveness") == 0;
  print_variables(c, out);
  if (c->num_steps) print_programs(c, out);
  if (has_lives) print_positions(c, out);
  print_acknowledged(c, out);
  for (size_t i = 0; i < c->num_compute_sets; i++) print_compute_set(c, i, out);
  for (size_t i = 0; i < c->num_exchanges; i++) print_exchange(c, i, out);
  print_host(c, out);
  for (uint32_t i = 0; i < c->num_blocks; i++) print_block(c, i, has_lives, allocated, out);
  if (c->tiles) print_tiles(c, allocated, out);
  funlockfile(out);
}
