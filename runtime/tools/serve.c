#include "serve.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <populus/arena.h>
#include <populus/report_page.h>
#include <populus/standard_streams.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { TOKEN_BYTES = 16, TIMEOUT_SECONDS = 60 };

typedef struct server {
  const char *const *reports;
  size_t num_reports;
  unsigned left_out;
  uint16_t port;
  char token[2 * TOKEN_BYTES + 1];
} server;

/* ---- answers ---- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              struct MHD_Response *response)
{
  static const char *const headers[][2] = {{"Cache-Control", "no-store"},
                                           {"X-Content-Type-Options", "nosniff"},
                                           {"Referrer-Policy", "no-referrer"},
                                           {"Cross-Origin-Resource-Policy", "same-origin"}};
  if (!response) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
    MHD_add_response_header(response, headers[i][0], headers[i][1]);
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *text)
{
  return answer(connection, status, "text/plain; charset=utf-8",
                MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY));
}

/* The error is temporary: a report that cannot be read now may be readable later, as a program
 * is writing it. */
static enum MHD_Result answer_error(struct MHD_Connection *connection, pop_error *error)
{
  enum MHD_Result result =
      answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, pop_error_message(error));
  pop_error_free(error);
  return result;
}

/* The answer goes through an unnamed file, as it may be larger than memory. */
static enum MHD_Result answer_written(const server *s, struct MHD_Connection *connection,
                                      const char *type,
                                      pop_error *(*write)(const server *s, FILE *stream))
{
  FILE *file = tmpfile();
  if (!file)
    return answer_error(connection, pop_error_errno(errno, "cannot make a temporary file"));
  pop_error *error = write(s, file);
  if (!error && fflush(file) != 0) error = pop_error_errno(errno, "cannot write a temporary file");
  off_t size = ftello(file);
  int fd = error ? -1 : fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
  fclose(file);
  if (error) return answer_error(connection, error);
  if (fd < 0 || size < 0)
    return answer_error(connection, pop_error_errno(errno, "cannot read a temporary file"));
  return answer(connection, MHD_HTTP_OK, type, MHD_create_response_from_fd64((uint64_t)size, fd));
}

static pop_error *write_frame(const server *s, FILE *stream)
{
  (void)s;
  return pop_report_write_page_frame(stream);
}

static pop_error *write_reports(const server *s, FILE *stream)
{
  return pop_report_write_json(s->reports, s->num_reports, s->left_out, stream);
}

/* ---- has a report been written again? ---- */

static void stamp_file(XXH3_state_t *state, int folder, const char *name)
{
  struct stat of;
  if (fstatat(folder, name, &of, 0) != 0) return;
  const int64_t values[] = {(int64_t)of.st_size, (int64_t)of.st_mtim.tv_sec,
                            (int64_t)of.st_mtim.tv_nsec, (int64_t)of.st_ino};
  XXH3_64bits_update(state, values, sizeof values);
}

/* Independent of the order in which the file system lists the names. */
static uint64_t stamp_folder(DIR *folder)
{
  uint64_t sum = 0;
  int fd = dirfd(folder);
  struct dirent *entry;
  XXH3_state_t *state = XXH3_createState();
  while (state && fd >= 0) {
    entry = readdir(folder); /* NOLINT(concurrency-mt-unsafe) a folder of its own */
    if (!entry) break;
    if (entry->d_name[0] == '.') continue;
    XXH3_64bits_reset(state);
    stamp_file(state, fd, entry->d_name);
    sum += XXH3_64bits_digest(state);
  }
  XXH3_freeState(state);
  return sum;
}

static uint64_t stamp_report(const char *path)
{
  DIR *folder = opendir(path);
  if (folder) {
    uint64_t stamp = stamp_folder(folder);
    closedir(folder);
    return stamp;
  }
  XXH3_state_t *state = XXH3_createState();
  if (!state) return 0;
  XXH3_64bits_reset(state);
  stamp_file(state, AT_FDCWD, path);
  uint64_t stamp = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return stamp;
}

