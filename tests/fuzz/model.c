/* Fuzz target of the reader of models: text to a module, calls inlined, everything
 * checked. An accepted module is read completely, but not lowered, as the size of that
 * depends on the shapes. */
#include "fuzz.h"

#include <populus/model.h>

#include <string.h>

static void ask(const pop_model *model)
{
  size_t touched = strlen(pop_model_name(model)) + pop_model_suggested_tiles(model);
  for (size_t i = 0; i < pop_model_num_inputs(model); ++i) {
    pop_model_value v = pop_model_input(model, i);
    touched += strlen(v.name) + strlen(v.element);
    for (size_t d = 0; d < v.rank; ++d) touched += v.shape[d];
  }
  for (size_t i = 0; i < pop_model_num_outputs(model); ++i) {
    pop_model_value v = pop_model_output(model, i);
    touched += strlen(v.name) + strlen(v.element);
  }
  static volatile size_t sink;
  sink = touched;
  (void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  size_t parts = pop_model_count_parts((const char *)data, size);
  for (size_t i = 0; i < parts && i < 4; ++i) {
    pop_model *model;
    pop_error *error = pop_model_parse((const char *)data, size, "fuzz.mlir", i, &model);
    if (!error) ask(model);
    pop_error_free(error);
    pop_model_free(model);
  }
  return 0;
}
