/* This process as a rank: its module and its messages.
 *
 * Waiting gives up the core at once, and then sleeps longer and longer: there may be more ranks
 * than cores, and the MPIs themselves would spin. A rank that has waited for a minute reports it in
 * the log.
 *
 * A rank that exits sends a goodbye to all others, so those that wait for it stop waiting.
 *
 * If one rank hangs, others wait for ranks that wait for it. So a rank that has waited too long
 * asks all others whether they are waiting, too. The one that hangs does not answer. */
#include "ranks/process.h"

#include "base/c_locale.h"
#include "base/library.h"
#include "base/log.h"
#include <dlfcn.h>
#include <populus/arena.h>
#include <populus/data_dir.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One for the process, as MPI is. */
static struct {
  pthread_mutex_t use; /* of the module */
  const ranks_module *module;
  uint32_t own, count; /* 0 of 0 until it has joined */
  double timeout;
  pid_t pid;
  bool broken, left; /* left: the module is used no more */
  ranks_request *
      *goodbyes; /* by rank: receives its goodbye; NULL once it has come, and for this rank */
} process = {.use = PTHREAD_MUTEX_INITIALIZER};

uint32_t process_own(void)
{
  return process.own;
}

uint32_t process_count(void)
{
  return process.count;
}

double process_timeout(void)
{
  return process.timeout;
}

void process_break(void)
{
  process.broken = true;
}

bool process_is_broken(void)
{
  return process.broken;
}

bool process_has_left(void)
{
  return process.left;
}

/* ---- joining ---- */

static const struct {
  const char *name, *title, *packages;
} kinds[] = {{"openmpi", "Open MPI", "openmpi-bin and libopenmpi-dev"},
             {"mpich", "MPICH", "mpich and libmpich-dev"}};

static pop_error *open_module(const char *kind)
{
  size_t i = 0, count = sizeof kinds / sizeof *kinds;
  while (i < count && strcmp(kinds[i].name, kind) != 0) i++;
  if (i == count)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "POPULUS_RANKS is '%s': there are modules for openmpi and mpich", kind);
  char *path = pop_xasprintf("%s/populus-mpi-%s.so", pop_data_dir(), kind);
  /* RTLD_GLOBAL, because MPI's own modules look for its symbols in the process. */
  const char *why;
  process.module = library_load(path, RTLD_NOW | RTLD_GLOBAL, "ranks_mpi_module", &why);
  pop_error *error = NULL;
  if (!process.module)
    error = pop_error_new(POP_ERROR_SYSTEM,
                          "cannot join the other instances: %s; it is built where the packages %s "
                          "are installed, and needs %s where it runs",
                          why, kinds[i].packages, kinds[i].title);
  else if (strcmp(process.module->contract, RANKS_CONTRACT) != 0)
    error = pop_error_new(POP_ERROR_SYSTEM, "%s belongs to another build of Populus", path);
  free(path);
  return error;
}

static double read_timeout(void)
{
  C_LOCALE;
  const char *text = secure_getenv("POPULUS_RANKS_TIMEOUT");
  char *end;
  if (!text || !*text) return RANKS_TIMEOUT;
  double seconds = strtod(text, &end);
  return *end || !(seconds >= 0) ? RANKS_TIMEOUT : seconds;
}

enum { GOODBYE = 0, QUESTION, ANSWER }; /* tags; RANKS_FIRST_TAG is the next */
static uint8_t token_byte;
static const ranks_piece token = {&token_byte, 1};

static bool receive_goodbyes(char why[RANKS_WHY])
{
  process.goodbyes = pop_xcalloc(process.count, sizeof *process.goodbyes);
  for (uint32_t i = 0; i < process.count; i++) {
    if (i == process.own) continue;
    process.goodbyes[i] = process.module->receive(i, GOODBYE, &token, 1, why);
    if (!process.goodbyes[i]) return false;
  }
  return true;
}

static void leave(void);

pop_error *process_join(void)
{
  char why[RANKS_WHY] = "";
  const char *kind = secure_getenv("POPULUS_RANKS");
  pthread_mutex_lock(&process.use);
  pop_error *error = NULL;
  if (process.count == 0 && (!kind || !*kind)) {
    process.count = 1;
  } else if (process.count == 0) {
    process.timeout = read_timeout();
    process.pid = getpid();
    error = open_module(kind);
    if (!error &&
        !(process.module->open(&process.own, &process.count, leave, why) && receive_goodbyes(why)))
      error = pop_error_new(POP_ERROR_SYSTEM, "cannot join the other instances: %s", why);
    if (error)
      process.count = 0;
    else
      process.broken = atexit(leave) != 0;
  }
  pthread_mutex_unlock(&process.use);
  return error;
}

/* ---- messages ---- */

typedef struct passing {
  ranks_request *request; /* NULL: done */
  const message *of;
} passing;

typedef struct passing_list {
  passing *items;
  size_t count, capacity;
} passing_list;

