/* Collective calls of ranks. First come headers, which say where each rank is; then the data. Short
 * data is in the header. */
#include "ranks/ranks.h"

#include "ranks/process.h"
#include "ranks_identity.h"
#include <assert.h>
#include <populus/arena.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LABEL = 88, SHORT = 136, HOST = 64 };

struct ranks {
  int tag;
  bool no_timeout;
};

/* From each rank to each other one. */
typedef struct header {
  char label[LABEL];
  uint64_t bytes;       /* of data that follows or is in `here` */
  uint32_t error_bytes; /* of the error's text, which then follows; 0: no error */
  uint32_t code;        /* the error's */
  uint8_t here[SHORT];
} header;

/* Threads open engines at the same time. For joining, and for the tags. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
/* The host of each rank, known once they have joined. */
static char (*hosts)[HOST];
static int last_tag = RANKS_FIRST_TAG; /* the first one is the tag of `everybody` */

void ranks_set_no_timeout(ranks *r, bool no_timeout)
{
  r->no_timeout = no_timeout;
}

uint32_t ranks_count(const ranks *r)
{
  (void)r;
  return process_count();
}

uint32_t ranks_own(const ranks *r)
{
  (void)r;
  return process_own();
}

void ranks_say(const ranks *r, uint32_t rank, char *text, size_t size)
{
  (void)r;
  if (hosts)
    snprintf(text, size, "instance %u on %s", rank, hosts[rank]);
  else
    snprintf(text, size, "instance %u", rank);
}

/* ---- a collective call ---- */

typedef struct collective_call {
  ranks *with;
  uint32_t count, own;
  header *out, *in; /* by rank */
  message *messages;
  ranks_piece *pieces; /* of each of them */
  size_t num_messages;
} collective_call;

static pop_error *pass(collective_call *c)
{
  uint32_t late;
  bool left;
  pop_error *error =
      process_pass(c->with->tag, c->with->no_timeout, c->messages, c->num_messages, &late, &left);
  c->num_messages = 0;
  if (!error || late == c->count) return error;
  char who[128];
  ranks_say(c->with, late, who, sizeof who);
  pop_error_free(error);
  if (left)
    return pop_error_new(POP_ERROR_RUNTIME,
                         "instances have gone different ways: instance %u is at '%s', %s at the "
                         "end of the program; each has to make the same calls about replicated "
                         "graphs in the same order",
                         c->own, c->out[late].label, who);
  return pop_error_new(
      POP_ERROR_RUNTIME,
      "%s has not come to '%s' in %g s, in which it hangs or computes: a longer time is given by "
      "poprun --rank-timeout",
      who, c->out[late].label, process_timeout());
}

static void add(collective_call *c, bool sends, uint32_t with, void *bytes, size_t count)
{
  c->pieces[c->num_messages] = (ranks_piece){bytes, count};
  c->messages[c->num_messages] = (message){sends, with, &c->pieces[c->num_messages], 1};
  c->num_messages++;
}

static pop_error *pass_headers(collective_call *c, const char *label, const pop_error *own,
                               const ranks_part *sent)
{
  for (uint32_t i = 0; i < c->count; i++) {
    header *h = &c->out[i];
    snprintf(h->label, sizeof h->label, "%s", label);
    if (own) h->error_bytes = (uint32_t)strlen(pop_error_message(own)) + 1;
    if (own) h->code = (uint32_t)pop_error_get_code(own);
    h->bytes = own ? h->error_bytes : sent[i].bytes;
    if (!own && h->bytes && h->bytes <= SHORT) memcpy(h->here, sent[i].data, h->bytes);
    if (i == c->own) continue;
    add(c, true, i, h, sizeof *h);
    add(c, false, i, &c->in[i], sizeof c->in[i]);
  }
  c->in[c->own] = c->out[c->own];
  return pass(c);
}

/* All ranks find the same, because all have all headers. */
static pop_error *check_place(const collective_call *c)
{
  for (uint32_t i = 0; i < c->count; i++) {
    if (strncmp(c->in[i].label, c->out[i].label, LABEL) == 0) continue;
    char who[128];
    ranks_say(c->with, i, who, sizeof who);
    process_break();
    return pop_error_new(POP_ERROR_RUNTIME,
                         "instances have gone different ways: instance %u is at '%s', %s at "
                         "'%.*s'; each has to make the same calls about replicated graphs in the "
                         "same order",
                         c->own, c->out[i].label, who, LABEL, c->in[i].label);
  }
  return NULL;
}

