/* Reports as a page: one HTML file that shows where the memory and the cycles go (viewer/README.md). popview writes such pages, and
 * programs with the engine option autoReport.outputViewer.
 *
 * A report is a folder that autoReport.directory has named, a profile.pop, a graph profile (graph.json, graph.cbor), an execution profile (execution.json) or an archive of
 * tile images. */
#ifndef POPULUS_REPORT_PAGE_H
#define POPULUS_REPORT_PAGE_H

#include <populus/error.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a page leaves out: pages are handed on. */
enum {
  POP_REPORT_WITHOUT_SOURCE =
      1 /* the text of sources that code.json has; the names of files and numbers of lines stay */
};

/* Writes the page of one report, or of two that it compares, to the file `output`, which is there when it is whole. `left_out` is 0 or of the bits above. It holds the reports,
 * and its Content-Security-Policy forbids any request. Errors: those of pop_report_write_json; SYSTEM if the viewer was
 * not built, or the file cannot be written. */
POP_MUST_CHECK pop_error *pop_report_write_page(const char *const *reports, size_t num_reports,
                                                unsigned left_out, const char *output);

/* What such a page holds, as JSON: {format, version, reports}; of each report {name, version, written, graph?, execution?, vars?,
 * debug?, code?, files: [{name, status}]}. Errors: INVALID_ARGUMENT for no report, NULL or other bits; FILE_LOAD, with the path, for what is none or
 * damaged (a file beside profile.pop that cannot be read is named in `files` with the reason); SYSTEM if the stream cannot
 * be written. */
POP_MUST_CHECK pop_error *pop_report_write_json(const char *const *reports, size_t num_reports,
                                                unsigned left_out, FILE *stream);

/* For a server: the page without reports, which asks for these two beside itself: that JSON, and a text that is another when a
 * report has been written again. */
#define POP_REPORT_PAGE_JSON "reports.json"
#define POP_REPORT_PAGE_STAMP "stamp"
POP_MUST_CHECK pop_error *pop_report_write_page_frame(FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
