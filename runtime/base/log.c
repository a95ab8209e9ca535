#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <populus/names.h>
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
enum { NUM_LEVELS = sizeof level_names / sizeof *level_names, MAX_PARTS = 8, MAX_PART_NAME = 16 };

/* The level of one part: POPLAR_ENGINE_LOG_LEVEL. */
typedef struct part_level {
  char part[MAX_PART_NAME];
  log_level level;
} part_level;

typedef struct log_channel {
  const char *prefix;  /* of lines: "PO" */
  const char *library; /* of variables: "POPLAR" */
  log_level threshold;
  log_level most; /* the most verbose of the threshold and the parts' levels */
  int destination;
  part_level parts[MAX_PARTS];
  size_t num_parts;
} log_channel;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static log_channel poplar = {"PO", "POPLAR", LOG_OFF, LOG_OFF, STDERR_FILENO, {{{0}, LOG_OFF}}, 0};
static log_channel poplibs = {"PL",          "POPLIBS",        LOG_OFF, LOG_OFF,
                              STDERR_FILENO, {{{0}, LOG_OFF}}, 0};

/* ---- lines ---- */

static void write_line(const log_channel *channel, log_level level, const char *part,
                       const char *message)
{
  struct timespec now;
  struct tm local;
  clock_gettime(CLOCK_REALTIME, &now);
  localtime_r(&now.tv_sec, &local);
  char line[4096];
  int length = snprintf(line, sizeof line, "%02d:%02d:%02d.%03ld %ld %s:%-8s [%c] %s",
                        local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1000000,
                        (long)getpid(), channel->prefix, part, level_letters[level], message);
  if (length < 0) return;
  size_t size = (size_t)length < sizeof line - 1 ? (size_t)length : sizeof line - 2;
  /* A name in a message may hold control characters; they must not reach a terminal. */
  for (size_t i = 0, length; i < size; i += length ? length : 1) {
    length = (unsigned char)line[i] < ' ' ? 0 : pop_printable_length(line + i, size - i);
    if (!length) line[i] = '?';
  }
  line[size++] = '\n';
  /* A log that cannot be written must not stop the program. */
  ssize_t written;
  do written = write(channel->destination, line, size);
  while (written < 0 && errno == EINTR);
}

static void write_message(const log_channel *channel, log_level level, const char *part,
                          const char *format, va_list args)
{
  char message[3072];
  vsnprintf(message, sizeof message, format, args);
  write_line(channel, level, part, message);
}

static void warn(const log_channel *channel, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void warn(const log_channel *channel, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  write_message(channel, LOG_WARN, "LOG", format, args);
  va_end(args);
}

/* ---- environment variables ---- */

static void open_destination(log_channel *channel, const char *variable, const char *name)
{
  if (strcmp(name, "stderr") == 0) return;
  if (strcmp(name, "stdout") == 0) {
    channel->destination = STDOUT_FILENO;
    return;
  }
  int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd >= 0)
    channel->destination = fd;
  else
    warn(channel, "%s: cannot open '%s': %s; logging to stderr", variable, name, strerror(errno));
}

/* False, with a warning, if the text is no level. */
static bool read_level(const log_channel *channel, const char *variable, const char *text,
                       log_level *level)
{
  for (size_t i = 0; i < NUM_LEVELS; ++i)
    if (strcasecmp(text, level_names[i]) == 0) {
      *level = (log_level)i;
      return true;
    }
  warn(channel, "%s is '%s'; it can be OFF, ERR, WARN, INFO, DEBUG or TRACE", variable, text);
  return false;
}

