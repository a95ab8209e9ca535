/* Where pop_data_dir() looks. The answer is kept for the life of the process; Criterion gives each
 * test its own. */
#include <populus/data_dir.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

Test(data_dir, environment_wins_and_is_taken_as_it_is)
{
  cr_assert_eq(setenv("POPULUS_DATA_DIR", "/no/such/folder", 1), 0);
  cr_assert_str_eq(pop_data_dir(), "/no/such/folder");
}

Test(data_dir, empty_environment_counts_as_none)
{
  cr_assert_eq(setenv("POPULUS_DATA_DIR", "", 1), 0);
  cr_assert_eq(pop_data_dir()[0], '/');
}

Test(data_dir, build_tree_is_found_without_environment)
{
  cr_assert_eq(unsetenv("POPULUS_DATA_DIR"), 0);
  char path[4096];
  struct stat info;
  cr_assert_lt(snprintf(path, sizeof path, "%s/device/include/math.h", pop_data_dir()),
               (int)sizeof path);
  cr_assert_eq(stat(path, &info), 0, "%s", path);
}

Test(data_dir, later_changes_of_the_environment_do_not_move_it)
{
  unsetenv("POPULUS_DATA_DIR");
  const char *before = pop_data_dir();
  cr_assert_eq(setenv("POPULUS_DATA_DIR", "/elsewhere", 1), 0);
  cr_assert_eq(pop_data_dir(), before);
}
