/* poprun's command line. It has the documented tool's options that public scripts use, as --x=y and
 * --x y. Options about partitions and their server are accepted and ignored. */
#include "poprun_options.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <populus/arena.h>
#include <populus/names.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct option option;
typedef pop_error *(*option_taker)(poprun_options *to, const option *of, const char *value);

struct option {
  const char *name;
  const char *value; /* what it takes, for --help; NULL: nothing */
  const char *help;  /* NULL: one of those about partitions */
  option_taker take;
  size_t field; /* of a number or a text */
  uint32_t least;
};

static pop_error *bad_value(const option *of, const char *value, const char *wanted)
{
  return pop_error_new(POP_ERROR_USAGE, "--%s cannot be '%s': it takes %s", of->name, value,
                       wanted);
}

static pop_error *read_number(const option *of, const char *text, uint32_t *number)
{
  enum { MOST = 65536 };
  char *end, wanted[64];
  unsigned long value = strtoul(text, &end, 10);
  *number = (uint32_t)value;
  if (isdigit((unsigned char)*text) && !*end && value >= of->least && value <= MOST) return NULL;
  snprintf(wanted, sizeof wanted, "a number from %u to %d", of->least, MOST);
  return bad_value(of, text, wanted);
}

static pop_error *take_number(poprun_options *to, const option *of, const char *value)
{
  return read_number(of, value, (uint32_t *)(void *)((char *)to + of->field));
}

static pop_error *take_only(poprun_options *to, const option *of, const char *value)
{
  uint32_t number;
  POP_TRY(read_number(of, value, &number));
  to->only_output = (int32_t)number;
  return NULL;
}

static pop_error *take_text(poprun_options *to, const option *of, const char *value)
{
  *(const char **)(void *)((char *)to + of->field) = value;
  return *value ? NULL : bad_value(of, value, "something");
}

static pop_error *take_seconds(poprun_options *to, const option *of, const char *value)
{
  char *end;
  double seconds = strtod(value, &end);
  to->timeout = value;
  return end != value && !*end && seconds >= 0 ? NULL
                                               : bad_value(of, value, "seconds, 0 for any number");
}

static pop_error *take_mpi(poprun_options *to, const option *of, const char *value)
{
  to->mpi = value;
  bool known = strcmp(value, "openmpi") == 0 || strcmp(value, "mpich") == 0;
  return known ? NULL : bad_value(of, value, "openmpi or mpich");
}

/* With a value (yes, no, true, false, …) or alone. */
static pop_error *take_yes(poprun_options *to, const option *of, const char *value)
{
  static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
  bool *field = (bool *)((char *)to + of->field);
  *field = true;
  if (!value) return NULL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcasecmp(value, words[i]) == 0) {
      *field = i % 2;
      return NULL;
    }
  return bad_value(of, value, "yes or no");
}

static pop_error *take_partition(poprun_options *to, const option *of, const char *value)
{
  (void)of;
  (void)value;
  to->partition = true;
  return NULL;
}

/* ---- hosts ---- */

static void add_text(const char ***list, size_t *count, const char *text)
{
  *list = pop_xrealloc(*list, *count + 1, sizeof **list);
  (*list)[(*count)++] = text;
}

static void add_host(poprun_options *to, const char *name)
{
  for (size_t i = 0; i < to->num_hosts; i++)
    if (strcmp(to->hosts[i], name) == 0) return;
  add_text(&to->hosts, &to->num_hosts, pop_xstrdup(name));
}

