/* What the options of a command line do to the settings. */
#include "option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

popc_settings *popc_settings_new(void)
{
  popc_settings *settings = pop_xcalloc(1, sizeof *settings);
  settings->arena = pop_arena_new();
  settings->diagnostics_fd = -1;
  return settings;
}

void popc_settings_free(popc_settings *settings)
{
  if (!settings) return;
  free(settings->inputs);
  free(settings->clang);
  free(settings->clang_tile);
  free(settings->variants);
  free(settings->dependency_targets);
  pop_arena_free(settings->arena);
  free(settings);
}

static void pass(popc_settings *settings, const char *argument)
{
  pop_push(settings->clang, settings->num_clang, settings->clang_capacity, argument);
}

static pop_error *take_output(popc_settings *settings, const char *value)
{
  if (settings->output)
    return pop_error_new(POP_ERROR_USAGE, "two output files: '%s' and '%s'", settings->output,
                         value);
  settings->output = value;
  return NULL;
}

static pop_error *take_level(popc_settings *settings, const char *argument, const char *value)
{
  static const char *const levels[] = {"", "0", "1", "2", "3", "s", "z", "g", "fast"};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; ++i) {
    if (strcmp(value, levels[i]) != 0) continue;
    pass(settings, argument);
    return NULL;
  }
  return pop_error_new(POP_ERROR_USAGE,
                       "'%s' is no level of optimisation: there are -O0, -O1, -O2, -O3, -Os and "
                       "-Oz",
                       argument);
}

static pop_error *take_language(popc_settings *settings, const char *value)
{
  popc_language language;
  if (popc_language_named(value, &language)) {
    settings->language = value;
    return NULL;
  }
  if (!strcmp(value, "none")) {
    settings->language = NULL;
    return NULL;
  }
  return pop_error_new(POP_ERROR_USAGE,
                       "'%s' is no language for -x: there are c, c++, assembler, "
                       "assembler-with-cpp, ir, gp and none",
                       value);
}

static const char *const product_names[] = {
    [POPC_PREPROCESSED] = "-E",
    [POPC_ASSEMBLY] = "-S",
    [POPC_IR] = "-emit-llvm",
    [POPC_VERTEX_LIST] = "--list-vertices",
    [POPC_RULE] = "-M",
    [POPC_USER_RULE] = "-MM",
    [POPC_NOTHING] = "-fsyntax-only",
    [POPC_PROGRAM] = "--link",
};

static pop_error *take_product(popc_settings *settings, popc_product product)
{
  popc_product *now = &settings->product;
  /* clang's -S -emit-llvm, in either order, is one request. */
  bool text_of_ir = (*now == POPC_ASSEMBLY && product == POPC_IR) ||
                    (*now == POPC_IR && product == POPC_ASSEMBLY);
  if (*now != POPC_GP && *now != product && !text_of_ir)
    return pop_error_new(POP_ERROR_USAGE, "'%s' and '%s' cannot be had in one call",
                         product_names[*now], product_names[product]);
  *now = text_of_ir ? POPC_IR : product;
  return NULL;
}

/* The value of `option`, in the numbering of popc_colour and popc_when. */
static pop_error *take_when(const char *option, const char *value, int *when)
{
  static const char *const names[] = {"auto", "always", "never"};
  for (int i = 0; i < 3; ++i) {
    if (strcmp(value, names[i]) != 0) continue;
    *when = i;
    return NULL;
  }
  return pop_error_new(POP_ERROR_USAGE, "'%s%s': it is auto, always or never", option, value);
}

static pop_error *take_named_colour(popc_settings *settings, const popc_option *option,
                                    const char *value)
{
  int when = POPC_COLOUR_AUTO;
  POP_TRY(take_when(option->spelling, value, &when));
  settings->colour_choice = (popc_colour)when;
  return NULL;
}

/* No value means always. */
static pop_error *take_remedy(popc_settings *settings, const popc_option *option, const char *value)
{
  int when = POPC_ALWAYS;
  if (*value) POP_TRY(take_when(option->spelling, value, &when));
  settings->remedies[option->number].when = (popc_when)when;
  popc_begin_remedies(settings);
  return NULL;
}

