/* Functions that libFuzzer calls, and one that it offers. */
#ifndef POPULUS_FUZZ_H
#define POPULUS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0. A finding is a crash, an abort or a report of a sanitizer. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Changes the input in place; returns its new size, at most max_size. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed);
/* libFuzzer's own mutations. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size);

#endif
