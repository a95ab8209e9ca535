/* libarchive-ipu/target_units.c: the number of elements on which instructions of each chip work at
 * once. */
#include "support/expect.h"

#include <populus/target_units.h>

static const pop_target_units *units_of(const char *name, pop_target *target)
{
  expect_ok(pop_target_create(name, 1, target));
  return pop_target_get_units(target);
}

Test(target_units, vectors_are_as_wide_as_the_data_path)
{
  pop_target target;
  cr_assert_eq(units_of("ipu2", &target)->data_path_bits, 64);
  cr_assert_eq(pop_target_vector_width(&target, POP_FLOAT), 2);
  cr_assert_eq(pop_target_vector_width(&target, POP_HALF), 4);
  cr_assert_eq(pop_target_vector_width(&target, POP_QUARTER), 8);
  cr_assert_eq(pop_target_vector_width(&target, POP_LONGLONG), 1);
  cr_assert_eq(pop_target_vector_width(&target, POP_BOOL), 1);
  cr_assert_eq(pop_target_vector_width(&target, POP_TYPE_COUNT), 1);
}

Test(target_units, are_those_of_the_architecture)
{
  pop_target target;
  cr_assert_eq(units_of("ipu1", &target)->repeat_count_max, 0xfff);
  cr_assert_eq(units_of("ipu1", &target)->half_to_half_units, 8);
  cr_assert_eq(units_of("ipu2", &target)->repeat_count_max, 0xffff);
  cr_assert_eq(units_of("ipu2", &target)->half_to_half_units, 16);
  cr_assert_eq(units_of("ipu2", &target)->quarter_to_half_units, 0);
  cr_assert_eq(units_of("ipu21", &target)->quarter_to_half_units, 16);
}

Test(target_units, a_name_of_the_users_is_taken_as_ipu2)
{
  pop_target target;
  const pop_target_units *units = units_of("ipu2", &target);
  strcpy(target.name, "mine");
  cr_assert_eq(pop_target_get_units(&target), units);
}