/* 10.1.3.0/28: the addresses of its hosts. */
static pop_error *add_network(poprun_options *to, const option *of, char *name, char *slash)
{
  enum { MOST_BITS = 10 };
  struct in_addr address;
  char *end;
  unsigned long bits = strtoul(slash + 1, &end, 10);
  *slash = '\0';
  bool good = inet_pton(AF_INET, name, &address) == 1 && isdigit((unsigned char)slash[1]) && !*end;
  *slash = '/';
  if (!good || bits > 32 || bits < 32 - MOST_BITS)
    return bad_value(of, name,
                     "names or addresses with commas between them, or networks as "
                     "10.1.3.0/28, of 22 bits at least");
  uint32_t count = (uint32_t)1 << (32 - bits), mask = count - 1;
  uint32_t base = ntohl(address.s_addr) & ~mask;
  bool has_ends = count > 2; /* the network and its broadcast are no hosts */
  for (uint32_t i = has_ends; i < count - has_ends; i++) {
    char text[INET_ADDRSTRLEN];
    address.s_addr = htonl(base + i);
    add_host(to, inet_ntop(AF_INET, &address, text, sizeof text));
  }
  return NULL;
}

static pop_error *take_host(poprun_options *to, const option *of, const char *all, char *name)
{
  char *slash = strchr(name, '/');
  if (!*name) return bad_value(of, all, "names with commas between them");
  if (slash) return add_network(to, of, name, slash);
  add_host(to, name);
  return NULL;
}

static pop_error *take_hosts(poprun_options *to, const option *of, const char *value)
{
  char *list = pop_xstrdup(value), *rest = list, *name;
  pop_error *error = NULL;
  while (!error && (name = strsep(&rest, ","))) error = take_host(to, of, value, name);
  free(list);
  return error;
}

/* ---- arguments of mpirun ---- */

/* The next word by the shell's rules for quotes and backslashes; the caller frees. NULL: a quote
 * has no end. */
static char *next_word(const char **text)
{
  char *word = pop_xcalloc(strlen(*text) + 1, 1), *out = word, quote = 0;
  const char *at = *text;
  for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
    bool is_quote = *at == '"' || *at == '\'';
    if (is_quote && (!quote || quote == *at))
      quote = quote ? 0 : *at;
    else
      *out++ = *at == '\\' && quote != '\'' && at[1] ? *++at : *at;
  }
  *text = at;
  if (!quote) return word;
  free(word);
  return NULL;
}

static pop_error *take_mpi_args(poprun_options *to, const option *of, const char *value)
{
  const char *at = value + strspn(value, " \t\n");
  while (*at) {
    char *word = next_word(&at);
    if (!word) return bad_value(of, value, "words for mpirun; a quote has no end");
    add_text(&to->mpi_args, &to->num_mpi_args, word);
    at += strspn(at, " \t\n");
  }
  return NULL;
}

/* ---- the table ---- */

#define FIELD(name) .field = offsetof(poprun_options, name)
#define PARTITION(text, what) {text, what, .take = take_partition}

static const option table[] = {
    {"num-instances", "N", "processes to start (default: 1)", take_number, FIELD(num_instances), 1},
    {"num-replicas", "N",
     "replicas in all, for programs that ask for it (default: one for each instance)", take_number,
     FIELD(num_replicas), 1},
    {"ipus-per-replica", "N", "IPUs of a replica, for programs that ask for it (default: 1)",
     take_number, FIELD(ipus_per_replica), 1},
    {"num-ilds", "N", "domains of linked IPUs, for --print-topology (default: 1)", take_number,
     FIELD(num_ilds), 1},
    {"host", "LIST",
     "machines: names with commas, or networks such as 10.1.3.0/28 (default: this one)",
     .take = take_hosts},
    {"mpi-global-args", "ARGS",
     "further arguments of mpirun, such as --mpi-global-args='--tag-output -x NAME'",
     .take = take_mpi_args},
    {"mpi-local-args", "ARGS", "the same", .take = take_mpi_args},
    {"only-output-from-instance", "N", "discard the output of the others", .take = take_only},
    {"numa-aware", "yes|no", "bind each instance to a NUMA domain (default: no)", take_yes,
     FIELD(numa)},
    {"executable-cache-path", "DIR", "keep compiled graphs there: sets POPLAR_EXECUTABLE_CACHE_DIR",
     take_text, FIELD(cache)},
    {"rank-timeout", "SECONDS",
     "end all if an instance keeps others waiting for longer (default: 3600; 0: no limit)",
     .take = take_seconds},
    {"mpi", "openmpi|mpich", "which MPI (default: the first of these that is installed)",
     .take = take_mpi},
    {"print-topology", "yes|no", "print where each instance would run, and run nothing", take_yes,
     FIELD(topology)},
    PARTITION("vipu-partition", "NAME"),
    PARTITION("vipu-server-host", "NAME"),
    PARTITION("vipu-server-port", "N"),
    PARTITION("vipu-server-timeout", "SECONDS"),
    PARTITION("vipu-allocation", "NAME"),
    PARTITION("vipu-cluster", "NAME"),
    PARTITION("update-partition", "yes|no"),
    PARTITION("reset-partition", "yes|no"),
    PARTITION("remove-partition", "yes|no"),
};

