/* popview's page: one HTML file of the viewer (viewer/) and the reports that it shows.
 *
 *   reports --report_pieces.c--> JSON --deflate, base64--> <script id=report>
 *   viewer.js, viewer.css of the data folder ------------> <script>, <style>
 *
 * The page's Content-Security-Policy lets the two run that carry the page's nonce, and nothing be requested, but by a page of
 * popview --serve (serve.h) from its own server. */
#ifndef TOOLS_PAGE_H
#define TOOLS_PAGE_H

#include <populus/error.h>
#include <stdio.h>

/* Writes the page to `output`, which is there when it is whole. Errors: report_pieces_write's; SYSTEM if the viewer was
 * not built, or the file cannot be written. */
POP_MUST_CHECK pop_error *page_write(const char *const *reports, size_t num_reports,
                                     const char *output);

/* For a server: the page without reports, which asks for PAGE_REPORTS and PAGE_STAMP beside itself. */
#define PAGE_REPORTS "reports.json"
#define PAGE_STAMP "stamp"
POP_MUST_CHECK pop_error *page_write_frame(FILE *stream);
/* What it asks for first: all reports, as JSON. */
POP_MUST_CHECK pop_error *page_write_reports(const char *const *reports, size_t num_reports,
                                             FILE *stream);

#endif
