/* Allocation and accounting over blocks that are made here, without a graph. Addresses are checked
 * byte by byte against the blocks' live ranges. */
#include "compiler/compilation.h"
#include "support/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 0x40000, SYSTEM_BYTES = 256, REGION_BYTES = 64 * 1024, NUM_TILES = 3 };

static pop_target small_target(void)
{
  pop_target target;
  pop_error *error = pop_target_create("ipu1", 1, &target);
  cr_assert_null(error);
  strcpy(target.name, "small");
  target.tiles_per_ipu = NUM_TILES;
  target.memory_base = BASE;
  target.system_bytes = SYSTEM_BYTES;
  target.interleaved_base = BASE + REGION_BYTES;
  target.memory_bytes = 2 * REGION_BYTES;
  return target;
}

static compilation *new_compilation(bool allow_out_of_memory)
{
  compilation *c = pop_xcalloc(1, sizeof *c);
  c->target = small_target();
  c->arena = pop_arena_new();
  c->options.allow_out_of_memory = allow_out_of_memory;
  cr_assert_null(pass_live_sections(c)); /* layouts of tiles without vertices */
  return c;
}

static uint32_t add(compilation *c, uint32_t tile, uint32_t size, uint16_t align, uint8_t flags)
{
  return add_block(c, &(block){.tile = tile,
                               .size = size,
                               .align = align,
                               .category = POP_MEMORY_VARIABLE,
                               .flags = flags,
                               .name = "v",
                               .content = COMPILER_NONE});
}

