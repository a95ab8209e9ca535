/* poprun: runs instances of a program under mpirun, which share the replicas of their
 * graphs among them.
 *
 * poprun starts mpirun. mpirun starts poprun once more for each instance (poprun_instance.c), and
 * that starts the program. mpirun knows the machines, forwards what instances print, and ends all
 * when one of them has failed. */
#include "poprun_instance.h"
#include "poprun_reach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <populus/arena.h>
#include <populus/data_dir.h>
#include <populus/standard_streams.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNALLED = 128, NO_MPI = 4 };

/* ---- which MPI ---- */

typedef struct mpi_kind {
  const char *name, *title, *packages;
  const char *launchers[2]; /* names that are this one's alone */
} mpi_kind;

static const mpi_kind kinds[] = {
    {"openmpi", "Open MPI", "openmpi-bin and libopenmpi-dev", {"mpirun.openmpi", "orterun"}},
    {"mpich", "MPICH", "mpich and libmpich-dev", {"mpirun.mpich", "mpiexec.hydra"}}};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

static char *find_program(const char *name)
{
  const char *path = getenv("PATH");
  char *list = pop_xstrdup(path ? path : "/usr/bin:/bin"), *rest = list, *folder, *found = NULL;
  while (!found && (folder = strsep(&rest, ":"))) {
    found = pop_xasprintf("%s/%s", *folder ? folder : ".", name);
    if (access(found, X_OK) == 0) break;
    free(found);
    found = NULL;
  }
  free(list);
  return found;
}

static char *find_launcher(const mpi_kind *kind)
{
  char *found = NULL;
  for (size_t i = 0; i < 2 && !found; i++) found = find_program(kind->launchers[i]);
  return found;
}

static bool has_module(const mpi_kind *kind)
{
  char *path = pop_xasprintf("%s/populus-mpi-%s.so", pop_data_dir(), kind->name);
  bool there = access(path, R_OK) == 0;
  free(path);
  return there;
}

static pop_error *choose(const char *wanted, const mpi_kind **kind, char **launcher)
{
  const mpi_kind *unbuilt = NULL;
  *kind = &kinds[0];
  for (size_t i = 0; i < NUM_KINDS; i++) {
    if (wanted && strcmp(wanted, kinds[i].name) != 0) continue;
    *kind = &kinds[i];
    free(*launcher);
    *launcher = find_launcher(&kinds[i]);
    if (*launcher && has_module(&kinds[i])) return NULL;
    if (*launcher) unbuilt = &kinds[i];
  }
  if (unbuilt)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "%s is installed, but Populus was built without it: install the packages "
                         "%s, then configure and build Populus again",
                         unbuilt->title, unbuilt->packages);
  const mpi_kind *first = wanted ? *kind : &kinds[0];
  return pop_error_new(POP_ERROR_SYSTEM,
                       "no %s found, which starts the instances: install the packages %s, then "
                       "configure and build Populus again",
                       wanted ? first->title : "MPI", first->packages);
}

/* ---- mpirun's command line ---- */

typedef struct words {
  const char **items;
  size_t count, capacity;
} words;

static void add(words *w, const char *word)
{
  pop_push(w->items, w->count, w->capacity, word);
}

static void add_number(words *w, const char *name, uint32_t number)
{
  add(w, name);
  add(w, pop_xasprintf("%u", number));
}

/* "a:2,b:2" */
static char *list_hosts(const poprun_options *o)
{
  uint32_t each = (o->num_instances + (uint32_t)o->num_hosts - 1) / (uint32_t)o->num_hosts;
  char *list = pop_xstrdup("");
  for (size_t i = 0; i < o->num_hosts; i++) {
    char *longer = pop_xasprintf("%s%s%s:%u", list, i ? "," : "", o->hosts[i], each);
    free(list);
    list = longer;
  }
  return list;
}

