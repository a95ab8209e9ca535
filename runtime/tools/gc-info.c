/* gc-info: which devices there are.
 *
 * Commands and output are those of the documented tool, as far as they have a meaning here: a
 * software IPU has no temperatures and no PCI addresses. */
#include "values.h"

#include <populus/names.h>
#include <populus/populus.h>
#include <populus/standard_streams.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_USAGE = 2 };

typedef enum command {
  COMMAND_NONE,
  COMMAND_LIST,
  COMMAND_INFO,
  COMMAND_ARCH,
  COMMAND_CLOCK,
  COMMAND_COUNT
} command;

/* Prints what the command asks for. `device` is NULL unless the command needs one. */
typedef void (*command_function)(const pop_device_manager *manager, const pop_device *device);

/* ---- commands ---- */

static void print_ipu(uint32_t number)
{
  printf(", IPU-M host: [localhost], IPU#: [%" PRIu32 "]\n", number);
}

static void print_device(const pop_device *device, uint32_t first_of_partition)
{
  const uint32_t *ipus = pop_device_driver_ids(device);
  uint32_t num_ipus = pop_device_target(device)->num_ipus;
  printf("-+- Id: [%" PRIu32 "], target: [%s]", pop_device_id(device),
         num_ipus == 1 ? "Software" : "Multi IPU");
  if (num_ipus == 1) {
    print_ipu(ipus[0]);
    return;
  }
  printf("\n");
  for (uint32_t i = 0; i < num_ipus; ++i) {
    printf(" |--- Id: [%" PRIu32 "], DNC Id: [%" PRIu32 "]", first_of_partition + ipus[i], i);
    print_ipu(ipus[i]);
  }
}

/* Single IPUs come first in a partition: the id of IPU 0 is the partition's first. */
static void list_devices(const pop_device_manager *manager, const pop_device *none)
{
  (void)none;
  const char *partition = "";
  uint32_t first = 0;
  printf("Graphcore device listing:\n");
  for (size_t i = 0; i < pop_device_manager_num_devices(manager); ++i) {
    pop_device *device;
    pop_error_free(pop_device_manager_get_device(manager, i, &device));
    const char *name = pop_device_partition(device);
    if (strcmp(name, partition) != 0) {
      partition = name;
      first = (uint32_t)i;
      printf("Partition: %s [active]\n", partition);
    }
    print_device(device, first);
  }
}

static void print_info(const pop_device_manager *manager, const pop_device *device)
{
  (void)manager;
  pop_device_attribute list[32];
  size_t count = pop_device_get_attributes(device, list, sizeof list / sizeof *list);
  printf("Device Info:\n");
  for (size_t i = 0; i < count; ++i) {
    printf("  %s: ", list[i].key);
    pop_write_name(list[i].value, stdout); /* a user's program may be called anything */
    putchar('\n');
  }
}

static void list_ids(const pop_device_manager *manager)
{
  for (size_t i = 0; i < pop_device_manager_num_devices(manager); ++i) {
    pop_device *device;
    pop_error_free(pop_device_manager_get_device(manager, i, &device));
    printf("%" PRIu32 "\n", pop_device_id(device));
  }
}

/* ---- as JSON ---- */

static void put_device(values *v, const pop_device *device)
{
  const uint32_t *ipus = pop_device_driver_ids(device);
  const pop_target *target = pop_device_target(device);
  values_begin_map(v, NULL);
  values_put_count(v, "id", pop_device_id(device));
  values_put_text(v, "target", target->num_ipus == 1 ? "Software" : "Multi IPU");
  values_put_text(v, "partition", pop_device_partition(device));
  values_put_text(v, "architecture", target->name);
  values_begin_list(v, "ipus");
  for (uint32_t i = 0; i < target->num_ipus; ++i) values_put_count(v, NULL, ipus[i]);
  values_end(v);
  values_end(v);
}

static pop_error *list_as_json(const pop_device_manager *manager, bool pretty)
{
  values v = {0};
  values_begin_list(&v, NULL);
  for (size_t i = 0; i < pop_device_manager_num_devices(manager); ++i) {
    pop_device *device;
    pop_error_free(pop_device_manager_get_device(manager, i, &device));
    put_device(&v, device);
  }
  values_end(&v);
  return values_print(&v, pretty);
}

static pop_error *info_as_json(const pop_device *device, bool pretty)
{
  pop_device_attribute list[32];
  size_t count = pop_device_get_attributes(device, list, sizeof list / sizeof *list);
  values v = {0};
  values_begin_map(&v, NULL);
  for (size_t i = 0; i < count; ++i) values_put_text(&v, list[i].key, list[i].value);
  values_end(&v);
  return values_print(&v, pretty);
}

static void print_architecture(const pop_device_manager *manager, const pop_device *device)
{
  (void)manager;
  printf("%s\n", pop_device_target(device)->name);
}

static void print_clock(const pop_device_manager *manager, const pop_device *device)
{
  (void)manager;
  printf("%.0fMHz\n", pop_device_target(device)->clock_hz / 1e6);
}

static void print_count(const pop_device_manager *manager, const pop_device *device)
{
  (void)manager;
  printf("%" PRIu32 "\n", pop_device_target(device)->num_ipus);
}

static const struct {
  command_function run;
  bool needs_device;
} commands[] = {
    [COMMAND_LIST] = {list_devices, false},      [COMMAND_INFO] = {print_info, true},
    [COMMAND_ARCH] = {print_architecture, true}, [COMMAND_CLOCK] = {print_clock, true},
    [COMMAND_COUNT] = {print_count, true},
};