static void allocate(compilation *c)
{
  pop_error *error = pass_allocate(c);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static bool is_live_with(const block *a, const block *b)
{
  if (a->flags & BLOCK_ALWAYS_LIVE || b->flags & BLOCK_ALWAYS_LIVE) return true;
  return a->first_step <= b->last_step && b->first_step <= a->last_step;
}

static void check_block(const compilation *c, uint32_t index)
{
  const block *b = &c->blocks[index];
  cr_assert_eq(b->address % b->align, 0, "block %u at 0x%x, alignment %u", index, b->address,
               b->align);
  cr_assert_geq(b->address, BASE + SYSTEM_BYTES, "block %u is in the system's memory", index);
  if (b->flags & BLOCK_INTERLEAVED)
    cr_assert_geq(b->address, c->target.interleaved_base, "block %u is not interleaved", index);
  if (b->flags & (BLOCK_CODE | BLOCK_READ_ONLY))
    cr_assert_leq(b->address + b->size, c->target.interleaved_base, "code %u in region 1", index);
  cr_assert_leq(b->address + b->size, c->tiles[b->tile].end);
  for (uint32_t other = 0; other < index; other++) {
    const block *o = &c->blocks[other];
    bool apart = o->tile != b->tile || o->address + o->size <= b->address ||
                 b->address + b->size <= o->address;
    cr_assert(apart || !is_live_with(b, o), "blocks %u and %u overlap while both are live", other,
              index);
  }
}

/* Blocks of all kinds. `span` is the number of steps, `longest` the longest live range. */
static void add_random_blocks(compilation *c, uint64_t *seed, uint32_t count, uint32_t span,
                              uint32_t longest)
{
  for (uint32_t i = 0; i < count; i++) {
    uint16_t align = (uint16_t)(4u << random_below(seed, 4));
    uint32_t size = 1 + random_below(seed, random_below(seed, 4) ? 64 : 600);
    uint32_t kind = random_below(seed, 10);
    uint8_t flags = kind == 0   ? BLOCK_CODE | BLOCK_ALWAYS_LIVE
                    : kind == 1 ? BLOCK_READ_ONLY | BLOCK_ALWAYS_LIVE
                    : kind == 2 ? BLOCK_INTERLEAVED
                    : kind == 3 ? BLOCK_INTERLEAVED | BLOCK_ALWAYS_LIVE
                    : kind < 6  ? BLOCK_ALWAYS_LIVE
                                : 0;
    uint32_t b = add(c, random_below(seed, NUM_TILES), size, align, flags);
    c->blocks[b].category = (uint8_t)random_below(seed, POP_MEMORY_CATEGORY_COUNT);
    c->blocks[b].first_step = random_below(seed, span);
    c->blocks[b].last_step = c->blocks[b].first_step + random_below(seed, longest);
  }
}

Test(allocate, blocks_that_are_live_together_never_overlap)
{
  static const struct {
    uint32_t count, span, longest;
  } cases[] = {{1, 1, 1}, {40, 5, 5}, {200, 20, 3}, {200, 200, 4}, {300, 30, 30}, {150, 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
      uint64_t state = seed;
      compilation *c = new_compilation(false);
      add_random_blocks(c, &state, cases[i].count, cases[i].span, cases[i].longest);
      allocate(c);
      for (uint32_t b = 0; b < c->num_blocks; b++) check_block(c, b);
      compilation_free(c);
    }
  }
}

Test(allocate, the_same_blocks_get_the_same_addresses)
{
  compilation *runs[2];
  for (int i = 0; i < 2; i++) {
    uint64_t state = 7;
    runs[i] = new_compilation(false);
    add_random_blocks(runs[i], &state, 300, 25, 10);
    allocate(runs[i]);
  }
  for (uint32_t b = 0; b < runs[0]->num_blocks; b++)
    cr_assert_eq(runs[0]->blocks[b].address, runs[1]->blocks[b].address);
  compilation_free(runs[0]);
  compilation_free(runs[1]);
}

/* ---- quality of plans ---- */

Test(allocate, a_plan_is_rated_by_what_is_live_at_once)
{
  compilation *c = new_compilation(false);
  add(c, 1, 1000, 4, BLOCK_CODE | BLOCK_ALWAYS_LIVE);
  add(c, 1, 20, 16, BLOCK_ALWAYS_LIVE);
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t b = add(c, 1, 100 + 100 * i, 4, 0);
    c->blocks[b].first_step = i;
    c->blocks[b].last_step = i + 1;
  }
  allocate(c);
  cr_assert_null(pass_account(c));
  const pop_tile_memory *memory = &c->memory[1];
  cr_assert_eq(memory->most_live, 1000 + 20 + 200 + 300, "%u", memory->most_live);
  cr_assert_eq(memory->least_including_gaps, SYSTEM_BYTES + memory->most_live);
  cr_assert_leq(memory->total_including_gaps, memory->least_including_gaps + 8, "8 for alignment");
  cr_assert_eq(c->memory[0].least_including_gaps, c->memory[0].total_including_gaps);
  compilation_free(c);
}

Test(allocate, what_must_be_interleaved_raises_the_bound)
{
  compilation *c = new_compilation(false);
  add(c, 0, 100, 4, BLOCK_ALWAYS_LIVE);
  add(c, 0, 64, 8, BLOCK_ALWAYS_LIVE | BLOCK_INTERLEAVED);
  allocate(c);
  cr_assert_eq(c->tiles[0].most_live_bytes, 164);
  cr_assert_eq(c->tiles[0].least_bytes, REGION_BYTES - SYSTEM_BYTES + 64);
  cr_assert_eq(c->tiles[0].end, BASE + REGION_BYTES + 64);
  compilation_free(c);
}

/* ---- tiles with equal blocks ---- */

/* A block of each kind. `variant` changes one property that affects addresses. */
static void add_set(compilation *c, uint32_t tile, int variant)
{
  add(c, tile, 100, 4, BLOCK_CODE | BLOCK_ALWAYS_LIVE);
  add(c, tile, 40, variant == 1 ? 64 : 8, BLOCK_ALWAYS_LIVE);
  uint32_t b = add(c, tile, variant == 2 ? 44 : 48, 8, variant == 3 ? BLOCK_INTERLEAVED : 0);
  c->blocks[b].last_step = variant == 4 ? 6 : 3;
  b = add(c, tile, 48, 8, 0);
  c->blocks[b].first_step = 5;
  c->blocks[b].last_step = 7;
}