/* Another thread may wait for a message when the program ends. */
static bool may_use_module(char why[RANKS_WHY])
{
  if (process.left) snprintf(why, RANKS_WHY, "the program ends, and MPI with it");
  return !process.left;
}

static bool begin_part(passing_list *list, const message *m, int tag, const ranks_piece *pieces,
                       size_t count, char why[RANKS_WHY])
{
  ranks_request *begun = m->sends ? process.module->send(m->with, tag, pieces, count, why)
                                  : process.module->receive(m->with, tag, pieces, count, why);
  if (begun) pop_push(list->items, list->count, list->capacity, (passing){begun, m});
  return begun != NULL;
}

/* MPI counts bytes in an int. Longer messages are cut into several, at the same bytes on both
 * sides. */
static bool begin_parts(passing_list *list, const message *m, int tag, char why[RANKS_WHY])
{
  ranks_piece *part = pop_xcalloc(m->num_pieces, sizeof *part);
  size_t count = 0, bytes = 0;
  bool good = true;
  for (size_t i = 0, from = 0; i < m->num_pieces && good;) {
    const ranks_piece *piece = &m->pieces[i];
    size_t left = piece->bytes - from, room = RANKS_MESSAGE_BYTES - bytes;
    size_t take = left < room ? left : room;
    if (take) part[count++] = (ranks_piece){piece->data + from, take};
    bytes += take;
    from += take;
    if (from == piece->bytes) {
      from = 0;
      i++;
    }
    if (bytes < RANKS_MESSAGE_BYTES) continue;
    good = begin_part(list, m, tag, part, count, why);
    count = bytes = 0;
  }
  if (count && good) good = begin_part(list, m, tag, part, count, why);
  free(part);
  return good;
}

static bool begin(passing_list *list, const message *m, int tag, char why[RANKS_WHY])
{
  if (!m->num_pieces) return true;
  pthread_mutex_lock(&process.use);
  bool good = may_use_module(why) && begin_parts(list, m, tag, why);
  pthread_mutex_unlock(&process.use);
  return good;
}

/* Tests the requests and removes those that are done. */
static bool look(passing_list *list, char why[RANKS_WHY])
{
  size_t left = 0;
  pthread_mutex_lock(&process.use);
  bool good = may_use_module(why);
  for (size_t i = 0; i < list->count; i++) {
    int result = good ? process.module->test(list->items[i].request, why) : 0;
    if (result == 0) list->items[left++] = list->items[i];
    if (result < 0) good = false;
  }
  pthread_mutex_unlock(&process.use);
  list->count = left;
  return good;
}

static double now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static uint32_t awaited_rank(const passing_list *list)
{
  for (size_t i = 0; i < list->count; i++)
    if (!list->items[i].of->sends) return list->items[i].of->with;
  return list->items[0].of->with;
}

/* First yields the core, then sleeps. MPI progresses long messages only while it is called, so
 * there is no sleep as long as they may be under way (`long_bytes` of them). */
static void yield_core(double waited, double long_bytes)
{
  static const double bytes_per_second = 5e8;
  const struct timespec nap = {0, waited < 0.1 ? 50000 : 1000000};
  if (waited < 0.0005 + long_bytes / bytes_per_second)
    sched_yield();
  else
    nanosleep(&nap, NULL);
}

static bool has_exited(uint32_t rank)
{
  char why[RANKS_WHY];
  pthread_mutex_lock(&process.use);
  ranks_request *goodbye = process.goodbyes[rank];
  if (goodbye && may_use_module(why) && process.module->test(goodbye, why) != 0)
    process.goodbyes[rank] = NULL;
  bool left = !process.goodbyes[rank];
  pthread_mutex_unlock(&process.use);
  return left;
}

/* Is there a rank that will not come any more? Messages that it sent before its goodbye get some
 * time to arrive. */
static bool find_exited(const passing_list *list, double waited, double *since, uint32_t *late)
{
  static const double in_time = 0.2;
  for (size_t i = 0; i < list->count; i++) {
    const message *m = list->items[i].of;
    if (m->sends || !has_exited(m->with)) continue;
    *late = m->with;
    if (!*since) *since = waited;
    return waited - *since > in_time;
  }
  return false;
}

/* Bytes of messages that MPI cuts into several. */
static double count_long_bytes(const passing_list *list)
{
  enum { LONG = 4096 };
  double bytes = 0;
  for (size_t i = 0; i < list->count; i++) {
    const message *m = list->items[i].of;
    double all = 0;
    for (size_t k = 0; k < m->num_pieces; k++) all += (double)m->pieces[k].bytes;
    if (all > LONG) bytes += all;
  }
  return bytes;
}

static passing_list answers; /* under way; guarded by process.use */