static pop_error *take_vectors(popc_settings *settings, const popc_option *option,
                               const char *value)
{
  int when = POPC_AUTO;
  POP_TRY(take_when(option->spelling, value, &when));
  settings->vectors = (popc_when)when;
  return NULL;
}

static pop_error *take_dependency_target(popc_settings *settings, const char *name, bool quote)
{
  if (quote) name = popc_quote_for_make(settings->arena, name);
  pop_push(settings->dependency_targets, settings->num_dependency_targets,
           settings->dependency_targets_capacity, name);
  return NULL;
}

static pop_error *refuse(const char *argument, const popc_option *option)
{
  const char *instead =
      option && option->action == REFUSE ? option->value : "popc does not hand it on";
  return pop_error_new(POP_ERROR_USAGE, "option '%s' is not for codelets: %s", argument, instead);
}

/* -X: an option that the table does not know is handed on, too. A value is handed on only after its
 * option. */
static pop_error *forward(popc_settings *settings, const char *value)
{
  const popc_option *option = value[0] == '-' && value[1] ? popc_find_option(value) : NULL;
  bool ours = option && option->action != PASS && option->action != PASS_TILE &&
              option->action != PASS_LEVEL;
  if (ours || (value[0] != '-' && !settings->value_may_follow)) return refuse(value, option);
  settings->value_may_follow = option &&
                               (option->form == SEPARATE || option->form == JOINED_OR_SEPARATE) &&
                               !value[strlen(option->spelling)];
  settings->handed_on = true;
  pass(settings, value);
  return NULL;
}

static pop_error *take_answer(popc_settings *settings, popc_answer answer, const char *value)
{
  if (!settings->answer) {
    settings->answer = answer;
    settings->answer_value = value;
  }
  return NULL;
}

/* Without a value, `value` is the empty end of `argument`. */
static pop_error *perform(popc_settings *settings, const popc_option *option, const char *argument,
                          const char *value)
{
  bool separate = value != argument + strlen(option->spelling);
  switch (option->action) {
  case PASS:
    pass(settings, argument);
    if (separate) pass(settings, value);
    return NULL;
  case PASS_TILE:
    pop_push(settings->clang_tile, settings->num_clang_tile, settings->clang_tile_capacity,
             argument);
    return NULL;
  case PASS_LEVEL:
    return take_level(settings, argument, value);
  case FORWARD:
    return forward(settings, value);
  case OUTPUT:
    return take_output(settings, value);
  case TARGET:
    return popc_take_targets(settings, value);
  case LANGUAGE:
    return take_language(settings, value);
  case PRODUCT:
    return take_product(settings, (popc_product)option->number);
  case COMPILE_ONLY:
    settings->compile_only = true;
    return NULL;
  case ANSWER:
    return take_answer(settings, (popc_answer)option->number, value);
  case JSON:
    settings->json = true;
    settings->pretty = settings->pretty || option->number;
    return NULL;
  case DEPENDENCIES:
    settings->dependencies |= (unsigned)option->number;
    return NULL;
  case DEPENDENCY_FILE:
    settings->dependency_file = value;
    return NULL;
  case DEPENDENCY_TARGET:
    return take_dependency_target(settings, value, option->number);
  case COLOUR:
    settings->colour_choice = (popc_colour)option->number;
    return NULL;
  case COLOUR_NAMED:
    return take_named_colour(settings, option, value);
  case REMEDY:
    return take_remedy(settings, option, value);
  case VERBOSE:
    settings->verbose = true;
    return NULL;
  case VECTORS:
    return take_vectors(settings, option, value);
  case NO_CACHE:
    settings->no_cache = true;
    return NULL;
  case QUIET:
    settings->quiet = true;
    return NULL;
  case DRY_RUN:
    settings->verbose = settings->dry_run = true;
    return NULL;
  case SAVE_TEMPS:
    settings->save_temps = true;
    settings->save_temps_beside = option->number;
    return NULL;
  case DATABASE:
    settings->database_file = value;
    return NULL;
  case REFUSE:
    break;
  }
  return refuse(argument, option);
}