Test(allocate, only_tiles_with_equal_blocks_are_planned_once)
{
  for (int variant = 0; variant <= 4; variant++) {
    compilation *c = new_compilation(false);
    add_set(c, 1, variant);
    add_set(c, 0, 0);
    allocate(c);
    cr_assert_eq(c->tiles[0].same_as, COMPILER_NONE);
    cr_assert_eq(c->tiles[1].same_as, variant == 0 ? 0 : COMPILER_NONE, "variant %d", variant);
    for (uint32_t b = 0; b < c->num_blocks; b++) check_block(c, b);
    for (uint32_t b = 0; b < 4 && variant == 0; b++)
      cr_assert_eq(c->blocks[b].address, c->blocks[b + 4].address);
    compilation_free(c);
  }
}

/* ---- constraints of vertices ---- */

static const pop_field two_fields[] = {{.name = "a"}, {.name = "b"}};
static const pop_constraint elements_apart = {.fields = {0, 1}, .depths = {1, 1}};
static const pop_constraint elements_equal = {.equal = true, .fields = {0, 1}, .depths = {1, 1}};
static const pop_constraint regions_apart = {.regions = true, .fields = {0, 1}, .depths = {1, 1}};

static const pop_vertex_type types_with_constraints[] = {
    {.name = "Apart",
     .source = "codelets.cpp:12",
     .fields = two_fields,
     .num_fields = 2,
     .constraints = &elements_apart,
     .num_constraints = 1},
    {.name = "Together",
     .source = "codelets.cpp:23",
     .fields = two_fields,
     .num_fields = 2,
     .constraints = &elements_equal,
     .num_constraints = 1},
    {.name = "Regions",
     .source = "codelets.cpp:34",
     .fields = two_fields,
     .num_fields = 2,
     .constraints = &regions_apart,
     .num_constraints = 1},
};

/* A placement rule for all bytes of two blocks on one tile. */
static void constrain(compilation *c, int type, uint32_t a, uint32_t b)
{
  placement_rule rule = {.type = &types_with_constraints[type],
                         .tile = c->blocks[a].tile,
                         .ranges = {{a, 0, c->blocks[a].size}, {b, 0, c->blocks[b].size}}};
  pop_push(c->placement_rules, c->num_placement_rules, c->placement_rules_capacity, rule);
}

Test(allocate, blocks_that_a_constraint_keeps_apart_lie_in_different_elements)
{
  compilation *c = new_compilation(false);
  for (uint32_t tile = 0; tile < 2; tile++) {
    uint32_t a = add(c, tile, 1000, 8, BLOCK_ALWAYS_LIVE);
    uint32_t b = add(c, tile, 1000, 8, BLOCK_ALWAYS_LIVE);
    if (tile == 0) constrain(c, 0, a, b);
  }
  allocate(c);
  uint32_t element = c->target.memory_element_bytes;
  cr_assert_neq(c->blocks[0].address / element, c->blocks[1].address / element);
  cr_assert_eq(c->blocks[2].address / element, c->blocks[3].address / element);
  cr_assert_eq(c->tiles[1].same_as, COMPILER_NONE, "its blocks are the same, its rules are not");
  cr_assert_eq(c->tiles[0].end, BASE + element + 1000);
  cr_assert_eq(c->tiles[0].least_bytes, element + 1000 - SYSTEM_BYTES);
  compilation_free(c);
}

