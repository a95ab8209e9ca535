/* Report pages: one HTML file that shows where memory and cycles go (viewer/README.md). popview
 * writes such pages, and so do programs with the engine option autoReport.outputViewer.
 *
 * A report is one of these: a folder that autoReport.directory has named, a profile.pop, a graph
 * profile (graph.json), an execution profile (execution.json), or an archive of tile images.
 * graph.cbor and execution.cbor are read in a folder only: alone they are refused with FILE_LOAD,
 * and so is any other CBOR that is not a profile.pop. */
#ifndef POPULUS_REPORT_PAGE_H
#define POPULUS_REPORT_PAGE_H

#include <populus/error.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to leave out of a page, because pages are handed on. */
enum {
  POP_REPORT_WITHOUT_SOURCE =
      1 /* the text of sources in code.json; file names and line numbers stay */
};

/* Writes the page of one report, or of two that it compares, to the file `output`, which appears
 * only when it is complete. `left_out` is 0 or consists of the bits above. The page contains the
 * reports, and its Content-Security-Policy forbids any request. Errors: those of
 * pop_report_write_json; SYSTEM if the viewer was not built, or if the file cannot be written;
 * MEMORY. */
POP_MUST_CHECK pop_error *pop_report_write_page(const char *const *reports, size_t num_reports,
                                                unsigned left_out, const char *output);

/* Writes what such a page contains, as JSON: {format, version, reports}. Each report is {name,
 * written, version?, graph?, execution?, vars?, debug?, code?, files: [{name, status}]}; version is
 * that of profile.pop. The stream is flushed. Errors: INVALID_ARGUMENT for no report, NULL or other
 * bits; FILE_LOAD, with the path, for a file that is not a report, is damaged or cannot be read;
 * SYSTEM if the stream cannot be written. After an error, what was written is not complete. In a
 * folder, such a file is not an error if another one has a profile: `files` has its status, without
 * the reason. But profile.pop must be good if it is there. */
POP_MUST_CHECK pop_error *pop_report_write_json(const char *const *reports, size_t num_reports,
                                                unsigned left_out, FILE *stream);

/* For a server: writes the page without reports. It requests two files beside itself: that JSON,
 * and a text that changes when a report has been written again. The stream is flushed. Errors:
 * INVALID_ARGUMENT for NULL; SYSTEM if the viewer was not built, or if the stream cannot be
 * written. */
#define POP_REPORT_PAGE_JSON "reports.json"
#define POP_REPORT_PAGE_STAMP "stamp"
POP_MUST_CHECK pop_error *pop_report_write_page_frame(FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