/* ---- command line ---- */

static const char help[] =
    "Usage: gc-info [options] command\n"
    "Shows the IPU devices that programs can attach to.\n"
    "\n"
    "Commands:\n"
    "  -l, --list-devices      list all devices: single IPUs, and groups of 2, 4, 8, ... of them\n"
    "  -i, --device-info       the attributes of a device, and the process that uses it\n"
    "      --ipu-arch          the architecture of its IPUs\n"
    "      --tile-clock-speed  the clock of its tiles\n"
    "      --ipu-count         how many IPUs it has\n"
    "\n"
    "Options:\n"
    "  -d, --device-id N       the device that the command is about; all commands but -l need it\n"
    "      --json, --pretty    -l and -i: as JSON, on one line or indented\n"
    "  -q, --quiet             -l: the ids only, one on a line\n"
    "  -h, --help              this text\n"
    "      --version           the version\n"
    "\n"
    "POPULUS_DEVICES defines the devices. POPULUS_RUN_DIR is the folder of their lock files.\n"
    "Exit status: 0 done, 1 no such device, 2 wrong command line or POPULUS_DEVICES, 4 "
    "environment.\n";

enum { OPTION_ARCH = 256, OPTION_CLOCK, OPTION_COUNT, OPTION_JSON, OPTION_PRETTY, OPTION_VERSION };
typedef enum form { PLAIN, QUIET, JSON_ON_A_LINE, JSON_PRETTY } form;

static const struct option options[] = {
    {"list-devices", no_argument, NULL, 'l'},
    {"device-info", no_argument, NULL, 'i'},
    {"ipu-arch", no_argument, NULL, OPTION_ARCH},
    {"tile-clock-speed", no_argument, NULL, OPTION_CLOCK},
    {"ipu-count", no_argument, NULL, OPTION_COUNT},
    {"device-id", required_argument, NULL, 'd'},
    {"json", no_argument, NULL, OPTION_JSON},
    {"pretty", no_argument, NULL, OPTION_PRETTY},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

static int usage(const char *what)
{
  fprintf(stderr, "gc-info: %s; gc-info --help lists the commands\n", what);
  return STATUS_USAGE;
}

static int report(pop_error *error)
{
  int status = pop_error_exit_status(error);
  fprintf(stderr, "gc-info: error: %s\n", pop_error_message(error));
  pop_error_free(error);
  return status;
}

static int flush(void)
{
  pop_error *error = pop_standard_output_flush();
  return error ? report(error) : 0;
}

static int run(command which, const char *id, form form)
{
  pop_device_manager *manager;
  pop_device *device = NULL;
  size_t number = 0;
  if (id) {
    char *end;
    errno = 0;
    number = strtoul(id, &end, 10);
    if (*id < '0' || *id > '9' || *end || errno)
      return usage("--device-id takes the id of a device");
  }
  if (commands[which].needs_device && !id) return usage("the command needs --device-id N");
  if (!commands[which].needs_device && id) return usage("--list-devices is about all devices");
  if (form == QUIET && which != COMMAND_LIST) return usage("--quiet is about --list-devices");
  if (form > QUIET && which != COMMAND_LIST && which != COMMAND_INFO)
    return usage("--json and --pretty are about --list-devices and --device-info");
  pop_error *error = pop_device_manager_create(&manager);
  if (error) return report(error);
  if (id) error = pop_device_manager_get_device(manager, number, &device);
  if (!error && form == QUIET)
    list_ids(manager);
  else if (!error && form)
    error = device ? info_as_json(device, form == JSON_PRETTY)
                   : list_as_json(manager, form == JSON_PRETTY);
  else if (!error)
    commands[which].run(manager, device);
  pop_device_manager_free(manager);
  return error ? report(error) : flush();
}

int main(int argc, char **argv)
{
  command which = COMMAND_NONE;
  const char *id = NULL;
  form form = PLAIN;
  pop_error *error = pop_standard_streams_open();
  if (error) return report(error);
  for (int c; (c = getopt_long(argc, argv, "lid:qh", options, NULL)) != -1;) {
    command asked = COMMAND_NONE;
    switch (c) {
    case 'l':
      asked = COMMAND_LIST;
      break;
    case 'i':
      asked = COMMAND_INFO;
      break;
    case OPTION_ARCH:
      asked = COMMAND_ARCH;
      break;
    case OPTION_CLOCK:
      asked = COMMAND_CLOCK;
      break;
    case OPTION_COUNT:
      asked = COMMAND_COUNT;
      break;
    case 'd':
      id = optarg;
      break;
    case OPTION_JSON:
      if (form == QUIET) return usage("either --quiet or --json");
      if (form == PLAIN) form = JSON_ON_A_LINE;
      break;
    case OPTION_PRETTY:
      if (form == QUIET) return usage("either --quiet or --pretty");
      form = JSON_PRETTY;
      break;
    case 'q':
      if (form > QUIET) return usage("either --quiet or --json");
      form = QUIET;
      break;
    case 'h':
      fputs(help, stdout);
      return flush();
    case OPTION_VERSION:
      printf("gc-info of Populus %s\n", POPULUS_VERSION);
      return flush();
    default:
      fprintf(stderr, "gc-info --help lists the commands\n");
      return STATUS_USAGE;
    }
    if (asked && which && asked != which) return usage("one command at a time");
    if (asked) which = asked;
  }
  if (optind < argc) return usage("there are no arguments but options");
  return which ? run(which, id, form) : usage("a command is missing");
}