/* Exports variables that our programs read to other machines. On this one they are set anyway. */
static void add_exports(words *w)
{
  static const char *const prefixes[] = {"POPLAR_",  "POPLIBS_",         "POPULUS_",
                                         "POPDIST_", "LD_LIBRARY_PATH=", "NO_COLOR="};
  for (char **v = environ; *v; v++)
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
      if (strncmp(*v, prefixes[i], strlen(prefixes[i])) != 0) continue;
      add(w, "-x");
      add(w, pop_xasprintf("%.*s", (int)strcspn(*v, "="), *v));
    }
}

static char *own_path(const char *called)
{
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return pop_xstrdup(called);
  path[length] = '\0';
  return pop_xstrdup(path);
}

static void add_openmpi(words *w, const poprun_options *o, const char *own)
{
  if (geteuid() == 0) add(w, "--allow-run-as-root"); /* as in any container */
  add(w, "--quiet");
  add(w, "--oversubscribe");
  add(w,
      "--mca"); /* seconds that instances have to end after a signal; 1, Open MPI's own, is short on a busy machine */
  add(w, "odls_base_sigkill_timeout");
  add(w, "3");
  add(w, "--bind-to");
  add(w, o->numa ? "numa" : "none"); /* otherwise all threads of an instance would get one core */
  add_number(w, "-np", o->num_instances);
  if (o->num_hosts) {
    add(w, "--host");
    add(w, list_hosts(o));
    add_exports(w);
    add(w, "--mca"); /* words: it adds -x to ssh's own name only */
    add(w, "plm_rsh_agent");
    add(w, strchr(own, ' ') ? "ssh" : pop_xasprintf("%s -x", own));
  }
  for (size_t i = 0; i < o->num_mpi_args; i++) add(w, o->mpi_args[i]);
}

/* The same in MPICH's options. */
static void add_mpich(words *w, const poprun_options *o, const char *own)
{
  for (size_t i = 0; i < o->num_mpi_args; i++) {
    const char *given = o->mpi_args[i], *next = i + 1 < o->num_mpi_args ? o->mpi_args[i + 1] : "";
    if (strcmp(given, "--allow-run-as-root") == 0 || strcmp(given, "--oversubscribe") == 0)
      continue;
    if (strcmp(given, "--tag-output") == 0) {
      add(w, "-prepend-rank");
    } else if (strcmp(given, "-x") == 0) {
      const char *equals = strchr(next, '=');
      add(w, equals ? "-genv" : "-genvlist");
      add(w, equals ? pop_xasprintf("%.*s", (int)(equals - next), next) : next);
      if (equals) add(w, equals + 1);
      i++;
    } else {
      add(w, given);
    }
  }
  if (o->num_hosts) {
    add(w, "-hosts");
    add(w, list_hosts(o));
    add(w, "-launcher-exec");
    add(w, own);
  }
  if (o->numa) {
    add(w, "-bind-to");
    add(w, "numa");
  }
  add_number(w, "-np", o->num_instances);
}

static char **make_command(const poprun_options *o, const mpi_kind *kind, const char *launcher,
                           const char *called)
{
  words w = {0};
  const char *own = own_path(called);
  add(&w, launcher);
  if (kind == &kinds[0])
    add_openmpi(&w, o, own);
  else
    add_mpich(&w, o, own);
  add(&w, own);
  add(&w, POPRUN_INSTANCE);
  add(&w, poprun_describe(o, kind->name));
  for (char *const *word = o->program; *word; word++) add(&w, *word);
  add(&w, NULL);
  return (char **)(void *)w.items;
}

/* ---- saying ---- */

static pop_error *print_topology(const poprun_options *o)
{
  char host[64] = "?";
  gethostname(host, sizeof host - 1);
  printf("%-9s %-24s %-5s %-16s %s\n", "instance", "host", "ild", "replicas", "IPUs");
  for (uint32_t i = 0; i < o->num_instances; i++) {
    poprun_place at = poprun_place_of(o, i);
    char replicas[32];
    snprintf(replicas, sizeof replicas, "%u-%u", at.first_replica,
             at.first_replica + at.num_replicas - 1);
    printf("%-9u %-24s %-5u %-16s %u\n", i, at.host ? at.host : host, at.ild, replicas,
           at.num_replicas * o->ipus_per_replica);
  }
  return NULL;
}

