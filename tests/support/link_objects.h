/* Tile objects for tests of the linker: small sources, compiled by clang in the test's folder. A
 * suite that uses this has .init = enter_fresh_folder. */
#ifndef POPULUS_TEST_LINK_OBJECTS_H
#define POPULUS_TEST_LINK_OBJECTS_H

#include "expect.h"

#include <populus/arena.h>
#include <populus/file.h>
#include <populus/link.h>

#include <elf.h>
#include <stdio.h>

#define RV32 "--target=riscv32-unknown-elf -march=rv32imf_zfh_zba_zbb -mabi=ilp32f -mno-relax "
/* Without the limit, clang puts all variables of 8 bytes or less into one section. */
#define RV32_C                                                                                     \
  RV32 "-msmall-data-limit=0 -x c -O2 -fno-pic -mcmodel=medlow -ffunction-sections "               \
       "-fdata-sections "
#define RV32_CXX                                                                                   \
  RV32 "-msmall-data-limit=0 -x c++ -O2 -fno-pic -fno-exceptions -fno-rtti -ffunction-sections "   \
       "-fdata-sections "
#define RV32_ASM RV32 "-x assembler "

/* The object that clang makes of `source`; freed by the caller. */
static inline uint8_t *compiled_bytes(const char *options, const char *source, size_t *size)
{
  FILE *file = fopen("source", "w");
  cr_assert_not_null(file);
  fputs(source, file);
  fclose(file);
  char *command = pop_xasprintf("clang-19 %s -c source -o object.o", options);
  cr_assert_eq(system(command), 0, "%s", command);
  uint8_t *bytes = NULL;
  expect_ok(pop_file_read("object.o", UINT32_MAX, &bytes, size));
  free(command);
  return bytes;
}

static inline pop_object *compiled(const char *options, const char *source, const char *name)
{
  size_t size;
  uint8_t *bytes = compiled_bytes(options, source, &size);
  pop_object *object = NULL;
  expect_ok(pop_object_parse(bytes, size, name, &object));
  free(bytes);
  return object;
}

/* The header of a section of an ELF file in memory. */
static inline Elf32_Shdr *section_header(uint8_t *bytes, const char *name)
{
  Elf32_Ehdr *header = (Elf32_Ehdr *)bytes;
  Elf32_Shdr *sections = (Elf32_Shdr *)(bytes + header->e_shoff);
  const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (strcmp(names + sections[i].sh_name, name) == 0) return &sections[i];
  }
  cr_assert_fail("there is no section %s", name);
  return NULL;
}

/* Checks that there is an error with this code whose message holds each of the
 * fragments. Frees it. */
static inline void expect_fragments(pop_error *error, pop_error_code code,
                                    const char *const *fragments)
{
  cr_assert_not_null(error, "no error, expected '%s'", fragments[0]);
  cr_assert_eq(pop_error_get_code(error), code, "%s", pop_error_message(error));
  for (; *fragments; ++fragments) {
    cr_assert_not_null(strstr(pop_error_message(error), *fragments), "'%s' is not in '%s'",
                       *fragments, pop_error_message(error));
  }
  pop_error_free(error);
}
#define EXPECT_ERROR(error, code, ...)                                                             \
  expect_fragments(error, code, (const char *const[]){__VA_ARGS__, NULL})

#endif
