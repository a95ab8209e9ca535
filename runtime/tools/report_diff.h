/* popview diff: the differences between two reports of a program.
 *
 *   populus/report_page.h -> two JSON objects -> figures of each -> rows: before, after, by how much */
#ifndef TOOLS_REPORT_DIFF_H
#define TOOLS_REPORT_DIFF_H

#include <populus/error.h>
#include <stdio.h>

typedef enum report_diff_format {
  REPORT_DIFF_TEXT,
  REPORT_DIFF_JSON, /* on one line */
  REPORT_DIFF_PRETTY
} report_diff_format;

typedef struct report_diff_options {
  double fail_above; /* share of the figure before; negative: nothing fails */
  bool each_name;    /* cycles of each name count, too, not only the totals */
  report_diff_format format;
} report_diff_options;

/* Prints the differences between the reports at the two paths (as pop_report_write_json takes
 * them). `*grown`: a watched figure has grown by more than fail_above. Watched are total
 * cycles, bytes of the fullest tile and of all tiles, and the peak of live bytes; with
 * each_name also the cycles of all steps of one name. Errors: pop_report_write_json's;
 * FILE_LOAD if figures are watched and only one of the reports has an execution trace or
 * memory, or neither has any of them. */
POP_MUST_CHECK pop_error *report_diff(const char *before, const char *after,
                                      const report_diff_options *options, FILE *stream,
                                      bool *grown);

#endif