/* Ranks with an error send its text to those without one. */
static pop_error *tell_errors(collective_call *c, pop_error *own)
{
  uint32_t first = 0;
  while (first < c->count && !c->in[first].error_bytes) first++;
  if (first == c->count) return NULL;
  char *text = own ? pop_xstrdup(pop_error_message(own)) : NULL;
  for (uint32_t i = 0; i < c->count && own; i++)
    if (!c->in[i].error_bytes && i != c->own) add(c, true, i, text, strlen(text) + 1);
  char **texts = pop_xcalloc(c->count, sizeof *texts);
  for (uint32_t i = first; i < c->count && !own; i++) {
    if (!c->in[i].error_bytes) continue;
    texts[i] = pop_xcalloc(c->in[i].error_bytes, 1);
    add(c, false, i, texts[i], c->in[i].error_bytes);
  }
  pop_error *error = pass(c);
  if (own) {
    pop_error_free(error);
    error = own;
  } else if (!error) {
    char who[128];
    ranks_say(c->with, first, who, sizeof who);
    uint32_t code = c->in[first].code;
    error = pop_error_new(code <= POP_ERROR_INTERNAL ? (pop_error_code)code : POP_ERROR_RUNTIME,
                          "%s: %.*s", who, (int)c->in[first].error_bytes, texts[first]);
  }
  for (uint32_t i = 0; i < c->count; i++) free(texts[i]);
  free(texts);
  free(text);
  return error;
}