/* Tells ranks that ask that this one is waiting. */
static void answer(void)
{
  char why[RANKS_WHY];
  static const message said = {.sends = true};
  pthread_mutex_lock(&process.use);
  for (uint32_t from; may_use_module(why) && process.module->peek(QUESTION, &from);) {
    ranks_request *both[] = {process.module->receive(from, QUESTION, &token, 1, why),
                             process.module->send(from, ANSWER, &token, 1, why)};
    for (int i = 0; i < 2; i++)
      if (both[i])
        pop_push(answers.items, answers.count, answers.capacity, (passing){both[i], &said});
    if (!both[0]) break;
  }
  pthread_mutex_unlock(&process.use);
  if (answers.count) (void)look(&answers, why);
}

/* Begins a message to each other rank, or from each. */
static bool begin_to_or_from_all(passing_list *list, message *messages, bool sends, int tag,
                                 char why[RANKS_WHY])
{
  bool good = true;
  for (uint32_t i = 0; i < process.count; i++) {
    messages[i] = (message){sends, i, &token, 1};
    if (i != process.own) good = begin(list, &messages[i], tag, why) && good;
  }
  return good;
}

/* A rank that does not answer that it is waiting; `otherwise` if all do. Nothing can be passed
 * after this. */
static uint32_t find_silent(uint32_t otherwise)
{
  static const double time_to_answer = 1;
  static const struct timespec nap = {0, 1000000};
  char why[RANKS_WHY];
  passing_list asked = {0}, told = {0};
  message *questions = pop_xcalloc(process.count, sizeof *questions),
          *replies = pop_xcalloc(process.count, sizeof *replies);
  bool good = begin_to_or_from_all(&asked, questions, true, QUESTION, why) &&
              begin_to_or_from_all(&told, replies, false, ANSWER, why);
  for (double from = now(); good && told.count && now() - from < time_to_answer;) {
    answer();
    good = look(&asked, why) && look(&told, why);
    nanosleep(&nap, NULL);
  }
  uint32_t silent = good && told.count ? told.items[0].of->with : otherwise;
  free(asked.items);
  free(told.items);
  free(questions);
  free(replies);
  return silent;
}

static bool wait_for_all(passing_list *list, double timeout, char why[RANKS_WHY], uint32_t *late,
                         bool *left)
{
  static const double noticed = 60, patience = 0.01;
  double from = now(), waited = 0, said = noticed, since = 0, long_bytes = count_long_bytes(list);
  while (look(list, why)) {
    if (list->count == 0) return true;
    *left = waited > patience && find_exited(list, waited, &since, late);
    if (*left) return false;
    if (waited > patience) answer();
    yield_core(waited, long_bytes);
    waited = now() - from;
    if (waited > said) {
      said *= 2;
      log_write(LOG_WARN, "ENGINE", "instance %u has waited for instance %u for %.0f s",
                process.own, awaited_rank(list), waited);
    }
    if (timeout && waited > timeout) {
      *late = find_silent(awaited_rank(list));
      return false;
    }
  }
  return false;
}

pop_error *process_pass(int tag, bool no_timeout, const message *messages, size_t count,
                        uint32_t *late, bool *left)
{
  char why[RANKS_WHY] = "";
  passing_list list = {0};
  bool good = true;
  *left = false;
  *late = process.count;
  for (size_t i = 0; i < count && good; i++) good = begin(&list, &messages[i], tag, why);
  good = good && wait_for_all(&list, no_timeout ? 0 : process.timeout, why, late, left);
  if (*late < process.count && !*left && good) *late = process.count;
  free(list.items);
  if (good) return NULL;
  process_break();
  if (*late < process.count)
    return pop_error_new(POP_ERROR_RUNTIME, "instance %u has not come in %g s", *late,
                         process.timeout);
  return pop_error_new(POP_ERROR_SYSTEM, "a message between instances failed: %s", why);
}

/* ---- the end ---- */

static bool all_have_exited(void)
{
  for (uint32_t i = 0; i < process.count; i++)
    if (i != process.own && !has_exited(i)) return false;
  return true;
}

/* At exit, or when the program ends MPI itself. Ranks that still wait for this one get its goodbye,
 * and fail. */
static void leave(void)
{
  if (process.count == 0 || getpid() != process.pid || process.broken)
    return; /* it has not joined, or is a forked child, or nothing can be sent */
  passing_list list = {0};
  char why[RANKS_WHY];
  message *goodbyes = pop_xcalloc(process.count, sizeof *goodbyes);
  bool good = begin_to_or_from_all(&list, goodbyes, true, GOODBYE, why);
  double from = now(), waited = 0;
  while (good && !(list.count == 0 && all_have_exited()) &&
         (!process.timeout || waited < process.timeout)) {
    good = look(&list, why);
    yield_core(waited, 0);
    waited = now() - from;
  }
  bool all = good && list.count == 0 && all_have_exited();
  pthread_mutex_lock(&process.use);
  process.broken = process.left = true;
  if (all) process.module->close();
  pthread_mutex_unlock(&process.use);
  free(list.items);
  free(goodbyes);
}