static void say_command(const poprun_options *o, char *const *command)
{
  if (o->verbose == 0) return;
  fprintf(stderr, "poprun:");
  for (; *command; command++) {
    bool plain = **command && !strpbrk(*command, " \t\n'\"\\$&|;<>()*?");
    fprintf(stderr, plain ? " %s" : " '%s'", *command);
  }
  fprintf(stderr, "\n");
  for (char **v = environ; o->verbose > 1 && *v; v++)
    if (strncmp(*v, "POP", 3) == 0) fprintf(stderr, "poprun: environment: %s\n", *v);
}

/* ---- running ---- */

static volatile sig_atomic_t started, received, unreached;

/* From those who could not be reached. */
static int words_of_unreached[2];

static void print_unreached(void)
{
  char text[1024];
  ssize_t count = read(words_of_unreached[0], text, sizeof text);
  if (count > 0) fwrite(text, 1, (size_t)count, stderr);
}

/* Without this mpirun may wait for ever for a machine that could not be reached. */
static void end_unreached(int number)
{
  (void)number;
  int before = errno;
  unreached = 1;
  if (started > 0) kill((pid_t)started, SIGKILL);
  errno = before;
}

/* A signal from the terminal reaches mpirun, too, and must not reach it twice. */
static void pass_on(int number, siginfo_t *info, void *unused)
{
  (void)unused;
  int before = errno;
  received = number;
  if (started > 0 && info->si_code != SI_KERNEL) kill((pid_t)started, number);
  errno = before;
}

static void pass_on_signals(void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i] != SIGHUP || !poprun_is_without_hangup()) sigaction(numbers[i], &action, NULL);
  const struct sigaction unreachable = {.sa_handler = end_unreached, .sa_flags = SA_RESTART};
  sigaction(POPRUN_UNREACHED, &unreachable, NULL);
}

/* Whether there is nothing to be read, now or later. */
static bool is_at_end(int file)
{
  struct stat of;
  struct pollfd polled = {.fd = file, .events = POLLIN};
  if (fstat(file, &of) != 0) return true;
  if (S_ISCHR(of.st_mode)) return of.st_rdev == makedev(1, 3); /* /dev/null */
  if (S_ISREG(of.st_mode)) return lseek(file, 0, SEEK_CUR) >= of.st_size;
  return poll(&polled, 1, 0) == 1 && polled.revents == POLLHUP;
}

static poprun_input choose_input(const poprun_options *o)
{
  static const char *const names[] = {"-stdin", "--stdin"};
  for (size_t i = 0; i < o->num_mpi_args; i++)
    for (size_t j = 0; j < sizeof names / sizeof *names; j++)
      if (strcmp(o->mpi_args[i], names[j]) == 0) return INPUT_TO_NAMED;
  return is_at_end(STDIN_FILENO) ? INPUT_TO_NONE : INPUT_TO_FIRST;
}

/* MPICH's launcher passes the end of its standard input on to the first instance's machine. It dies
 * of SIGPIPE if that has left by then: seen in one of 2,000 starts on a busy machine. If there is
 * no input to pass on, the launcher gets one that does not end while poprun lives. Instances find
 * theirs at its end (poprun_instance.c). */
static pop_error *give_endless_input(void)
{
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return pop_error_errno(errno, "cannot start mpirun");
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  return NULL;
}

