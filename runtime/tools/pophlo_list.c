/* pophlo --list: inputs and outputs of a module, as text or as JSON. */
#include "pophlo.h"

#include "values.h"
#include <stdio.h>

static void print_value(const char *kind, pop_model_value v)
{
  printf("%s %s: %s[", kind, v.name, v.element);
  for (size_t d = 0; d < v.rank; ++d) printf("%s%zu", d ? "," : "", v.shape[d]);
  printf("]\n");
}

static void put_value(values *to, pop_model_value v, const char *direction)
{
  values_begin_map(to, NULL);
  values_put_text(to, "name", v.name);
  if (direction) values_put_text(to, "direction", direction);
  values_put_text(to, "type", v.element);
  values_begin_list(to, "shape");
  for (size_t d = 0; d < v.rank; ++d) values_put_count(to, NULL, v.shape[d]);
  values_end(to);
  values_end(to);
}

static void print_text(const pop_model *model)
{
  for (size_t i = 0; i < pop_model_num_feeds(model); ++i) {
    bool in;
    pop_model_value v = pop_model_feed(model, i, &in);
    print_value(in ? "stream in" : "stream out", v);
  }
  for (size_t i = 0; i < pop_model_num_inputs(model); ++i)
    print_value("in", pop_model_input(model, i));
  for (size_t i = 0; i < pop_model_num_outputs(model); ++i)
    print_value("out", pop_model_output(model, i));
}

static pop_error *print_json(const pop_model *model, bool pretty)
{
  values all = {0};
  values_begin_map(&all, NULL);
  values_begin_list(&all, "arguments");
  for (size_t i = 0; i < pop_model_num_inputs(model); ++i)
    put_value(&all, pop_model_input(model, i), NULL);
  values_end(&all);
  values_begin_list(&all, "results");
  for (size_t i = 0; i < pop_model_num_outputs(model); ++i)
    put_value(&all, pop_model_output(model, i), NULL);
  values_end(&all);
  values_begin_list(&all, "streams");
  for (size_t i = 0; i < pop_model_num_feeds(model); ++i) {
    bool in;
    pop_model_value v = pop_model_feed(model, i, &in);
    put_value(&all, v, in ? "in" : "out");
  }
  values_end(&all);
  values_end(&all);
  return values_print(&all, pretty);
}

pop_error *pophlo_list(const pophlo_arguments *a, const pop_model *model)
{
  if (a->json) return print_json(model, a->pretty);
  print_text(model);
  return NULL;
}
