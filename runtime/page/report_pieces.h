/* The contents of a report, from a folder, a file or an archive, as one JSON object for the page:
 *
 *   {name, written, version?, graph?, execution?, vars?, debug?, code?, files: [{name, status}]}
 *
 * The name is the path; of an absolute one, its last two parts. */
#ifndef PAGE_REPORT_PIECES_H
#define PAGE_REPORT_PIECES_H

#include <populus/error.h>
#include <stdio.h>

/* Writes the report at `path`: a folder (autoReport.directory), a profile.pop, a graph profile
 * (graph.json), an execution profile (execution.json), or an archive of tile images. FILE_LOAD,
 * with the path, if it is none of these or is damaged. A damaged file beside others in a folder is
 * not an error: `files` has its status. SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *report_pieces_write(const char *path, unsigned left_out, FILE *stream);

#endif
