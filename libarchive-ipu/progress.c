/* A thread of its own writes the line, so that working threads need not look at the clock. It uses
 * neither stdio nor the heap, as popc forks while the thread runs. */
#include <populus/progress.h>

#include <populus/arena.h>
#include <populus/names.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_SECOND = 1000000000, TICK_NS = 100000000, LINE_BYTES = 200, USUAL_COLUMNS = 80 };

struct pop_progress {
  pop_progress_say *say;
  void *context;
  pthread_t thread;
  pthread_mutex_t lock; /* of what follows, and of the terminal's line */
  pthread_cond_t ended;
  bool ends, shown;
};

static void put(const char *text, size_t bytes)
{
  ssize_t written = write(STDERR_FILENO, text, bytes);
  (void)written; /* a line that does not arrive is not missed */
}

static size_t columns_of_terminal(void)
{
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return USUAL_COLUMNS;
  return size.ws_col;
}

/* Names of files may hold anything, and the line's end may have been cut off within a character. */
static void replace_controls(char *text)
{
  for (size_t size = strlen(text), at = 0, length; at < size; at += length ? length : 1) {
    bool is_layout = text[at] == '\n' || text[at] == '\t';
    length = is_layout ? 0 : pop_printable_length(text + at, size - at);
    if (!length) text[at] = '?';
  }
}

static void show(pop_progress *p)
{
  char line[LINE_BYTES] = "\r", *text = line + 1;
  static const char rest[] = "\033[K"; /* clears what the last one was longer */
  size_t room = sizeof line - sizeof rest - 1, columns = columns_of_terminal();
  p->say(p->context, text, columns < room ? columns : room);
  replace_controls(text);
  size_t used = 1 + strlen(text);
  memcpy(line + used, rest, sizeof rest);
  put(line, used + sizeof rest - 1);
  p->shown = true;
}

static void hide(pop_progress *p)
{
  static const char clear[] = "\r\033[K";
  if (p->shown) put(clear, sizeof clear - 1);
  p->shown = false;
}

static void *keep_line(void *context)
{
  pop_progress *p = context;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  next.tv_sec++;
  pthread_mutex_lock(&p->lock);
  while (!p->ends) {
    if (pthread_cond_timedwait(&p->ended, &p->lock, &next) == 0) continue;
    show(p);
    next.tv_nsec += TICK_NS;
    if (next.tv_nsec >= NS_PER_SECOND) {
      next.tv_nsec -= NS_PER_SECOND;
      next.tv_sec++;
    }
  }
  hide(p);
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Do messages of the log go where the line is? */
static bool is_logged(const char *level_name, const char *destination_name)
{
  const char *level = getenv(level_name), *destination = getenv(destination_name);
  if (!level || !*level || strcmp(level, "OFF") == 0) return false;
  return !destination || !*destination || strcmp(destination, "stderr") == 0;
}

static bool is_wanted(bool quiet)
{
  const char *terminal = getenv("TERM");
  return !quiet && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0 &&
         !is_logged("POPLAR_LOG_LEVEL", "POPLAR_LOG_DEST") &&
         !is_logged("POPLIBS_LOG_LEVEL", "POPLIBS_LOG_DEST");
}

/* Signals go to the threads that existed before. */
static bool start_thread(pop_progress *p)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(&p->thread, NULL, keep_line, p) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

pop_progress *pop_progress_start(bool quiet, pop_progress_say *say, void *context)
{
  if (!is_wanted(quiet)) return NULL;
  pop_progress *p = pop_xcalloc(1, sizeof *p);
  pthread_condattr_t attributes;
  p->say = say;
  p->context = context;
  pthread_mutex_init(&p->lock, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&p->ended, &attributes);
  pthread_condattr_destroy(&attributes);
  if (start_thread(p)) return p;
  pthread_cond_destroy(&p->ended);
  pthread_mutex_destroy(&p->lock);
  free(p);
  return NULL;
}

void pop_progress_hide(pop_progress *p)
{
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  hide(p);
  pthread_mutex_unlock(&p->lock);
}

void pop_progress_end(pop_progress *p)
{
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  p->ends = true;
  pthread_cond_signal(&p->ended);
  pthread_mutex_unlock(&p->lock);
  pthread_join(p->thread, NULL);
  pthread_cond_destroy(&p->ended);
  pthread_mutex_destroy(&p->lock);
  free(p);
}
