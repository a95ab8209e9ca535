/* The profile summary in the layout of the user guide's sample, from the values of a graph profile. */
#ifndef PROFILE_GRAPH_SUMMARY_H
#define PROFILE_GRAPH_SUMMARY_H

#include <populus/profile.h>

/* The summary's options. */
typedef struct summary_style {
  FILE *stream;
  bool colours;
  bool var_storage, optimizations, exchange_instructions, execution_steps, per_ipu;
} summary_style;

/* Colours depend on CLICOLOR_FORCE, then CLICOLOR=0, then the option, then whether the stream is a
 * terminal with colours. INVALID_OPTION for an unknown key (the message names the nearest), or a
 * value other than true and false. */
POP_MUST_CHECK pop_error *summary_style_parse(const pop_option *options, size_t num_options,
                                              FILE *stream, summary_style *style);

/* After the last line: SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *summary_end(FILE *stream);

/* A highlighted line; `warns`: as a warning. */
void summary_heading(const summary_style *style, int indent, const char *text, bool warns);
/* A labelled number of bytes, right-aligned to column `width`. */
void summary_bytes(const summary_style *style, int indent, const char *label, uint64_t bytes,
                   int width);

/* A name and its number. */
typedef struct summary_row {
  const char *name;
  uint64_t number;
} summary_row;
/* Rows in columns: numbers have `width` characters, `unit` follows. Rows with 0 are left out. */
void summary_rows(const summary_style *style, int indent, const summary_row *rows, size_t count,
                  int width, const char *unit);

/* Tiles [first, end). */
typedef struct tile_range {
  size_t first, end;
} tile_range;

/* memory_summary.c: "Memory Usage" of the tiles. */
void summary_memory_usage(const summary_style *style, pop_profile_value profile, tile_range tiles,
                          bool total_line);
/* tile_summary.c: the histogram; the maxima; what fills the fullest tiles, if some are too full;
 * the worst plan, which the guide's sample does not have. */
void summary_by_tile(const summary_style *style, pop_profile_value profile);
void summary_plan(const summary_style *style, pop_profile_value profile);
/* liveness_summary.c */
void summary_liveness(const summary_style *style, pop_profile_value profile);
/* graph_summary.c: the memory of all tiles, and by tile. */
void summary_memory(const summary_style *style, pop_profile_value profile);

#endif