Test(allocate, a_constraint_that_no_addresses_meet_is_an_error_that_names_it)
{
  compilation *c = new_compilation(true);
  uint32_t a = add(c, 2, 20000, 8, BLOCK_ALWAYS_LIVE);
  uint32_t b = add(c, 2, 40, 8, BLOCK_ALWAYS_LIVE);
  c->blocks[a].name = "weights";
  constrain(c, 1, a, b);
  allocate(c);
  cr_assert_not_null(c->out_of_memory);
  const char *message = pop_error_message(c->out_of_memory);
  static const char *const parts[] = {"elem(*a) == elem(*b)",  "vertex Together",
                                      "codelets.cpp:23",       "tile 2",
                                      "20,000 B of 'weights'", "16384 B"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    cr_assert_not_null(strstr(message, parts[i]), "no '%s' in: %s", parts[i], message);
  compilation_free(c);
}

Test(allocate, a_constraint_that_makes_a_tile_overfull_is_named_with_it)
{
  compilation *c = new_compilation(false);
  uint32_t a = add(c, 0, REGION_BYTES, 8, BLOCK_ALWAYS_LIVE);
  uint32_t b = add(c, 0, 4, 8, BLOCK_ALWAYS_LIVE | BLOCK_INTERLEAVED);
  constrain(c, 2, a, b);
  pop_error *error = pass_allocate(c);
  cr_assert_not_null(error);
  const char *message = pop_error_message(error);
  cr_assert_not_null(strstr(message, "region(*a) != region(*b)"), "%s", message);
  pop_error_free(error);
  compilation_free(c);
}

Test(allocate, an_overfull_tile_says_which_constraint_it_would_fit_without)
{
  compilation *c = new_compilation(false);
  uint32_t last = add(c, 0, 4, 8, BLOCK_ALWAYS_LIVE);
  for (int i = 0; i < 7; i++) {
    uint32_t next = add(c, 0, 13000, 8, BLOCK_ALWAYS_LIVE);
    for (uint32_t b = last; b < next; b++) constrain(c, 0, b, next);
  }
  pop_error *error = pass_allocate(c);
  cr_assert_not_null(error);
  const char *message = pop_error_message(error);
  cr_assert_not_null(strstr(message, "1 of 3 tiles out of memory, tile 0 by"), "%s", message);
  cr_assert_not_null(strstr(message, "Tile # 0 would fit if"), "%s", message);
  cr_assert_not_null(strstr(message, "elem(*a) != elem(*b) of vertex Apart"), "%s", message);
  pop_error_free(error);
  compilation_free(c);
}

/* ---- full tiles ---- */

static void fill_tile(compilation *c, uint32_t tile, uint32_t bytes)
{
  add(c, tile, 1000, 4, BLOCK_CODE | BLOCK_ALWAYS_LIVE);
  add(c, tile, 5000, 8, BLOCK_ALWAYS_LIVE);
  add(c, tile, bytes - 6000, 4, BLOCK_ALWAYS_LIVE);
}

Test(allocate, Z01_exactly_full_fits)
{
  compilation *c = new_compilation(false);
  fill_tile(c, 1, 2 * REGION_BYTES - SYSTEM_BYTES);
  allocate(c);
  cr_assert_eq(c->tiles[1].end, BASE + 2 * REGION_BYTES);
  cr_assert_null(c->out_of_memory);
  compilation_free(c);
}

Test(allocate, Z01_one_byte_more_is_out_of_memory_by_one)
{
  compilation *c = new_compilation(false);
  fill_tile(c, 1, 2 * REGION_BYTES - SYSTEM_BYTES + 1);
  pop_error *error = pass_allocate(c);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_GRAPH_MEMORY);
  const char *message = pop_error_message(error);
  cr_assert_not_null(strstr(message, "1 of 3 tiles out of memory, tile 1 by 1 B"), "%s", message);
  cr_assert_not_null(strstr(message, "Tile # 1 memory usage:"), "%s", message);
  cr_assert_not_null(strstr(message, "debug.allowOutOfMemory"), "%s", message);
  cr_assert_eq(c->tiles[1].shortage, 1);
  pop_error_free(error);
  compilation_free(c);
}

