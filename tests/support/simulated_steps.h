/* The path of programs through their steps, from an execution profile. */
#ifndef TESTS_SIMULATED_STEPS_H
#define TESTS_SIMULATED_STEPS_H

#include <populus/profile.h>

#include <stdbool.h>
#include <stddef.h>

/* Compute sets in the order of the simulation: "0001". */
static inline char *executed(const pop_profile *profile, char *text)
{
  pop_profile_value steps = pop_profile_find(pop_profile_root(profile), "simulation.steps");
  size_t length = 0;
  for (size_t i = 0; i < pop_profile_count(steps); i++) {
    pop_profile_value set = pop_profile_get(pop_profile_at(steps, i), "computeSet");
    if (pop_profile_kind_of(set) == POP_PROFILE_INT)
      text[length++] = (char)('0' + pop_profile_as_int(set));
  }
  text[length] = '\0';
  return text;
}

static inline bool is_complete(const pop_profile *profile)
{
  return pop_profile_as_bool(pop_profile_find(pop_profile_root(profile), "programTraceComplete"));
}

#endif
