/* popview --serve: a report as a page from a server on this machine, for reports that are too large
 * for one file, and for those that are still being written.
 *
 *   http://127.0.0.1:PORT/TOKEN/              the frame (populus/report_page.h)
 *   http://127.0.0.1:PORT/TOKEN/reports.json the reports, as they are at that moment
 *   http://127.0.0.1:PORT/TOKEN/stamp a text that changes when a report has been written again
 *
 * The server listens only on the loopback address. Other users of the machine and other pages of
 * the same browser do not know the token. Requests under another host name are refused. */
#ifndef TOOLS_SERVE_H
#define TOOLS_SERVE_H

#include <populus/error.h>
#include <stddef.h>

/* Prints the address on standard output and serves until SIGINT, SIGTERM or SIGHUP. Errors: those
 * of pop_report_write_json for the reports at the start; SYSTEM if it cannot listen. */
POP_MUST_CHECK pop_error *serve_reports(const char *const *reports, size_t num_reports,
                                        unsigned left_out);

#endif
