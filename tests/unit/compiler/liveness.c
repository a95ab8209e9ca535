/* Liveness: its rules on small programs. Then random programs run twice: once with blocks that
 * share memory (liveness, allocate), and once with separate memory for each block. Every read must
 * give the same. */
#include "compiler/compilation.h"
#include "support/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static compilation *new_compilation(void)
{
  compilation *c = pop_xcalloc(1, sizeof *c);
  pop_error *error = pop_target_create("ipu1", 1, &c->target);
  cr_assert_null(error);
  c->target.tiles_per_ipu = 1;
  c->arena = pop_arena_new();
  return c;
}

static uint32_t add(compilation *c, uint32_t size, pop_memory_category category, uint8_t flags)
{
  return add_block(c, &(block){.size = size,
                               .align = 4,
                               .category = (uint8_t)category,
                               .flags = flags,
                               .name = "b",
                               .content = COMPILER_NONE});
}

static uint32_t add_step(compilation *c, step_kind kind)
{
  pop_push(c->steps, c->num_steps, c->steps_capacity,
           (step){.kind = kind,
                  .name = "s",
                  .first_child = c->num_children,
                  .first_access = c->num_accesses});
  return (uint32_t)(c->num_steps - 1);
}

/* Steps in the tests' notation: a leaf reads and writes blocks, R("01") W("2"). Each digit is a
 * block. */
static uint32_t leaf(compilation *c, const char *reads, const char *writes)
{
  uint32_t s = add_step(c, STEP_EXECUTE);
  for (const char *r = reads; *r; r++)
    pop_push(c->accesses, c->num_accesses, c->accesses_capacity,
             (block_access){.block = (uint32_t)(*r - '0'), .reads = true});
  for (const char *w = writes; *w; w++) {
    uint32_t b = (uint32_t)(*w - '0');
    pop_push(c->accesses, c->num_accesses, c->accesses_capacity,
             (block_access){.block = b, .bytes_written = c->blocks[b].size});
  }
  c->steps[s].num_accesses = c->num_accesses - c->steps[s].first_access;
  return s;
}

static uint32_t group(compilation *c, step_kind kind, uint32_t count, const uint32_t *children,
                      size_t num_children)
{
  uint32_t s = add_step(c, kind);
  c->steps[s].count = count;
  for (size_t i = 0; i < num_children; i++) {
    pop_push(c->children, c->num_children, c->children_capacity, children[i]);
    c->steps[children[i]].num_uses++;
  }
  c->steps[s].num_children = num_children;
  return s;
}