/* Takes the option at arguments[*index], and its value. */
static pop_error *take_option(popc_settings *settings, size_t count, const char *const *arguments,
                              size_t *index)
{
  const char *argument = arguments[*index];
  const popc_option *option = popc_find_option(argument);
  if (!option) return popc_unknown_option(argument);
  const char *joined = argument + strlen(option->spelling), *value = joined;
  if (option->form == JOINED || (option->form == JOINED_OR_SEPARATE && *joined)) {
    value = joined;
    if (!*value && argument[strlen(argument) - 1] == '=')
      return pop_error_new(POP_ERROR_USAGE, "option '%s' needs a value: %s%s", argument, argument,
                           option->value);
  } else if (option->form != ALONE && option->action != REFUSE) {
    if (*index + 1 >= count)
      return pop_error_new(POP_ERROR_USAGE, "option '%s' needs a value: %s %s", argument, argument,
                           option->value);
    value = arguments[++*index];
    if (!*value)
      return pop_error_new(POP_ERROR_USAGE, "option '%s' has an empty value: %s %s", argument,
                           argument, option->value);
  }
  return perform(settings, option, argument, value);
}

/* Takes the argument at arguments[*index], and the one behind it if that is its value. */
static pop_error *take_argument(popc_settings *settings, size_t count, const char *const *arguments,
                                size_t *index, bool may_be_option, bool inputs_allowed)
{
  const char *argument = arguments[*index];
  if (may_be_option && argument[0] == '-' && argument[1])
    return take_option(settings, count, arguments, index);
  if (!inputs_allowed)
    return pop_error_new(POP_ERROR_USAGE, "'%s' is not an option of popc", argument);
  if (!*argument) return pop_error_new(POP_ERROR_USAGE, "an input has an empty name");
  popc_input input = {argument, settings->language, NULL};
  pop_push(settings->inputs, settings->num_inputs, settings->inputs_capacity, input);
  return NULL;
}

/* Parses on after a mistake, as --help may follow it. The result is the first mistake. */
static pop_error *parse_all(popc_settings *settings, size_t count, const char *const *arguments,
                            bool inputs_allowed)
{
  pop_error *first = NULL;
  bool may_be_option = true;
  for (size_t i = 0; i < count; ++i) {
    if (may_be_option && !strcmp(arguments[i], "--")) {
      may_be_option = false;
      continue;
    }
    pop_error *error = take_argument(settings, count, arguments, &i, may_be_option, inputs_allowed);
    if (first)
      pop_error_free(error);
    else
      first = error;
  }
  return first;
}

/* What depends on more than one option. */
static pop_error *check_together(const popc_settings *settings)
{
  bool rule = popc_makes_rule(settings->product);
  bool make = settings->dependencies & POPC_DEPENDENCIES || rule;
  if (settings->dependencies & POPC_MISSING_DEPENDENCIES && !rule)
    return pop_error_new(POP_ERROR_USAGE, "-MG needs -M or -MM");
  if (!make &&
      (settings->dependencies || settings->dependency_file || settings->dependency_targets))
    return pop_error_new(POP_ERROR_USAGE, "-MF, -MT, -MQ and -MP need -MD, -MMD, -M or -MM");
  if (rule && settings->dependencies & POPC_DEPENDENCIES)
    return pop_error_new(POP_ERROR_USAGE,
                         "-MD and -MMD are for compilations: -M and -MM make none");
  bool only_reads = settings->product == POPC_NOTHING || settings->product == POPC_VERTEX_LIST;
  if (only_reads && settings->dependencies && !settings->dependency_file)
    return pop_error_new(POP_ERROR_USAGE, "-MD needs -MF where no .gp is made");
  if (settings->database_file && settings->product != POPC_GP)
    return pop_error_new(POP_ERROR_USAGE, "-MJ is for compilations that make a .gp");
  if (settings->json && settings->product != POPC_VERTEX_LIST)
    return pop_error_new(POP_ERROR_USAGE, "--json and --pretty are for --list-vertices");
  return NULL;
}

pop_error *popc_parse_options(popc_settings *settings, size_t count, const char *const *arguments,
                              bool inputs_allowed)
{
  POP_TRY(parse_all(settings, count, arguments, inputs_allowed));
  return check_together(settings);
}
