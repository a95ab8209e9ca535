/* The page: one HTML file with the viewer (viewer/) and the reports that it shows.
 *
 *   reports --report_pieces.c--> JSON --deflate, base64--> <script id=report> and more such elements
 *   viewer.js, viewer.css of the data folder ------------> <script>, <style>
 *
 * The page's Content-Security-Policy allows only the script and style with the page's nonce. It
 * forbids all requests, except those of a page from a server to that server. */
#include "page/report_pieces.h"

#include <errno.h>
#include <populus/arena.h>
#include <populus/data_dir.h>
#include <populus/file.h>
#include <populus/out_of_memory.h>
#include <populus/report_page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>

enum {
  MAX_VIEWER_BYTES = 1 << 24,
  CHUNK = 1 << 16,
  ELEMENT_DIGITS = 1 << 20 /* a browser needs some milliseconds for these */
};

#define DATA_ELEMENT "<script type=\"application/octet-stream\""

/* JSON on its way to the page. */
typedef struct packer {
  pop_output *output; /* NULL: `stream` */
  FILE *stream;
  z_stream zlib;
  uint8_t rest[3]; /* bytes that do not make a group of three yet */
  size_t num_rest;
  size_t num_digits; /* in the current element */
  pop_error *error;  /* the first */
} packer;

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put(packer *p, const void *bytes, size_t size)
{
  if (p->error) return;
  if (p->output)
    p->error = pop_output_write(p->output, bytes, size);
  else if (fwrite(bytes, 1, size, p->stream) != size)
    p->error = pop_error_errno(errno, "cannot write the page");
}

static void put_text(packer *p, const char *text)
{
  put(p, text, strlen(text));
}

/* Three bytes become four digits; the last group may be padded. An element consists of whole
 * groups. */
static void put_digits(packer *p, const uint8_t *bytes, size_t size)
{
  char text[4 * (CHUNK / 3 + 2)];
  size_t length = 0;
  for (size_t i = 0; i < size; i += 3) {
    uint32_t left = (uint32_t)(size - i);
    uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                    (left > 2 ? bytes[i + 2] : 0);
    text[length++] = digits[word >> 18];
    text[length++] = digits[word >> 12 & 63];
    text[length++] = left > 1 ? digits[word >> 6 & 63] : '=';
    text[length++] = left > 2 ? digits[word & 63] : '=';
  }
  if (p->num_digits >= ELEMENT_DIGITS) {
    put_text(p, "</script>\n" DATA_ELEMENT ">");
    p->num_digits = 0;
  }
  p->num_digits += length;
  put(p, text, length);
}

static void put_base64(packer *p, const uint8_t *bytes, size_t size)
{
  while (p->num_rest && p->num_rest < 3 && size) {
    p->rest[p->num_rest++] = *bytes++;
    size--;
  }
  if (p->num_rest == 3) {
    put_digits(p, p->rest, 3);
    p->num_rest = 0;
  }
  size_t whole = size - size % 3;
  if (whole) put_digits(p, bytes, whole);
  for (size_t i = whole; i < size; ++i) p->rest[p->num_rest++] = bytes[i];
}

static void pack(packer *p, const void *bytes, size_t size, int flush)
{
  uint8_t out[CHUNK];
  p->zlib.next_in = (uint8_t *)bytes;
  p->zlib.avail_in = (unsigned)size;
  do {
    p->zlib.next_out = out;
    p->zlib.avail_out = sizeof out;
    (void)deflate(&p->zlib, flush);
    put_base64(p, out, sizeof out - p->zlib.avail_out);
  } while (p->zlib.avail_out == 0);
}

static ssize_t pack_bytes(void *cookie, const char *bytes, size_t size)
{
  packer *p = cookie;
  for (size_t at = 0; at < size && !p->error; at += CHUNK)
    pack(p, bytes + at, size - at < CHUNK ? size - at : CHUNK, Z_NO_FLUSH);
  return p->error ? 0 : (ssize_t)size;
}

static pop_error *check(const char *call, const char *const *reports, size_t num_reports,
                        unsigned left_out, const void *target)
{
  bool all = reports && num_reports > 0 && target;
  for (size_t i = 0; all && i < num_reports; ++i) all = reports[i] != NULL;
  if (all && left_out <= POP_REPORT_WITHOUT_SOURCE) return NULL;
  if (all)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "%s: there is no such thing to leave out: 0x%x", call, left_out);
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: %s", call,
                       target ? "there is no report to write" : "where to write to is NULL");
}

/* What is in the buffer of a stream may fail, too. */
static pop_error *flush(FILE *stream)
{
  if (fflush(stream) == 0 && !ferror(stream)) return NULL;
  return pop_error_errno(errno, "cannot write the page");
}

pop_error *pop_report_write_json(const char *const *reports, size_t num_reports, unsigned left_out,
                                 FILE *stream)
{
  POP_TRY(check(__func__, reports, num_reports, left_out, stream));
  pop_error *error = NULL;
  fputs("{\"format\":\"Populus page\",\"version\":\"" POPULUS_VERSION "\",\"reports\":[", stream);
  for (size_t i = 0; i < num_reports && !error; ++i) {
    if (i) fputc(',', stream);
    error = report_pieces_write(reports[i], left_out, stream);
  }
  fputs("]}", stream);
  return error ? error : flush(stream);
}