static pop_error *start(char *const *command, const sigset_t *before, pid_t *made)
{
  int failure[2], problem = 0;
  pid_t own = getpid();
  if (pipe2(failure, O_CLOEXEC) != 0) return pop_error_errno(errno, "cannot start mpirun");
  *made = fork();
  if (*made == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != own) _exit(1);
    sigprocmask(SIG_SETMASK, before, NULL);
    execv(command[0], command);
    problem = errno;
    (void)!write(failure[1], &problem, sizeof problem);
    _exit(1);
  }
  int forked = *made < 0 ? errno : 0;
  close(failure[1]);
  if (!forked && read(failure[0], &problem, sizeof problem) != (ssize_t)sizeof problem) problem = 0;
  close(failure[0]);
  if (!forked && !problem) return NULL;
  return pop_error_errno(forked ? forked : problem, "cannot start '%s'", command[0]);
}

static void say_launcher_died(const char *launcher, int number)
{
  fprintf(
      stderr,
      "poprun: '%s', which starts the instances, was ended by signal %d (%s); what they printed "
      "may be incomplete\n",
      launcher, number, strsignal(number));
}

static pop_error *run(char *const *command, int *status)
{
  sigset_t all, before;
  pid_t made;
  int end;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pass_on_signals();
  pop_error *error = start(command, &before, &made);
  started = error ? 0 : made;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (error) return error;
  while (waitpid(made, &end, 0) < 0 && errno == EINTR) {
  }
  *status = WIFEXITED(end) ? WEXITSTATUS(end) : SIGNALLED + WTERMSIG(end);
  bool was_ended = received == SIGINT || received == SIGTERM || received == SIGHUP;
  if (was_ended) *status = SIGNALLED + received;
  if (!unreached) {
    if (WIFSIGNALED(end) && !was_ended) say_launcher_died(command[0], WTERMSIG(end));
    return NULL;
  }
  print_unreached();
  *status = NO_MPI;
  return NULL;
}

static pop_error *do_all(int argc, char **argv, int *status)
{
  static poprun_options o; /* what they have lives until the process ends */
  static char *launcher = NULL;
  static char **command;
  const mpi_kind *kind;
  bool done;
  POP_TRY(poprun_parse(argc, argv, &o, &done));
  if (done) return NULL;
  if (o.partition && !o.quiet)
    fprintf(stderr,
            "poprun: options about partitions have nothing to do: software IPUs need none\n");
  if (o.topology) return print_topology(&o);
  POP_TRY(choose(o.mpi, &kind, &launcher));
  if (o.cache) setenv("POPLAR_EXECUTABLE_CACHE_DIR", o.cache, 1);
  /* Open MPI gives instances a terminal of its own, whatever theirs is in the end. */
  if (!isatty(STDOUT_FILENO) && !getenv("CLICOLOR_FORCE")) setenv("NO_COLOR", "1", 0);
  char own[48];
  if (pipe2(words_of_unreached, O_CLOEXEC | O_NONBLOCK) != 0)
    return pop_error_errno(errno, "cannot start mpirun");
  snprintf(own, sizeof own, "%ld:%d", (long)getpid(), words_of_unreached[1]);
  setenv(POPRUN_REACH, own, 1);
  o.input = choose_input(&o);
  if (o.input == INPUT_TO_NONE && kind == &kinds[1]) POP_TRY(give_endless_input());
  command = make_command(&o, kind, launcher, argv[0]);
  say_command(&o, command);
  return run(command, status);
}

int main(int argc, char **argv)
{
  int status = 0;
  if (poprun_is_reaching(argc, argv)) return poprun_reach(argc, argv);
  if (argc > 3 && strcmp(argv[1], POPRUN_INSTANCE) == 0) return poprun_instance(argv[2], argv + 3);
  pop_error *error = pop_standard_streams_open();
  if (!error) error = do_all(argc, argv, &status);
  if (!error) error = pop_standard_output_flush();
  if (!error) return status;
  fprintf(stderr, "poprun: error: %s\n", pop_error_message(error));
  status = pop_error_exit_status(error);
  pop_error_free(error);
  return status;
}