enum { NUM_OPTIONS = sizeof table / sizeof *table };

static const char begin[] = "usage: poprun [options] program [arguments]\n"
                            "Starts instances of a program under mpirun. If they run a "
                            "replicated graph, each has a share of its replicas.\n\n";

static const char end[] =
    "  --vipu-partition, --vipu-server-host, --vipu-server-port, --vipu-server-timeout, "
    "--vipu-allocation, --vipu-cluster,\n"
    "  --update-partition, --reset-partition, --remove-partition\n"
    "                                   accepted, without effect: software IPUs have no "
    "partitions\n"
    "  -v, --verbose                    print the command; -vv: also its environment\n"
    "  -q, --quiet                      only errors, no notes\n"
    "  -h, --help                       print this\n"
    "      --version                    print the version\n"
    "\n"
    "Each instance finds POPDIST_INSTANCE_INDEX, POPDIST_NUM_INSTANCES, "
    "POPDIST_NUM_TOTAL_REPLICAS,\n"
    "POPDIST_NUM_LOCAL_REPLICAS, POPDIST_REPLICA_INDEX_OFFSET and POPDIST_IPUS_PER_REPLICA in its "
    "environment.\n"
    "Exit status: that of the program, or 128 plus the number of the signal that ended it; 2 wrong "
    "command line,\n"
    "4 no MPI or a machine that cannot be reached, 127 a program that cannot be started.\n";

static void print_help(void)
{
  fputs(begin, stdout);
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    if (!table[i].help) continue;
    char left[64];
    snprintf(left, sizeof left, "--%s %s", table[i].name, table[i].value);
    printf("  %-*s %s\n", 32, left, table[i].help);
  }
  fputs(end, stdout);
}

/* The first `length` characters. */
static pop_error *unknown(const char *given, size_t length)
{
  const char *names[NUM_OPTIONS + 4] = {"help", "version", "verbose", "quiet"};
  for (size_t i = 0; i < NUM_OPTIONS; i++) names[i + 4] = table[i].name;
  char *name = pop_xasprintf("%.*s", (int)length, given);
  const char *near = pop_nearest_name(name + strspn(name, "-"), names, NUM_OPTIONS + 4);
  pop_error *error = pop_error_new(
      POP_ERROR_USAGE, "there is no option '%s'%s%s%s; poprun --help says what there is", name,
      near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
  free(name);
  return error;
}

static const option *find(const char *name, size_t length)
{
  for (size_t i = 0; i < NUM_OPTIONS; i++)
    if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0)
      return &table[i];
  return NULL;
}

static bool is_yes_or_no(const char *text)
{
  return text && (strcasecmp(text, "yes") == 0 || strcasecmp(text, "no") == 0 ||
                  strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0);
}

