/* programs, controlPrograms and functionPrograms of the graph profile. */
#include "profile/graph_profile.h"

/* In the guide's order. Instructions that our tiles do not have are 0. */
static void emit_instructions(const emitter *to, const graph_profile *g,
                              const profile_exchange_code *code)
{
  static const struct {
    const char *key;
    int instruction; /* -1: none */
  } rows[] = {{"delay", PROFILE_DELAY},  {"exchange", -1},
              {"other", PROFILE_OTHER},  {"receiveAddress", PROFILE_RECEIVE_ADDRESS},
              {"receiveFormat", -1},     {"receiveMux", PROFILE_RECEIVE_MUX},
              {"send", PROFILE_SEND},    {"sendWithPutAddress", -1},
              {"sendWithPutFormat", -1}, {"sendWithPutMux", -1}};
  bool left_out = leaves_out_category(g, POP_MEMORY_INTERNAL_EXCHANGE_CODE);
  uint64_t total = 0;
  emit_begin_map(to, "memoryByInstruction");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    uint64_t bytes = rows[i].instruction < 0 || left_out ? 0 : code->bytes[rows[i].instruction];
    emit_int(to, rows[i].key, (int64_t)bytes);
    total += bytes;
  }
  emit_int(to, "total", (int64_t)total);
  emit_end_map(to);
}

static void emit_children(const emitter *to, const pop_executable *e, const executable_step *step)
{
  emit_begin_vector(to, "children");
  for (uint32_t i = 0; i < step->num_children; ++i)
    emit_int(to, NULL, e->step_children[step->first_child + i]);
  emit_end_vector(to);
}

/* Children of an If. An executable has both branches, the one for false first. A profile has the
 * one for true first, and the one for false only if it does something. */
static bool is_one_sided(const pop_executable *e, const executable_step *step)
{
  return e->steps[e->step_children[step->first_child]].num_children == 0;
}

static void emit_branches(const emitter *to, const pop_executable *e, const executable_step *step)
{
  const uint32_t *branches = &e->step_children[step->first_child];
  emit_begin_vector(to, "children");
  emit_int(to, NULL, branches[1]);
  if (!is_one_sided(e, step)) emit_int(to, NULL, branches[0]);
  emit_end_vector(to);
}

static void emit_fields(const emitter *to, const graph_profile *g, const executable_step *step)
{
  switch (step->kind) {
  case EXECUTABLE_STEP_EXECUTE:
    emit_int(to, "computeSet", step->index);
    return;
  case EXECUTABLE_STEP_EXCHANGE:
    emit_int(to, "exchange", g->numbers.of_exchange[step->index]);
    emit_instructions(to, g, &g->p->exchange_codes[step->index]);
    return;
  case EXECUTABLE_STEP_GLOBAL_EXCHANGE:
    emit_int(to, "exchange", g->numbers.of_exchange[step->index]);
    return;
  case EXECUTABLE_STEP_STREAM_COPY:
    emit_int(to, "exchange", g->numbers.of_event[step->index]);
    return;
  case EXECUTABLE_STEP_CALL:
    emit_int(to, "target", step->index);
    return;
  case EXECUTABLE_STEP_SYNC:
    emit_string(to, "syncType", step->index ? "External" : "Internal");
    return;
  case EXECUTABLE_STEP_IF:
    emit_branches(to, g->e, step);
    return;
  case EXECUTABLE_STEP_SET_CONSENSUS:
  case EXECUTABLE_STEP_WRITE_UNDEF:
  case EXECUTABLE_STEP_ABORT:
  case EXECUTABLE_STEP_KINDS:
    return;
  case EXECUTABLE_STEP_REPEAT:
    emit_int(to, "count", step->count);
    break;
  case EXECUTABLE_STEP_BLOCK:
    emit_int(to, "block", step->index);
    break;
  case EXECUTABLE_STEP_SEQUENCE:
  case EXECUTABLE_STEP_WHILE_TRUE:
  case EXECUTABLE_STEP_WHILE_FALSE:
  case EXECUTABLE_STEP_SWITCH:
    break;
  }
  emit_children(to, g->e, step);
}

static void emit_numbers(const emitter *to, const char *key, const uint32_t *numbers, size_t count)
{
  emit_begin_vector(to, key);
  for (size_t i = 0; i < count; ++i) emit_int(to, NULL, numbers[i]);
  emit_end_vector(to);
}

void emit_programs(const emitter *to, const graph_profile *g)
{
  const pop_executable *e = g->e;
  emit_begin_vector(to, "programs");
  for (size_t i = 0; i < e->num_steps; ++i) {
    const executable_step *step = &e->steps[i];
    bool one_sided = step->kind == EXECUTABLE_STEP_IF && is_one_sided(e, step);
    emit_begin_map(to, NULL);
    emit_fields(to, g, step);
    if (*step->name) emit_string(to, "name", step->name);
    emit_string(to, "type", one_sided ? "If" : executable_step_tag(step->kind));
    emit_end_map(to);
  }
  emit_end_vector(to);
  emit_numbers(to, "controlPrograms", e->control_steps, e->num_control_steps);
  emit_numbers(to, "functionPrograms", e->functions, e->num_functions);
}