#define SEQUENCE(c, ...)                                                                           \
  group(c, STEP_SEQUENCE, 0, (const uint32_t[]){__VA_ARGS__},                                      \
        sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static uint32_t repeat(compilation *c, uint32_t count, uint32_t body)
{
  return group(c, STEP_REPEAT, count, &body, 1);
}

static void add_program(compilation *c, uint32_t s)
{
  pop_push(c->control_programs, c->num_control_programs, c->control_programs_capacity, s);
  c->steps[s].num_uses++;
}

static bool is_always(const compilation *c, uint32_t b)
{
  return c->blocks[b].flags & BLOCK_ALWAYS_LIVE;
}

static bool overlap(const compilation *c, uint32_t a, uint32_t b)
{
  if (is_always(c, a) || is_always(c, b)) return true;
  return c->blocks[a].first_step <= c->blocks[b].last_step &&
         c->blocks[b].first_step <= c->blocks[a].last_step;
}

static void find_lives(compilation *c)
{
  pop_error *error = pass_liveness(c);
  cr_assert_null(error);
}

/* ---- rules ---- */

Test(liveness, variables_used_one_after_the_other_can_share)
{
  compilation *c = new_compilation();
  for (int b = 0; b < 3; b++) add(c, 8, POP_MEMORY_VARIABLE, 0);
  add_program(
      c, SEQUENCE(c, leaf(c, "", "0"), leaf(c, "0", "1"), leaf(c, "1", "2"), leaf(c, "2", "")));
  find_lives(c);
  cr_assert(overlap(c, 0, 1));
  cr_assert(overlap(c, 1, 2));
  cr_assert(!overlap(c, 0, 2), "0 is read for the last time before 2 is written");
  compilation_free(c);
}

Test(liveness, what_may_be_seen_later_is_always_live)
{
  compilation *c = new_compilation();
  uint32_t marked = add(c, 8, POP_MEMORY_VARIABLE, BLOCK_ALWAYS_LIVE);
  uint32_t read_first = add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t in_two_programs = add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t half_written = add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t never_used = add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t with_content = add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t state = add(c, 8, POP_MEMORY_VERTEX_INSTANCE_STATE, 0);
  c->blocks[with_content].content = begin_content(c, 8);
  uint32_t half = leaf(c, "", "3");
  c->accesses[c->steps[half].first_access].bytes_written = 4;
  add_program(c, SEQUENCE(c, leaf(c, "1", "02"), leaf(c, "", "156"), half, leaf(c, "0123", "")));
  add_program(c, leaf(c, "2", ""));
  find_lives(c);
  const uint32_t all[] = {marked,       read_first, in_two_programs, half_written, never_used,
                          with_content, state};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    cr_assert(is_always(c, all[i]), "block %u", all[i]);
  compilation_free(c);
}

Test(liveness, a_variable_from_before_a_loop_lives_through_all_of_it)
{
  compilation *c = new_compilation();
  for (int b = 0; b < 3; b++) add(c, 8, POP_MEMORY_VARIABLE, 0);
  /* Block 0 is read early in the body and needed again in the next pass; blocks 1 and 2 are used
   * late. */
  uint32_t body =
      SEQUENCE(c, leaf(c, "0", ""), leaf(c, "", "1"), leaf(c, "1", "2"), leaf(c, "2", ""));
  add_program(c, SEQUENCE(c, leaf(c, "", "0"), repeat(c, 2, body)));
  find_lives(c);
  cr_assert(overlap(c, 0, 1));
  cr_assert(overlap(c, 0, 2));
  cr_assert(!is_always(c, 1) && !is_always(c, 2));
  compilation_free(c);
}

Test(liveness, a_shared_steps_buffers_keep_away_from_what_lives_across_its_calls)
{
  compilation *c = new_compilation();
  uint32_t inner = add(c, 8, POP_MEMORY_MESSAGE, 0), across = add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t before = add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t shared = SEQUENCE(c, leaf(c, "", "0"), leaf(c, "0", ""));
  add_program(c, SEQUENCE(c, leaf(c, "", "2"), leaf(c, "2", ""), shared, leaf(c, "", "1"), shared,
                          leaf(c, "1", "")));
  find_lives(c);
  cr_assert(overlap(c, inner, across));
  cr_assert(!overlap(c, inner, before));
  compilation_free(c);
}

Test(liveness, buffers_of_what_a_shared_step_calls_keep_away_too)
{
  compilation *c = new_compilation();
  uint32_t inner = add(c, 8, POP_MEMORY_MESSAGE, 0), across = add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t lower = SEQUENCE(c, leaf(c, "", "0"), leaf(c, "0", ""));
  uint32_t upper = SEQUENCE(c, leaf(c, "", ""), lower);
  add_program(
      c, SEQUENCE(c, lower, leaf(c, "", ""), upper, leaf(c, "", "1"), upper, leaf(c, "1", "")));
  find_lives(c);
  cr_assert(overlap(c, inner, across));
  compilation_free(c);
}

/* Blocks 0 to n - 1, 8 bytes each. */
static compilation *with_variables(uint32_t n)
{
  compilation *c = new_compilation();
  while (n-- > 0) add(c, 8, POP_MEMORY_VARIABLE, 0);
  return c;
}

/* Writes block `b`, a digit, then reads it. */
static uint32_t use(compilation *c, const char *b)
{
  return SEQUENCE(c, leaf(c, "", b), leaf(c, b, ""));
}

Test(liveness, a_variable_that_each_pass_reads_first_lives_to_the_end_of_the_loop)
{
  compilation *c = with_variables(3);
  add_program(c, SEQUENCE(c, leaf(c, "", "0"),
                          repeat(c, 2, SEQUENCE(c, leaf(c, "0", ""), use(c, "1"))), use(c, "2")));
  find_lives(c);
  cr_assert(overlap(c, 0, 1), "the second pass reads 0 after the first has used 1");
  cr_assert(!overlap(c, 0, 2), "nobody reads 0 behind the loop");
  cr_assert(!is_always(c, 0));
  compilation_free(c);
}

Test(liveness, in_nested_loops_the_outermost_that_the_write_is_not_in_counts)
{
  compilation *c = with_variables(4);
  uint32_t inner = repeat(c, 2, SEQUENCE(c, leaf(c, "0", ""), use(c, "1")));
  uint32_t middle = repeat(c, 2, SEQUENCE(c, inner, use(c, "2")));
  add_program(c, repeat(c, 2, SEQUENCE(c, leaf(c, "", "0"), middle, use(c, "3"))));
  find_lives(c);
  cr_assert(overlap(c, 0, 1));
  cr_assert(overlap(c, 0, 2));
  cr_assert(!overlap(c, 0, 3), "each pass of the outer loop begins with a write of 0");
  compilation_free(c);
}

Test(liveness, a_variable_that_a_loop_writes_first_lives_from_the_write_on)
{
  compilation *c = with_variables(4);
  add_program(c, SEQUENCE(c, repeat(c, 3, SEQUENCE(c, use(c, "1"), leaf(c, "", "0"), use(c, "2"))),
                          use(c, "3"), leaf(c, "0", "")));
  find_lives(c);
  cr_assert(!overlap(c, 0, 1), "what 0 held when a pass begins is overwritten before it is read");
  cr_assert(overlap(c, 0, 2));
  cr_assert(overlap(c, 0, 3));
  compilation_free(c);
}

Test(liveness, a_variable_that_a_shared_step_reads_lives_to_its_last_call)
{
  compilation *c = with_variables(3);
  uint32_t shared = SEQUENCE(c, leaf(c, "0", ""), leaf(c, "", ""));
  add_program(c, SEQUENCE(c, leaf(c, "", "0"), shared, use(c, "1"), shared, use(c, "2")));
  find_lives(c);
  cr_assert(overlap(c, 0, 1), "the call reads 0 after 1 is used");
  cr_assert(!overlap(c, 0, 2));
  compilation_free(c);
}

Test(liveness, a_variable_that_a_shared_step_in_a_loop_reads_lives_through_the_loop)
{
  compilation *c = with_variables(2);
  uint32_t shared = SEQUENCE(c, leaf(c, "0", ""), leaf(c, "", ""));
  add_program(
      c, SEQUENCE(c, leaf(c, "", "0"), shared, repeat(c, 2, SEQUENCE(c, shared, use(c, "1")))));
  find_lives(c);
  cr_assert(overlap(c, 0, 1), "the second pass calls what reads 0");
  compilation_free(c);
}

Test(liveness, a_variable_of_two_programs_lives_always_even_if_only_a_call_leads_to_it)
{
  compilation *c = with_variables(2);
  uint32_t shared = SEQUENCE(c, leaf(c, "0", ""), leaf(c, "", ""));
  add_program(c, SEQUENCE(c, leaf(c, "", "0"), shared));
  add_program(c, SEQUENCE(c, use(c, "1"), shared));
  find_lives(c);
  cr_assert(is_always(c, 0), "the second program may be run after the first, and then read 0");
  cr_assert(!is_always(c, 1));
  compilation_free(c);
}

Test(liveness, a_variable_that_two_programs_each_write_first_lives_always)
{
  compilation *c = with_variables(1);
  add_program(c, use(c, "0"));
  add_program(c, leaf(c, "0", ""));
  find_lives(c);
  cr_assert(is_always(c, 0));
  compilation_free(c);
}

Test(liveness, buffers_of_two_programs_do_not_live_always)
{
  compilation *c = new_compilation();
  add(c, 8, POP_MEMORY_MESSAGE, 0);
  add_program(c, use(c, "0"));
  add_program(c, use(c, "0"));
  find_lives(c);
  cr_assert(!is_always(c, 0));
  compilation_free(c);
}

Test(liveness, a_shared_step_that_writes_first_needs_nothing_from_before_its_calls)
{
  compilation *c = with_variables(3);
  uint32_t shared = SEQUENCE(c, leaf(c, "", "0"), leaf(c, "", ""));
  add_program(c, SEQUENCE(c, shared, leaf(c, "0", ""), use(c, "1"), shared, use(c, "2")));
  add_program(c, shared);
  find_lives(c);
  cr_assert(!is_always(c, 0), "another program may call it and read nothing");
  cr_assert(!overlap(c, 0, 1) && !overlap(c, 0, 2));
  compilation_free(c);
}

/* ---- branches ---- */

Test(liveness, branches_of_a_switch_share)
{
  compilation *c = with_variables(4);
  uint32_t branches = group(
      c, STEP_SWITCH, 0, (uint32_t[]){use(c, "0"), SEQUENCE(c, leaf(c, "2", ""), use(c, "1"))}, 2);
  add_program(c, SEQUENCE(c, leaf(c, "", "2"), branches, use(c, "3")));
  find_lives(c);
  cr_assert(!overlap(c, 0, 1));
  cr_assert(overlap(c, 2, 0), "2 is read in the branch behind");
  cr_assert(!overlap(c, 2, 3) && !overlap(c, 2, 1));
  for (uint32_t b = 0; b < 4; b++) cr_assert(!is_always(c, b), "%u", b);
  compilation_free(c);
}

Test(liveness, a_variable_that_only_a_branch_writes_first_lives_always)
{
  compilation *c = with_variables(2);
  uint32_t branches = group(c, STEP_SWITCH, 0, (uint32_t[]){leaf(c, "", "0"), leaf(c, "", "1")}, 2);
  add_program(c, SEQUENCE(c, branches, leaf(c, "0", "")));
  find_lives(c);
  cr_assert(is_always(c, 0), "the other branch leaves in 0 what the run before wrote");
  compilation_free(c);
}

Test(liveness, a_while_writes_in_its_condition_but_perhaps_not_in_its_body)
{
  compilation *c = with_variables(3);
  uint32_t condition = SEQUENCE(c, use(c, "2"), leaf(c, "", "0"));
  uint32_t loop = group(c, STEP_WHILE, 1, (uint32_t[]){condition, leaf(c, "0", "1")}, 2);
  add_program(c, SEQUENCE(c, loop, leaf(c, "01", "")));
  find_lives(c);
  cr_assert(!is_always(c, 0), "the condition is there at least once");
  cr_assert(!overlap(c, 0, 2), "each pass writes 0 behind 2");
  cr_assert(is_always(c, 1), "the body perhaps never");
  compilation_free(c);
}

Test(liveness, what_a_while_reads_in_every_pass_lives_through_it)
{
  compilation *c = with_variables(3);
  uint32_t loop = group(c, STEP_WHILE, 1, (uint32_t[]){leaf(c, "0", ""), use(c, "1")}, 2);
  add_program(c, SEQUENCE(c, leaf(c, "", "0"), loop, use(c, "2")));
  find_lives(c);
  cr_assert(overlap(c, 0, 1));
  cr_assert(!overlap(c, 0, 2));
  compilation_free(c);
}

/* ---- random programs ---- */

enum { NUM_BLOCKS = 14, NUM_BUFFERS = 5, MAX_STEPS = 400 };

/* A leaf with random accesses. Buffers (the first blocks) are left to buffer_user. */
static uint32_t random_leaf(compilation *c, uint64_t *seed)
{
  uint32_t s = add_step(c, STEP_EXECUTE);
  bool used[NUM_BLOCKS] = {false};
  for (uint32_t n = random_below(seed, 4); n > 0; n--) {
    uint32_t b = NUM_BUFFERS + random_below(seed, NUM_BLOCKS - NUM_BUFFERS);
    if (used[b]) continue;
    used[b] = true;
    uint32_t how = random_below(seed, 4), size = c->blocks[b].size;
    pop_push(c->accesses, c->num_accesses, c->accesses_capacity,
             (block_access){.block = b,
                            .reads = how == 1 || how == 2,
                            .bytes_written = how == 1   ? 0
                                             : how == 3 ? size - 4
                                                        : size});
  }
  c->steps[s].num_accesses = c->num_accesses - c->steps[s].first_access;
  return s;
}

/* As the front end uses a buffer: it is written, later read, and not kept for the next pass. */
static uint32_t buffer_user(compilation *c, uint64_t *seed)
{
  const char digit[2] = {(char)('0' + random_below(seed, NUM_BUFFERS)), '\0'};
  return SEQUENCE(c, leaf(c, "", digit), random_leaf(c, seed), leaf(c, digit, ""));
}

static uint32_t random_step(compilation *c, uint64_t *seed, const uint32_t *known, size_t num_known)
{
  switch (random_below(seed, 10)) {
  case 0:
    return buffer_user(c, seed);
  case 8:
  case 9: {
    uint32_t children[2];
    for (size_t i = 0; i < 2; i++) children[i] = known[random_below(seed, (uint32_t)num_known)];
    return group(c, random_below(seed, 2) ? STEP_SWITCH : STEP_WHILE, 0, children, 2);
  }
  case 1:
    return repeat(c, random_below(seed, 4), known[random_below(seed, (uint32_t)num_known)]);
  case 2:
  case 3:
  case 4: {
    uint32_t children[4];
    size_t n = 1 + random_below(seed, 4);
    for (size_t i = 0; i < n; i++) children[i] = known[random_below(seed, (uint32_t)num_known)];
    return group(c, STEP_SEQUENCE, 0, children, n);
  }
  default:
    return random_leaf(c, seed);
  }
}

/* Steps are built from earlier ones, so any step may have several uses, also one that contains a
 * use of a buffer. */
static compilation *random_program(uint64_t seed)
{
  compilation *c = new_compilation();
  for (uint32_t b = 0; b < NUM_BLOCKS; b++)
    add(c, 4 * (2 + random_below(&seed, 6)),
        b < NUM_BUFFERS ? POP_MEMORY_MESSAGE : POP_MEMORY_VARIABLE, 0);
  uint32_t known[40];
  size_t num_known = 0;
  known[num_known++] = random_leaf(c, &seed);
  size_t limit = 6 + random_below(&seed, 34);
  while (num_known < limit) {
    known[num_known] = random_step(c, &seed, known, num_known);
    num_known++;
  }
  for (uint32_t p = 1 + random_below(&seed, 3); p > 0; p--)
    add_program(c, known[num_known - 1 - random_below(&seed, 3)]);
  return c;
}

/* The two memories. Bytes are 32-bit tokens: a write stores a new token in all bytes that it
 * writes. */
typedef struct memories {
  const compilation *c;
  uint32_t *shared; /* by address, from the base */
  uint32_t *own[NUM_BLOCKS];
  uint32_t next_token;
  uint64_t num_leaves; /* run so far: programs that grow too large are cut short */
  uint64_t decisions;  /* which branches are taken, and how often a While runs */
} memories;

static void run_leaf(memories *m, const step *s)
{
  for (size_t i = 0; i < s->num_accesses; i++) {
    const block_access *a = &m->c->accesses[s->first_access + i];
    const block *b = &m->c->blocks[a->block];
    uint32_t *shared = m->shared + (b->address - m->c->target.memory_base);
    for (uint32_t byte = 0; a->reads && byte < b->size; byte++)
      cr_assert_eq(shared[byte], m->own[a->block][byte],
                   "block %u: a read sees what another block wrote", a->block);
  }
  for (size_t i = 0; i < s->num_accesses; i++) {
    const block_access *a = &m->c->accesses[s->first_access + i];
    const block *b = &m->c->blocks[a->block];
    uint32_t *shared = m->shared + (b->address - m->c->target.memory_base);
    m->next_token++;
    for (uint32_t byte = 0; byte < a->bytes_written; byte++)
      shared[byte] = m->own[a->block][byte] = m->next_token;
  }
}

static void run_step(memories *m, uint32_t index)
{
  const step *s = &m->c->steps[index];
  if (m->num_leaves > 20000) return;
  if (s->kind == STEP_EXECUTE) {
    m->num_leaves++;
    run_leaf(m, s);
    return;
  }
  const uint32_t *children = m->c->children + s->first_child;
  if (s->kind == STEP_SWITCH) {
    run_step(m, children[random_below(&m->decisions, (uint32_t)s->num_children)]);
    return;
  }
  uint32_t passes = s->kind == STEP_REPEAT  ? s->count
                    : s->kind == STEP_WHILE ? random_below(&m->decisions, 3)
                                            : 1;
  for (uint32_t pass = 0; pass < passes; pass++)
    for (size_t i = 0; i < s->num_children; i++) run_step(m, children[i]);
  if (s->kind == STEP_WHILE) run_step(m, children[0]);
}

static bool shares_memory(const compilation *c)
{
  for (uint32_t a = 0; a < NUM_BLOCKS; a++)
    for (uint32_t b = 0; b < a; b++)
      if (c->blocks[a].address < c->blocks[b].address + c->blocks[b].size &&
          c->blocks[b].address < c->blocks[a].address + c->blocks[a].size)
        return true;
  return false;
}

Test(liveness, no_program_can_tell_that_memory_is_shared)
{
  int num_sharing = 0;
  for (uint64_t seed = 1; seed <= 1500; seed++) {
    compilation *c = random_program(seed);
    cr_assert_null(pass_liveness(c));
    cr_assert_null(pass_live_sections(c));
    cr_assert_null(pass_allocate(c));
    num_sharing += shares_memory(c);
    memories m = {
        .c = c, .decisions = seed, .shared = pop_xcalloc(c->target.memory_bytes, sizeof *m.shared)};
    for (uint32_t b = 0; b < NUM_BLOCKS; b++)
      m.own[b] = pop_xcalloc(c->blocks[b].size, sizeof *m.own[b]);
    uint64_t order = seed;
    for (int run = 0; run < 6; run++) {
      m.num_leaves = 0;
      run_step(&m, c->control_programs[random_below(&order, (uint32_t)c->num_control_programs)]);
    }
    for (uint32_t b = 0; b < NUM_BLOCKS; b++) free(m.own[b]);
    free(m.shared);
    compilation_free(c);
  }
  cr_assert_geq(num_sharing, 300, "only %d programs shared anything", num_sharing);
}

Test(liveness, X02_nesting_of_100000_repeats_needs_no_host_stack)
{
  compilation *c = new_compilation();
  add(c, 8, POP_MEMORY_VARIABLE, 0);
  uint32_t s = leaf(c, "", "0");
  for (int i = 0; i < 100000; i++) s = repeat(c, 2, s);
  add_program(c, s);
  find_lives(c);
  cr_assert(!is_always(c, 0));
  compilation_free(c);
}
