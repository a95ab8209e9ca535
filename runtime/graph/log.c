#include "graph/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"OFF", "ERR", "WARN", "INFO", "DEBUG", "TRACE"};
static const char level_letters[] = "-EWIDT";
enum { NUM_LEVELS = sizeof level_names / sizeof *level_names };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static log_level threshold = LOG_OFF;
static int destination = STDERR_FILENO;

static void write_line(log_level level, const char *part, const char *message)
{
  struct timespec now;
  struct tm local;
  clock_gettime(CLOCK_REALTIME, &now);
  localtime_r(&now.tv_sec, &local);
  char line[4096];
  int length = snprintf(line, sizeof line, "%02d:%02d:%02d.%03ld %ld PO:%-8s [%c] %s",
                        local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1000000,
                        (long)getpid(), part, level_letters[level], message);
  if (length < 0) return;
  size_t size = (size_t)length < sizeof line - 1 ? (size_t)length : sizeof line - 2;
  /* A name in a message may hold control characters; they must not reach a terminal. */
  for (size_t i = 0; i < size; ++i)
    if ((unsigned char)line[i] < ' ' || line[i] == 0x7f) line[i] = '?';
  line[size++] = '\n';
  /* A log that cannot be written must not stop the program. */
  ssize_t written;
  do written = write(destination, line, size);
  while (written < 0 && errno == EINTR);
}

static void open_destination(const char *name)
{
  if (strcmp(name, "stderr") == 0) return;
  if (strcmp(name, "stdout") == 0) {
    destination = STDOUT_FILENO;
    return;
  }
  int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd >= 0) {
    destination = fd;
    return;
  }
  char message[512];
  snprintf(message, sizeof message, "POPLAR_LOG_DEST: cannot open '%s': %s; logging to stderr",
           name, strerror(errno));
  write_line(LOG_WARN, "LOG", message);
}

static void initialise(void)
{
  const char *level = getenv("POPLAR_LOG_LEVEL");
  if (!level || !*level) return;
  size_t i = 0;
  while (i < NUM_LEVELS && strcasecmp(level, level_names[i]) != 0) ++i;
  if (i == NUM_LEVELS) {
    char message[256];
    snprintf(message, sizeof message,
             "POPLAR_LOG_LEVEL is '%s'; it can be OFF, ERR, WARN, INFO, DEBUG or TRACE", level);
    write_line(LOG_WARN, "LOG", message);
    return;
  }
  threshold = (log_level)i;
  const char *name = getenv("POPLAR_LOG_DEST");
  if (threshold != LOG_OFF && name && *name) open_destination(name);
}

bool log_enabled(log_level level)
{
  pthread_once(&once, initialise);
  return level != LOG_OFF && level <= threshold;
}

void log_write(log_level level, const char *part, const char *format, ...)
{
  if (!log_enabled(level)) return;
  char message[3072];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  write_line(level, part, message);
}

/* ---- phases ---- */

static double now_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What the process has in memory now; 0 where the system does not say. */
static double resident_mib(void)
{
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  char text[128];
  bool is_read = fgets(text, sizeof text, file) != NULL;
  fclose(file);
  const char *second = is_read ? strchr(text, ' ') : NULL;
  return second ? strtod(second, NULL) * (double)sysconf(_SC_PAGESIZE) / (1 << 20) : 0;
}

log_phase log_phase_start(const char *part, const char *name)
{
  log_phase phase = {.part = part, .name = name};
  if (log_enabled(LOG_DEBUG)) {
    log_write(LOG_DEBUG, part, "Starting phase: %s", name);
    phase.start_resident_mib = resident_mib();
  }
  phase.start_seconds = now_seconds();
  return phase;
}

double log_phase_end(const log_phase *phase)
{
  double seconds = now_seconds() - phase->start_seconds;
  if (log_enabled(LOG_DEBUG))
    log_write(LOG_DEBUG, phase->part, "Ending phase: %s (duration %.0f ms; diff RSS: %g MB)",
              phase->name, 1e3 * seconds, resident_mib() - phase->start_resident_mib);
  return seconds;
}
