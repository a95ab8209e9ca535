#include "engine/reports.h"

#include "graph/log.h"
#include "profile/memory_summary.h"
#include "profile/report_file.h"
#include "profile/variable_report.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void print_memory_report(FILE *stream, const pop_executable *e)
{
  size_t num_tiles = pop_target_num_tiles(&e->target);
  pop_tile_memory *memory = pop_xcalloc(num_tiles, sizeof *memory);
  for (size_t i = 0; i < num_tiles; ++i) memory[i] = e->memory_rows[e->tiles[i].memory];
  print_memory_totals(stream, memory, num_tiles);
  fputs("\n", stream);
  print_memory_by_tile(stream, &e->target, memory, num_tiles);
  print_memory_plan(stream, &e->target, memory, num_tiles);
  free(memory);
}

/* ---- each report, to a stream ---- */

static pop_error *write_memory(FILE *stream, const void *executable)
{
  print_memory_report(stream, executable);
  return NULL;
}

static pop_error *write_variable_report(FILE *stream, const void *executable)
{
  return write_variables(stream, executable);
}

/* ---- where they go ---- */

static pop_error *save_archive(const pop_executable *e, const char *path)
{
  log_phase saving = log_phase_start("ENGINE", "Saving archive");
  POP_TRY(pop_executable_save(e, path));
  log_phase_end(&saving);
  return NULL;
}

static pop_error *print_graph_report(const pop_executable *e, const char *destination)
{
  FILE *stream = strcmp(destination, "stdout") == 0   ? stdout
                 : strcmp(destination, "stderr") == 0 ? stderr
                                                      : NULL;
  if (!stream) return report_file_write(destination, write_memory, e);
  print_memory_report(stream, e);
  return fflush(stream) == 0 ? NULL : pop_error_errno(errno, "cannot print the graph report");
}

pop_error *write_reports(const pop_executable *e, const engine_options *options)
{
  if (*options->save_archive) POP_TRY(save_archive(e, options->save_archive));
  if (*options->variable_file)
    POP_TRY(report_file_write(options->variable_file, write_variable_report, e));
  if (*options->graph_report) POP_TRY(print_graph_report(e, options->graph_report));
  return NULL;
}