static enum MHD_Result answer_stamp(const server *s, struct MHD_Connection *connection)
{
  char text[24];
  uint64_t stamp = 0;
  for (size_t i = 0; i < s->num_reports; i++) stamp = 31 * stamp + stamp_report(s->reports[i]);
  snprintf(text, sizeof text, "%016" PRIx64, stamp);
  return answer_text(connection, MHD_HTTP_OK, text);
}

/* ---- requests ---- */

/* Protects against DNS rebinding: a foreign page whose name was made to mean 127.0.0.1 asks
 * under that name. */
static bool is_own_host(const server *s, const char *host)
{
  char own[2][32];
  snprintf(own[0], sizeof own[0], "127.0.0.1:%u", (unsigned)s->port);
  snprintf(own[1], sizeof own[1], "localhost:%u", (unsigned)s->port);
  return host && (strcmp(host, own[0]) == 0 || strcmp(host, own[1]) == 0);
}

/* Compares in constant time, so that the time does not tell how much is right. */
static bool is_token(const server *s, const char *text)
{
  size_t size = sizeof s->token - 1;
  unsigned differs = 0;
  if (strnlen(text, size) < size) return false;
  for (size_t i = 0; i < size; i++) differs |= (unsigned)(text[i] ^ s->token[i]);
  return differs == 0;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **of_request)
{
  const server *s = context;
  (void)version;
  (void)upload;
  (void)upload_size;
  (void)of_request;
  const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
  if (!is_own_host(s, host))
    return answer_text(connection, MHD_HTTP_FORBIDDEN, "this is another host's name\n");
  if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
    return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "there is only to be read\n");
  if (url[0] != '/' || !is_token(s, url + 1))
    return answer_text(connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
  const char *what = url + 1 + strlen(s->token);
  if (strcmp(what, "/") == 0)
    return answer_written(s, connection, "text/html; charset=utf-8", write_frame);
  if (strcmp(what, "/" POP_REPORT_PAGE_JSON) == 0)
    return answer_written(s, connection, "application/json", write_reports);
  if (strcmp(what, "/" POP_REPORT_PAGE_STAMP) == 0) return answer_stamp(s, connection);
  return answer_text(connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
}

/* ---- the server ---- */

static pop_error *make_token(server *s)
{
  uint8_t bytes[TOKEN_BYTES];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    return pop_error_errno(errno, "cannot make a token");
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
  return NULL;
}

static pop_error *start(server *s, struct MHD_Daemon **daemon)
{
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_port = 0 /* any */};
  *daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handle, s,
                             MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_TIMEOUT,
                             (unsigned)TIMEOUT_SECONDS, MHD_OPTION_END);
  if (!*daemon) return pop_error_errno(errno, "cannot listen on 127.0.0.1");
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(*daemon, MHD_DAEMON_INFO_BIND_PORT);
  s->port = info ? info->port : 0;
  return NULL;
}

/* Reads the reports once, so that errors appear before somebody opens the page. */
static pop_error *try_reports(const server *s)
{
  FILE *nowhere = fopen("/dev/null", "we");
  if (!nowhere) return pop_error_errno(errno, "cannot open /dev/null");
  pop_error *error = pop_report_write_page_frame(nowhere);
  if (!error) error = write_reports(s, nowhere);
  fclose(nowhere);
  return error;
}

pop_error *serve_reports(const char *const *reports, size_t num_reports, unsigned left_out)
{
  server s = {.reports = reports, .num_reports = num_reports, .left_out = left_out};
  struct MHD_Daemon *daemon = NULL;
  sigset_t ends;
  int signal_number;
  POP_TRY(try_reports(&s));
  POP_TRY(make_token(&s));
  /* Blocked before there is a second thread, so that this one gets them. */
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ends, NULL);
  POP_TRY(start(&s, &daemon));
  printf("http://127.0.0.1:%u/%s/\n", (unsigned)s.port, s.token);
  pop_error *error = pop_standard_output_flush(); /* without the address nobody comes */
  if (!error) sigwait(&ends, &signal_number);
  MHD_stop_daemon(daemon);
  return error;
}
