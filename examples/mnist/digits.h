/* Images of digits: read from files of MNIST's format, or drawn. */
#ifndef EXAMPLES_DIGITS_H
#define EXAMPLES_DIGITS_H

#include "../example.h"

#include <stdint.h>

enum { DIGITS_SIDE = 28, DIGITS_PIXELS = DIGITS_SIDE * DIGITS_SIDE, DIGITS_CLASSES = 10 };

typedef struct digits {
  size_t count;
  float *images; /* count rows of DIGITS_PIXELS numbers from 0 to 1, and a 1 */
  uint32_t *labels;
} digits;

static inline digits digits_new(size_t count)
{
  digits d = {.count = count};
  d.images = example_alloc(count * (DIGITS_PIXELS + 1), sizeof *d.images);
  d.labels = example_alloc(count, sizeof *d.labels);
  for (size_t i = 0; i < count; ++i) d.images[(i + 1) * (DIGITS_PIXELS + 1) - 1] = 1;
  return d;
}

static inline void digits_free(digits *d)
{
  free(d->images);
  free(d->labels);
}

/* ---- files ---- */

static inline void digits_refuse(const char *path, const char *what)
{
  fprintf(stderr, "error: '%s' %s\n", path, what);
  exit(1);
}

/* IDX: zero, zero, 8 (bytes), the number of dimensions; their sizes, high byte first; the bytes. */
static inline uint8_t *digits_read_idx(const char *path, uint32_t dimensions, size_t each,
                                       size_t *count)
{
  uint8_t head[16];
  FILE *file = fopen(path, "rb");
  if (!file) digits_refuse(path, "cannot be opened");
  size_t size = 4 + 4 * (size_t)dimensions, bytes = 1;
  if (fread(head, 1, size, file) != size || head[0] || head[1] || head[2] != 8 ||
      head[3] != dimensions)
    digits_refuse(path, "is no IDX file of bytes, or has other dimensions; MNIST's are to be "
                        "decompressed first");
  for (uint32_t i = 0; i < dimensions; ++i) {
    const uint8_t *at = head + 4 + 4 * i;
    size_t n = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
    if (i == 0) *count = n;
    if (i > 0) bytes *= n;
  }
  if (bytes != each) digits_refuse(path, "has images of another size than 28 x 28");
  uint8_t *data = example_alloc(*count, each);
  if (fread(data, each, *count, file) != *count) digits_refuse(path, "ends too early");
  fclose(file);
  return data;
}

/* As many as make whole steps. */
static inline digits digits_read(const char *images, const char *labels, size_t step)
{
  size_t count, num_labels;
  uint8_t *pixels = digits_read_idx(images, 3, DIGITS_PIXELS, &count);
  uint8_t *classes = digits_read_idx(labels, 1, 1, &num_labels);
  if (num_labels != count) digits_refuse(labels, "has not as many labels as there are images");
  if (count < step) digits_refuse(images, "has fewer images than one step takes, 64");
  digits d = digits_new(count / step * step);
  for (size_t i = 0; i < d.count; ++i) {
    for (size_t p = 0; p < DIGITS_PIXELS; ++p)
      d.images[i * (DIGITS_PIXELS + 1) + p] = (float)pixels[i * DIGITS_PIXELS + p] / 255;
    if (classes[i] >= DIGITS_CLASSES) digits_refuse(labels, "has a label above 9");
    d.labels[i] = classes[i];
  }
  free(pixels);
  free(classes);
  return d;
}

/* ---- drawing ---- */

/* 0 up to 1, the same in every run. */
static inline float digits_random(uint32_t *state)
{
  *state = *state * 1664525 + 1013904223;
  return (float)(*state >> 8) / (float)(1 << 24);
}

static inline void digits_stroke(float *image, int row, int column, int rows, int columns)
{
  for (int r = row; r < row + rows; ++r)
    for (int c = column; c < column + columns; ++c) image[r * DIGITS_SIDE + c] = 1;
}

/* Strokes of a pocket calculator: top, upper left, upper right, middle, lower left, lower right, bottom. */
static inline void digits_draw_one(float *image, uint32_t label, uint32_t *state)
{
  static const char strokes[DIGITS_CLASSES][8] = {"1110111", "0010010", "1011101", "1011011",
                                                  "0111010", "1101011", "1101111", "1010010",
                                                  "1111111", "1111011"};
  const char *has = strokes[label];
  int top = 3 + (int)(digits_random(state) * 2), left = 7 + (int)(digits_random(state) * 2);
  for (int i = 0; i < 3; ++i)
    if (has[3 * i] == '1') digits_stroke(image, top + 9 * i, left, 2, 11);
  for (int i = 0; i < 4; ++i)
    if (has[1 + i + i / 2] == '1') digits_stroke(image, top + 9 * (i / 2), left + i % 2 * 9, 11, 2);
  for (int i = 0; i < DIGITS_PIXELS; ++i)
    image[i] = image[i] * (0.6F + 0.4F * digits_random(state)) + 0.2F * digits_random(state);
}

static inline digits digits_draw(size_t count, size_t step, uint32_t seed)
{
  digits d = digits_new(count / step * step);
  for (size_t i = 0; i < d.count; ++i) {
    d.labels[i] = (uint32_t)(digits_random(&seed) * DIGITS_CLASSES);
    digits_draw_one(d.images + i * (DIGITS_PIXELS + 1), d.labels[i], &seed);
  }
  return d;
}

#endif
