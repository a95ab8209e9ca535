/* Tables of names, and suggestions for misspelt names. */
#include <populus/arena.h>
#include <populus/names.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(names, an_empty_table_has_no_names)
{
  pop_name_table table = {0};
  cr_assert_eq(pop_name_table_find(&table, ""), POP_NAME_NONE);
  cr_assert_eq(pop_name_table_find(&table, "a"), POP_NAME_NONE);
  pop_name_table_free(&table);
}

/* The table grows many times. Names are found by their characters, not by their address. */
Test(names, each_name_keeps_its_number)
{
  enum { COUNT = 20000 };
  pop_arena *arena = pop_arena_new();
  pop_name_table table = {0};
  for (uint32_t i = 0; i < COUNT; ++i) {
    const char *name = pop_arena_printf(arena, "name%u", i);
    cr_assert_eq(pop_name_table_find(&table, name), POP_NAME_NONE, "%s", name);
    pop_name_table_add(&table, name, 3 * i);
  }
  pop_name_table_add(&table, "", 7);
  for (uint32_t i = 0; i < COUNT; ++i) {
    char name[16];
    snprintf(name, sizeof name, "name%u", i);
    cr_assert_eq(pop_name_table_find(&table, name), 3 * i, "%s", name);
    snprintf(name, sizeof name, "Name%u", i);
    cr_assert_eq(pop_name_table_find(&table, name), POP_NAME_NONE, "%s", name);
  }
  cr_assert_eq(pop_name_table_find(&table, ""), 7);
  cr_assert_eq(table.count, COUNT + 1);
  pop_name_table_free(&table);
  cr_assert_eq(pop_name_table_find(&table, "name1"), POP_NAME_NONE);
  pop_arena_free(arena);
}

Test(names, the_nearest_name)
{
  static const char *const names[] = {"in",         "out",        "SumVertex",          "scale",
                                      "--help",     "--version",  "target.saveArchive", "-isystem",
                                      "lib::Plain", "partials[0]"};
  static const struct {
    const char *name, *nearest; /* NULL: none */
  } cases[] = {
      {"SumVertex", "SumVertex"},
      {"SumVertx", "SumVertex"},
      {"sumvertex", "SumVertex"},
      {"SmuVertex", "SumVertex"},
      {"inn", "in"},
      {"--hepl", "--help"},
      {"-isysten", "-isystem"},
      {"target.saveArchiv", "target.saveArchive"},
      {"saveArchive", "target.saveArchive"},
      {"Plain", "lib::Plain"},
      {"my.scale", "scale"},
      {"partials", "partials[0]"},
      {"something else", NULL},
      {"", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const char *found = pop_nearest_name(cases[i].name, names, sizeof names / sizeof *names);
    bool right = cases[i].nearest ? found && !strcmp(found, cases[i].nearest) : !found;
    cr_assert(right, "'%s': '%s', not '%s'", cases[i].name, found ? found : "none",
              cases[i].nearest ? cases[i].nearest : "none");
  }
  cr_assert_null(pop_nearest_name("in", names, 0));
}

Test(names, near_names_come_nearest_first_and_no_more_than_asked_for)
{
  static const char *const names[] = {"weights4", "weightsABC", "weight",
                                      "weights",  "weighty",    "x"};
  static const char *const expected[] = {"weights", "weights4", "weight", "weighty", "weightsABC"};
  const char *nearest[8];
  for (size_t max = 0; max <= 8; ++max) {
    for (size_t i = 0; i < 8; ++i) nearest[i] = "untouched";
    size_t found = pop_nearest_names("weights", names, 6, nearest, max);
    cr_assert_eq(found, max < 5 ? max : 5, "max %zu: %zu", max, found);
    for (size_t i = 0; i < 8; ++i)
      cr_assert_str_eq(nearest[i], i < found ? expected[i] : "untouched", "max %zu, %zu", max, i);
  }
}

/* Names come from files and host programs, so they may have any length. */
Test(names, very_long_names_are_near_to_nothing)
{
  enum { LENGTH = 1 << 20 };
  char *longest = pop_xmalloc(LENGTH + 1);
  memset(longest, 'a', LENGTH);
  longest[LENGTH] = '\0';
  const char *const names[] = {"aaaa", longest};
  cr_assert_null(pop_nearest_name(longest, names, 2));
  cr_assert_str_eq(pop_nearest_name("aaab", names, 2), "aaaa");
  free(longest);
}