/* Uses large pages for large memory, if the system has them: reading it is then a third faster. */
static void *new_memory(size_t bytes)
{
  enum { LARGE_PAGE = 1 << 21 };
  if (bytes < 2 * LARGE_PAGE) return malloc(bytes);
  void *memory = aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
  if (memory) madvise(memory, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
  return memory;
}

bool ranks_reserve(ranks_part *part, size_t bytes)
{
  if (bytes > part->capacity || !part->data) {
    free(part->data);
    part->data = new_memory(bytes + 1);
    part->capacity = part->data ? bytes + 1 : 0;
  }
  part->bytes = part->data ? bytes : 0;
  return part->data != NULL;
}

/* Makes room for the data from a rank. Short data is copied from its header. */
static pop_error *take(collective_call *c, uint32_t from, ranks_part *part)
{
  uint64_t bytes = c->in[from].bytes;
  if ((!part->data || part->capacity) && !ranks_reserve(part, bytes)) {
    process_break(); /* the data is under way, and a later call would take it for its own */
    return pop_error_new(POP_ERROR_MEMORY, "no memory for %llu bytes from instance %u",
                         (unsigned long long)bytes, from);
  }
  if (part->bytes != bytes) {
    process_break();
    return pop_error_new(POP_ERROR_RUNTIME,
                         "instances have gone different ways: at '%s' instance %u has %llu bytes "
                         "for others, which expect %zu",
                         c->out[from].label, from, (unsigned long long)bytes, part->bytes);
  }
  if (bytes && bytes <= SHORT && from != c->own) memcpy(part->data, c->in[from].here, bytes);
  if (bytes > SHORT && from != c->own) add(c, false, from, part->data, bytes);
  return NULL;
}

static pop_error *pass_parts(collective_call *c, const ranks_part *sent, ranks_part *received)
{
  for (uint32_t i = 0; i < c->count; i++) {
    POP_TRY(take(c, i, &received[i]));
    if (i != c->own && sent[i].bytes > SHORT) add(c, true, i, sent[i].data, sent[i].bytes);
  }
  const ranks_part *own = &sent[c->own];
  if (own->bytes && own->data && received[c->own].data != own->data)
    memcpy(received[c->own].data, own->data, own->bytes);
  return c->num_messages ? pass(c) : NULL;
}

static pop_error *make_call(collective_call *c, const char *label, pop_error *own,
                            const ranks_part *sent, ranks_part *received)
{
  pop_error *error =
      process_is_broken()
          ? pop_error_new(POP_ERROR_RUNTIME, "the instances have lost each other: %s",
                          process_has_left() ? "the program has ended MPI" : "see the first error")
          : pass_headers(c, label, own, sent);
  if (!error) error = check_place(c);
  if (error && own) {
    pop_error_free(error);
    return own;
  }
  if (error) return error;
  POP_TRY(tell_errors(c, own));
  return pass_parts(c, sent, received);
}

pop_error *ranks_exchange(ranks *r, const char *label, pop_error *own, const ranks_part *sent,
                          ranks_part *received)
{
  uint32_t count = process_count();
  if (count == 1 && own) return own;
  collective_call c = {.with = r,
                       .count = count,
                       .own = process_own(),
                       .out = pop_xcalloc(count, sizeof *c.out),
                       .in = pop_xcalloc(count, sizeof *c.in),
                       .messages = pop_xcalloc(2 * (size_t)count, sizeof *c.messages),
                       .pieces = pop_xcalloc(2 * (size_t)count, sizeof *c.pieces)};
  c.in[c.own].bytes = sent[c.own].bytes;
  pop_error *error =
      count == 1 ? pass_parts(&c, sent, received) : make_call(&c, label, own, sent, received);
  if (process_is_broken()) return error; /* messages that may still arrive use this memory */
  free(c.out);
  free(c.in);
  free(c.messages);
  free(c.pieces);
  return error;
}

pop_error *ranks_pass(ranks *r, const char *label, const ranks_pieces *sent,
                      const ranks_pieces *received)
{
  uint32_t count = process_count();
  if (count == 1) return NULL;
  collective_call c = {.with = r,
                       .count = count,
                       .own = process_own(),
                       .out = pop_xcalloc(count, sizeof *c.out),
                       .messages = pop_xcalloc(2 * (size_t)count, sizeof *c.messages)};
  for (uint32_t i = 0; i < count; i++) {
    snprintf(c.out[i].label, sizeof c.out[i].label, "%s", label);
    if (i == c.own) continue;
    c.messages[c.num_messages++] = (message){true, i, sent[i].items, sent[i].count};
    c.messages[c.num_messages++] = (message){false, i, received[i].items, received[i].count};
  }
  pop_error *error = pass(&c);
  free(c.out);
  free(c.messages);
  return error;
}

static ranks_part read_only_part(const void *data, size_t bytes)
{
  const union {
    const void *given;
    uint8_t *data;
  } as = {data};
  return (ranks_part){.data = as.data, .bytes = bytes};
}

pop_error *ranks_gather(ranks *r, const char *label, pop_error *own, const void *mine, size_t bytes,
                        void *all)
{
  uint32_t count = process_count();
  ranks_part *sent = pop_xcalloc(count, sizeof *sent), *got = pop_xcalloc(count, sizeof *got);
  uint8_t nothing;
  for (uint32_t i = 0; i < count; i++) {
    sent[i] = read_only_part(mine, bytes);
    got[i] = (ranks_part){.data = all ? (uint8_t *)all + i * bytes : &nothing, .bytes = bytes};
  }
  pop_error *error = ranks_exchange(r, label, own, sent, got);
  free(sent);
  free(got);
  return error;
}

pop_error *ranks_broadcast(ranks *r, const char *label, pop_error *own, uint32_t from, void *data,
                           size_t bytes)
{
  uint32_t count = process_count();
  bool sends = process_own() == from;
  ranks_part *sent = pop_xcalloc(count, sizeof *sent), *got = pop_xcalloc(count, sizeof *got);
  uint8_t nothing;
  for (uint32_t i = 0; i < count; i++) {
    if (sends) sent[i] = (ranks_part){.data = data, .bytes = bytes};
    got[i] =
        i == from ? (ranks_part){.data = data, .bytes = bytes} : (ranks_part){.data = &nothing};
  }
  pop_error *error = ranks_exchange(r, label, own, sent, got);
  free(sent);
  free(got);
  return error;
}

/* ---- joining ---- */

static ranks everybody = {.tag = RANKS_FIRST_TAG};

typedef struct identity {
  char host[HOST], build[64];
} identity;

static pop_error *check_builds(const identity *all, uint32_t count)
{
  for (uint32_t i = 1; i < count; i++) {
    if (strcmp(all[i].build, all[0].build) == 0) continue;
    process_break();
    return pop_error_new(POP_ERROR_RUNTIME,
                         "instance %u on %s has another version of Populus (%s) than instance 0 on "
                         "%s (%s): install the same on all",
                         i, all[i].host, all[i].build, all[0].host, all[0].build);
  }
  return NULL;
}

static pop_error *exchange_identities(void)
{
  uint32_t count = process_count();
  assert(count > 0);
  identity mine = {.host = "?"}, *all = pop_xcalloc(count, sizeof *all);
  char(*names)[HOST] = pop_xcalloc(count, sizeof *names);
  assert(all);
  gethostname(mine.host, HOST - 1);
  snprintf(mine.build, sizeof mine.build, "%s %.40s", POPULUS_VERSION, POPULUS_RANKS_IDENTITY);
  pop_error *error = ranks_gather(&everybody, "start", NULL, &mine, sizeof mine, all);
  if (!error) error = check_builds(all, count);
  for (uint32_t i = 0; i < count && !error; i++) snprintf(names[i], HOST, "%s", all[i].host);
  hosts = error ? NULL : names;
  if (error) free(names);
  free(all);
  return error;
}

static pop_error *join(void)
{
  bool first = process_count() == 0;
  POP_TRY(process_join());
  return first && process_count() > 1 ? exchange_identities() : NULL;
}

pop_error *ranks_open(ranks **opened)
{
  *opened = NULL;
  pthread_mutex_lock(&opening);
  pop_error *error = join();
  int tag = error ? 0 : ++last_tag;
  pthread_mutex_unlock(&opening);
  if (error) return error;
  *opened = pop_xcalloc(1, sizeof **opened);
  (*opened)->tag = tag;
  return NULL;
}

void ranks_close(ranks *r)
{
  free(r);
}
