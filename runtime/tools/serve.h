/* popview --serve: a report as a page from a server of this machine's own, for reports that are too large for one file, and for
 * those that are still being written.
 *
 *   http://127.0.0.1:PORT/TOKEN/              the frame (populus/report_page.h)
 *   http://127.0.0.1:PORT/TOKEN/reports.json  the reports, as they are when it is asked for
 *   http://127.0.0.1:PORT/TOKEN/stamp         a text that is another when a report has been written again
 *
 * Only the loopback address is listened on. Other users of the machine do not know the token, and other pages of the same
 * browser neither; who asks under another host name is refused. */
#ifndef TOOLS_SERVE_H
#define TOOLS_SERVE_H

#include <populus/error.h>
#include <stddef.h>

/* Prints the address on standard output and serves until SIGINT, SIGTERM or SIGHUP. Errors: those of pop_report_write_json for what the
 * reports are when it starts; SYSTEM if nothing can be listened on. */
POP_MUST_CHECK pop_error *serve_reports(const char *const *reports, size_t num_reports,
                                        unsigned left_out);

#endif