/* `entry` of the environment, if it is POPLAR_<part>_LOG_LEVEL=<level>. */
static void add_part(log_channel *channel, const char *entry)
{
  static const char ending[] = "_LOG_LEVEL";
  size_t prefix = strlen(channel->library);
  const char *equals = strchr(entry, '=');
  if (!equals || strncmp(entry, channel->library, prefix) != 0 || entry[prefix] != '_') return;
  const char *part = entry + prefix + 1;
  size_t length = (size_t)(equals - part);
  if (length < sizeof ending || length - (sizeof ending - 1) >= MAX_PART_NAME ||
      strncmp(equals - (sizeof ending - 1), ending, sizeof ending - 1) != 0 || !equals[1] ||
      channel->num_parts == MAX_PARTS)
    return;
  part_level *added = &channel->parts[channel->num_parts];
  length -= sizeof ending - 1;
  memcpy(added->part, part, length);
  added->part[length] = '\0';
  char variable[64];
  snprintf(variable, sizeof variable, "%.*s", (int)(equals - entry), entry);
  if (read_level(channel, variable, equals + 1, &added->level)) channel->num_parts++;
}

static void initialise_channel(log_channel *channel)
{
  char variable[32];
  snprintf(variable, sizeof variable, "%s_LOG_LEVEL", channel->library);
  const char *level = secure_getenv(variable);
  if (level && *level) read_level(channel, variable, level, &channel->threshold);
  for (char *const *entry = environ; entry && *entry; ++entry) add_part(channel, *entry);
  channel->most = channel->threshold;
  for (size_t i = 0; i < channel->num_parts; ++i)
    if (channel->parts[i].level > channel->most) channel->most = channel->parts[i].level;
  snprintf(variable, sizeof variable, "%s_LOG_DEST", channel->library);
  const char *name = secure_getenv(variable);
  if (channel->most != LOG_OFF && name && *name) open_destination(channel, variable, name);
}

static void initialise(void)
{
  initialise_channel(&poplar);
  initialise_channel(&poplibs);
}

static bool is_wanted(const log_channel *channel, log_level level, const char *part)
{
  pthread_once(&once, initialise);
  if (level == LOG_OFF || level > channel->most) return false;
  for (size_t i = 0; i < channel->num_parts; ++i)
    if (strcmp(channel->parts[i].part, part) == 0) return level <= channel->parts[i].level;
  return level <= channel->threshold;
}

bool log_enabled(log_level level)
{
  pthread_once(&once, initialise);
  return level != LOG_OFF && level <= poplar.most;
}

bool log_poplibs_enabled(log_level level)
{
  pthread_once(&once, initialise);
  return level != LOG_OFF && level <= poplibs.most;
}

void log_write(log_level level, const char *part, const char *format, ...)
{
  if (!is_wanted(&poplar, level, part)) return;
  va_list args;
  va_start(args, format);
  write_message(&poplar, level, part, format, args);
  va_end(args);
}

void log_poplibs(log_level level, const char *part, const char *format, ...)
{
  if (!is_wanted(&poplibs, level, part)) return;
  va_list args;
  va_start(args, format);
  write_message(&poplibs, level, part, format, args);
  va_end(args);
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

static void say_start(const log_phase *phase)
{
  log_write(LOG_DEBUG, phase->part, "Starting phase: %s", phase->name);
}

static void say_end(const log_phase *measured)
{
  log_write(LOG_DEBUG, measured->part, "Ending phase: %s (duration %.0f ms; diff RSS: %g MB)",
            measured->name, 1e3 * measured->start_seconds, measured->start_resident_mib);
}

log_phase log_phase_begin(const char *part, const char *name)
{
  log_phase phase = {.part = part, .name = name};
  if (log_enabled(LOG_DEBUG)) phase.start_resident_mib = resident_mib();
  phase.start_seconds = now_seconds();
  return phase;
}

log_phase log_phase_measure(const log_phase *phase)
{
  log_phase measured = *phase;
  measured.start_seconds = now_seconds() - phase->start_seconds;
  if (log_enabled(LOG_DEBUG))
    measured.start_resident_mib = resident_mib() - phase->start_resident_mib;
  return measured;
}

void log_phase_say(const log_phase *measured)
{
  if (!measured->name) return;
  say_start(measured);
  say_end(measured);
}

log_phase log_phase_start(const char *part, const char *name)
{
  log_phase phase = {.part = part, .name = name};
  say_start(&phase);
  return log_phase_begin(part, name);
}

double log_phase_end(const log_phase *phase)
{
  log_phase measured = log_phase_measure(phase);
  if (log_enabled(LOG_DEBUG)) say_end(&measured);
  return measured.start_seconds;
}