Test(allocate, E06_overfull_tiles_are_laid_out_when_that_is_allowed)
{
  compilation *c = new_compilation(true);
  fill_tile(c, 1, 2 * REGION_BYTES - SYSTEM_BYTES + 100);
  fill_tile(c, 2, 5 * REGION_BYTES);
  allocate(c);
  cr_assert_null(pass_account(c));
  cr_assert_not_null(c->out_of_memory);
  cr_assert_not_null(strstr(pop_error_message(c->out_of_memory), "2 of 3 tiles out of memory"));
  cr_assert_eq(c->memory[1].by_region[POP_REGION_OVERFLOWED], 100);
  cr_assert_eq(c->memory[2].by_region[POP_REGION_OVERFLOWED], 3 * REGION_BYTES + SYSTEM_BYTES);
  cr_assert_eq(c->memory[0].total, 0);
  compilation_free(c);
}

Test(allocate, code_past_region_0_is_out_of_memory)
{
  compilation *c = new_compilation(false);
  add(c, 0, REGION_BYTES - SYSTEM_BYTES, 4, BLOCK_CODE | BLOCK_ALWAYS_LIVE);
  allocate(c);
  compilation_free(c);
  c = new_compilation(false);
  add(c, 0, REGION_BYTES - SYSTEM_BYTES + 8, 4, BLOCK_CODE | BLOCK_ALWAYS_LIVE);
  pop_error *error = pass_allocate(c);
  cr_assert_not_null(error);
  cr_assert_not_null(strstr(pop_error_message(error), "tile 0 by 8 B"), "%s",
                     pop_error_message(error));
  pop_error_free(error);
  compilation_free(c);
}

Test(allocate, a_tile_that_passes_32_bits_is_an_error_even_if_out_of_memory_is_allowed)
{
  compilation *c = new_compilation(true);
  add(c, 2, UINT32_MAX - 3, 4, BLOCK_ALWAYS_LIVE);
  add(c, 2, UINT32_MAX - 3, 4, BLOCK_ALWAYS_LIVE);
  pop_error *error = pass_allocate(c);
  cr_assert_not_null(error);
  cr_assert_not_null(strstr(pop_error_message(error), "tile 2"));
  pop_error_free(error);
  compilation_free(c);
}

/* ---- accounting ---- */

static void count_bytes(const compilation *c, uint32_t tile, pop_tile_memory *memory)
{
  memset(memory, 0, sizeof *memory);
  memory->total_including_gaps = c->tiles[tile].end - BASE;
  memory->most_live = c->tiles[tile].most_live_bytes;
  memory->least_including_gaps = SYSTEM_BYTES + c->tiles[tile].least_bytes;
  for (uint32_t address = BASE; address < c->tiles[tile].end; address++) {
    uint32_t users = 0;
    for (uint32_t pass = 0, found = 0; pass < 2; pass++, users = found, found = 0)
      for (size_t i = 0; i < c->num_blocks; i++) {
        const block *b = &c->blocks[i];
        if (b->tile != tile || address < b->address || address >= b->address + b->size) continue;
        found++;
        pop_memory_region region = pop_memory_region_of(&c->target, address);
        if (pass == 0) continue;
        if (users == 1) memory->not_overlapped[b->category][region]++;
        if (users > 1) memory->overlapped[b->category][region]++;
      }
    if (!users) continue;
    pop_memory_region region = pop_memory_region_of(&c->target, address);
    uint32_t start = region == POP_REGION_NON_INTERLEAVED ? BASE : BASE + REGION_BYTES;
    memory->total++;
    memory->by_region[region]++;
    memory->by_region_including_gaps[region] = address + 1 - start;
  }
}

Test(account, equals_a_count_of_single_bytes)
{
  for (uint64_t seed = 1; seed <= 5; seed++) {
    uint64_t state = seed;
    compilation *c = new_compilation(false);
    add_random_blocks(c, &state, 120, 12, 4);
    allocate(c);
    cr_assert_null(pass_account(c));
    for (uint32_t tile = 0; tile < NUM_TILES; tile++) {
      pop_tile_memory counted;
      count_bytes(c, tile, &counted);
      cr_assert_eq(memcmp(&counted, &c->memory[tile], sizeof counted), 0, "tile %u, seed %d", tile,
                   (int)seed);
    }
    compilation_free(c);
  }
}
