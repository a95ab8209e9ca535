/* Infeeds and outfeeds of a module that pophlo runs: streams to and from files, each with any
 * number of tensors. */
#include "pophlo.h"
#include "tensor_file.h"

#include <populus/model.h>
#include <stdlib.h>
#include <string.h>

struct pophlo_feed {
  pop_model_value v;
  bool in;
  const char *file;
  uint8_t *bytes; /* what goes in: from `start` on, to the end of `size` */
  size_t start, size;
  pop_bytes collected; /* what comes out */
  size_t copy_bytes;
};

struct pophlo_feeds {
  pophlo_feed *items;
  size_t count;
};

static tensor_use use_of_feed(const pophlo_feed *f)
{
  tensor_use use = {.what = "stream",
                    .name = f->v.name,
                    .type = f->v.type,
                    .rank = (uint32_t)f->v.rank,
                    .shape = f->v.shape,
                    .bytes = f->copy_bytes,
                    .parts = 1,
                    .repeats = true};
  return use;
}

static int collect(void *context, void *data)
{
  pophlo_feed *f = context;
  if (!pop_bytes_try_reserve(&f->collected, f->copy_bytes)) return 1;
  memcpy(f->collected.data + f->collected.size, data, f->copy_bytes);
  f->collected.size += f->copy_bytes;
  return 0;
}

static const char *file_of(const pophlo_arguments *a, const char *name, bool in)
{
  size_t count = in ? a->num_ins : a->num_outs;
  for (size_t i = 0; i < count; ++i)
    if (strcmp(in ? a->ins[i].name : a->outs[i].name, name) == 0)
      return in ? a->ins[i].file : a->outs[i].file;
  return NULL;
}

static pop_error *connect(pophlo_feed *f, pop_engine *engine)
{
  if (!f->file)
    return pop_error_new(POP_ERROR_USAGE, "--run needs all streams: --%s %s=FILE is missing",
                         f->in ? "in" : "out", f->v.name);
  if (!f->in) {
    const pop_stream_callback callback = {.fetch = collect, .context = f};
    return pop_engine_connect_stream_callback(engine, f->v.name, &callback);
  }
  tensor_use use = use_of_feed(f);
  POP_TRY(tensor_file_read(f->file, &use, &f->bytes, &f->start, &f->size));
  return pop_engine_connect_stream(engine, f->v.name, f->bytes + f->start, f->bytes + f->size);
}

pop_error *pophlo_feeds_connect(const pophlo_arguments *a, const pop_model *model,
                                pop_engine *engine, pophlo_feeds **result)
{
  pophlo_feeds *feeds = *result = pop_xcalloc(1, sizeof *feeds);
  feeds->count = pop_model_num_feeds(model);
  feeds->items = pop_xcalloc(feeds->count + 1, sizeof *feeds->items);
  if (feeds->count && a->replicas > 1)
    return pop_error_new(POP_ERROR_USAGE,
                         "infeeds and outfeeds of several replicas: compile with -o, "
                         "and give popexec a file for each");
  for (size_t i = 0; i < feeds->count; ++i) {
    pophlo_feed *f = &feeds->items[i];
    f->v = pop_model_feed(model, i, &f->in);
    f->file = file_of(a, f->v.name, f->in);
    f->copy_bytes = pop_type_bytes(f->v.type);
    for (size_t d = 0; d < f->v.rank; ++d) f->copy_bytes *= f->v.shape[d];
    POP_TRY(connect(f, engine));
  }
  return NULL;
}

pop_error *pophlo_feeds_write(const pophlo_feeds *feeds)
{
  for (size_t i = 0; i < feeds->count; ++i) {
    const pophlo_feed *f = &feeds->items[i];
    tensor_use use = use_of_feed(f);
    if (!f->in) POP_TRY(tensor_file_write(f->file, &use, f->collected.data, f->collected.size));
  }
  return NULL;
}

void pophlo_feeds_free(pophlo_feeds *feeds)
{
  if (!feeds) return;
  for (size_t i = 0; i < feeds->count; ++i) {
    free(feeds->items[i].bytes);
    pop_bytes_free(&feeds->items[i].collected);
  }
  free(feeds->items);
  free(feeds);
}