static pop_error *put_reports(packer *p, const char *const *reports, size_t num_reports,
                              unsigned left_out)
{
  FILE *stream = fopencookie(p, "w", (cookie_io_functions_t){.write = pack_bytes});
  if (!stream) return pop_error_errno(errno, "cannot write the page");
  pop_memory_hold(); /* the stream is local to this function */
  pop_error *error = pop_report_write_json(reports, num_reports, left_out, stream);
  pop_memory_release();
  if (fclose(stream) != 0 && !error && !p->error)
    error = pop_error_errno(errno, "cannot write the page");
  if (error || p->error) {
    if (!error) return NULL; /* the caller has p->error */
    return error;
  }
  pack(p, NULL, 0, Z_FINISH);
  if (p->num_rest) put_digits(p, p->rest, p->num_rest);
  return NULL;
}

static pop_error *pack_reports(packer *p, const char *const *reports, size_t num_reports,
                               unsigned left_out)
{
  if (deflateInit(&p->zlib, 6) != Z_OK)
    return pop_error_new(POP_ERROR_MEMORY, "out of memory for the compression of the page");
  pop_error *error = put_reports(p, reports, num_reports, left_out);
  deflateEnd(&p->zlib);
  if (!p->error) return error;
  pop_error_free(error); /* only reports that the stream failed */
  error = p->error;
  p->error = NULL;
  return error;
}

/* ---- the frame ---- */

typedef struct viewer_file {
  uint8_t *bytes;
  size_t size;
} viewer_file;

static pop_error *read_viewer(const char *name, viewer_file *file)
{
  char *path = pop_xasprintf("%s/%s", pop_data_dir(), name);
  pop_error *error = pop_file_read(path, MAX_VIEWER_BYTES, &file->bytes, &file->size);
  if (error && pop_error_get_code(error) == POP_ERROR_FILE_LOAD) {
    pop_error_free(error);
    error = pop_error_new(POP_ERROR_SYSTEM,
                          "the viewer is not there: '%s' cannot be read; it is built with Populus "
                          "where esbuild is installed (Debian: apt-get install esbuild)",
                          path);
  }
  free(path);
  return error;
}

/* The nonce is a hash of the viewer and of the reports' paths, so equal pages are equal files. What
 * reports contain stays inside base64. */
static void put_head(packer *p, const viewer_file *style, const char *nonce, bool is_served)
{
  char policy[512];
  snprintf(policy, sizeof policy,
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
           "'nonce-%s'; style-src 'nonce-%s'; img-src data: blob:; base-uri 'none'; form-action "
           "'none'%s\">\n",
           nonce, nonce, is_served ? "; connect-src 'self'" : "");
  put_text(p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  put_text(p, policy);
  put_text(p, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"generator\" content=\"Populus " POPULUS_VERSION "\">\n"
              "<title>Populus</title>\n<link rel=\"icon\" href=\"data:,\">\n<style nonce=\"");
  put_text(p, nonce);
  put_text(p, "\">\n");
  put(p, style->bytes, style->size);
  put_text(p, "</style>\n</head>\n<body>\n<div id=\"app\"><noscript>This page needs JavaScript: "
              "it is a program that shows the report inside it.</noscript></div>\n" DATA_ELEMENT
              " id=\"report\"");
  if (is_served)
    put_text(p,
             " data-reports=\"" POP_REPORT_PAGE_JSON "\" data-stamp=\"" POP_REPORT_PAGE_STAMP "\"");
  put_text(p, ">");
}

static void put_tail(packer *p, const viewer_file *script, const char *nonce)
{
  put_text(p, "</script>\n<script nonce=\"");
  put_text(p, nonce);
  put_text(p, "\">\n");
  put(p, script->bytes, script->size);
  put_text(p, "</script>\n</body>\n</html>\n");
}

/* Without reports this is the frame that a server uses. */
static pop_error *write_page(packer *p, const char *const *reports, size_t num_reports,
                             unsigned left_out, const viewer_file *style, const viewer_file *script)
{
  char nonce[40];
  XXH128_hash_t hash =
      XXH3_128bits_withSeed(script->bytes, script->size, XXH3_64bits(style->bytes, style->size));
  for (size_t i = 0; i < num_reports; ++i)
    hash = XXH3_128bits_withSeed(reports[i], strlen(reports[i]), hash.low64 ^ hash.high64);
  snprintf(nonce, sizeof nonce, "%016llx%016llx", (unsigned long long)hash.high64,
           (unsigned long long)hash.low64);
  put_head(p, style, nonce, num_reports == 0);
  if (num_reports) POP_TRY(pack_reports(p, reports, num_reports, left_out));
  put_tail(p, script, nonce);
  pop_error *error = p->error;
  p->error = NULL;
  return error;
}

static pop_error *put_page(packer *p, const char *const *reports, size_t num_reports,
                           unsigned left_out)
{
  viewer_file style = {0}, script = {0};
  pop_error *error = read_viewer("viewer.css", &style);
  if (!error) error = read_viewer("viewer.js", &script);
  if (!error) error = write_page(p, reports, num_reports, left_out, &style, &script);
  if (error) pop_error_free(p->error);
  free(style.bytes);
  free(script.bytes);
  return error;
}

pop_error *pop_report_write_page(const char *const *reports, size_t num_reports, unsigned left_out,
                                 const char *output)
{
  packer p = {0};
  POP_TRY(check(__func__, reports, num_reports, left_out, output));
  POP_TRY(pop_memory_check());
  POP_TRY(pop_output_open(output, &p.output));
  pop_error *error = put_page(&p, reports, num_reports, left_out);
  if (!error) return pop_output_commit(p.output);
  pop_output_abort(p.output);
  return error;
}

pop_error *pop_report_write_page_frame(FILE *stream)
{
  static const char *const none = "";
  POP_TRY(check(__func__, &none, 1, 0, stream));
  POP_TRY(put_page(&(packer){.stream = stream}, NULL, 0, 0));
  return flush(stream);
}
