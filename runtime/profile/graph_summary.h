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

/* Colours: CLICOLOR_FORCE, then CLICOLOR=0, then the option, then whether the stream is a terminal that has
 * them. INVALID_OPTION for an unknown key, with the nearest, or another value than true and false. */
POP_MUST_CHECK pop_error *summary_style_parse(const pop_option *options, size_t num_options,
                                              FILE *stream, summary_style *style);

/* A line that stands out where there are colours; `warns`: as something that is wrong. */
void summary_heading(const summary_style *style, int indent, const char *text, bool warns);
/* A labelled number of bytes; the number's last digit is in column `width` of the line. */
void summary_bytes(const summary_style *style, int indent, const char *label, uint64_t bytes,
                   int width);

/* Names with numbers behind them, in columns. */
typedef struct summary_row {
  const char *name;
  uint64_t number;
} summary_row;
/* `width` for the number; `unit` behind it. Rows of 0 are left out. */
void summary_rows(const summary_style *style, int indent, const summary_row *rows, size_t count,
                  int width, const char *unit);

/* Tiles [first, end). */
typedef struct tile_range {
  size_t first, end;
} tile_range;

/* memory_summary.c: "Memory Usage" of the tiles. */
void summary_memory_usage(const summary_style *style, pop_profile_value profile, tile_range tiles,
                          bool total_line);
/* tile_summary.c: the histogram, the maxima; what fills the fullest tiles if some are too full. The worst plan, which the
 * guide's sample has not. */
void summary_by_tile(const summary_style *style, pop_profile_value profile);
void summary_plan(const summary_style *style, pop_profile_value profile);
/* liveness_summary.c */
void summary_liveness(const summary_style *style, pop_profile_value profile);
/* summary.c: the memory of all tiles and what there is by tile. */
void summary_memory(const summary_style *style, pop_profile_value profile);

#endif