/* Takes the option at argv[*at]; *at is left at the last argument that belongs to it. */
static pop_error *take_long(poprun_options *to, char **argv, int *at)
{
  const char *given = argv[*at] + 2, *equals = strchr(given, '=');
  size_t length = equals ? (size_t)(equals - given) : strlen(given);
  const option *of = find(given, length);
  if (!of) return unknown(argv[*at], length + 2);
  bool may_stand_alone = strcmp(of->value, "yes|no") == 0;
  const char *value = equals ? equals + 1 : NULL;
  if (!value && (!may_stand_alone || is_yes_or_no(argv[*at + 1]))) {
    value = argv[*at + 1];
    if (!value) return pop_error_new(POP_ERROR_USAGE, "--%s needs %s", of->name, of->value);
    ++*at;
  }
  return of->take(to, of, value);
}

static bool take_verbose(poprun_options *to, const char *given)
{
  if (strcmp(given, "--verbose") == 0) {
    to->verbose++;
    return true;
  }
  size_t count = given[0] == '-' ? strspn(given + 1, "v") : 0;
  if (count == 0 || given[1 + count]) return false;
  to->verbose += (int)count;
  return true;
}

static bool is(const char *given, const char *one, const char *other)
{
  return strcmp(given, one) == 0 || strcmp(given, other) == 0;
}

static pop_error *check(poprun_options *to)
{
  if (!to->num_replicas) to->num_replicas = to->num_instances;
  if (to->num_replicas % to->num_instances)
    return pop_error_new(POP_ERROR_USAGE,
                         "--num-replicas %u is no multiple of --num-instances %u: each instance "
                         "has as many replicas as the others",
                         to->num_replicas, to->num_instances);
  if (to->num_instances % to->num_ilds)
    return pop_error_new(POP_ERROR_USAGE, "--num-instances %u is no multiple of --num-ilds %u",
                         to->num_instances, to->num_ilds);
  if (to->only_output >= (int32_t)to->num_instances)
    return pop_error_new(POP_ERROR_USAGE,
                         "--only-output-from-instance %d: there are the instances 0 to %u",
                         to->only_output, to->num_instances - 1);
  if (to->quiet && to->verbose)
    return pop_error_new(POP_ERROR_USAGE, "either --quiet or --verbose");
  if (!*to->program && !to->topology)
    return pop_error_new(POP_ERROR_USAGE,
                         "which program? usage: poprun [options] program [arguments]");
  return NULL;
}

pop_error *poprun_parse(int argc, char **argv, poprun_options *to, bool *done)
{
  *to = (poprun_options){
      .num_instances = 1, .num_ilds = 1, .ipus_per_replica = 1, .only_output = POPRUN_ALL};
  *done = false;
  int at = 1;
  for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
    const char *given = argv[at];
    if (strcmp(given, "--") == 0) {
      at++;
      break;
    }
    if (is(given, "-h", "--help") || strcmp(given, "--version") == 0) {
      *done = true;
      if (given[2] == 'v')
        printf("poprun (Populus) %s\n", POPULUS_VERSION);
      else
        print_help();
      return NULL;
    }
    if (take_verbose(to, given)) continue;
    if (is(given, "-q", "--quiet")) {
      to->quiet = true;
      continue;
    }
    if (strncmp(given, "--", 2) != 0) return unknown(given, strlen(given));
    POP_TRY(take_long(to, argv, &at));
  }
  to->program = argv + at;
  return check(to);
}

poprun_place poprun_place_of(const poprun_options *o, uint32_t instance)
{
  uint32_t each = o->num_hosts
                      ? (o->num_instances + (uint32_t)o->num_hosts - 1) / (uint32_t)o->num_hosts
                      : o->num_instances;
  uint32_t replicas = o->num_replicas / o->num_instances;
  return (poprun_place){.host = o->num_hosts ? o->hosts[instance / each] : NULL,
                        .ild = instance / (o->num_instances / o->num_ilds),
                        .first_replica = instance * replicas,
                        .num_replicas = replicas};
}
