/* The seeds of the fuzz target metadata are accepted. With seeds of another format the target would
 * stop at the first field. tests/fuzz/metadata_seeds.py makes the seeds anew. */
#include "executable/executable.h"
#include "support/expect.h"

#include <criterion/criterion.h>
#include <populus/file.h>
#include <stdlib.h>

typedef pop_error *reader(const uint8_t *bytes, size_t size, pop_executable *executable);

static void expect_read(const char *name, reader *read)
{
  char *path =
      pop_xasprintf("%s/tests/fuzz/corpus/metadata/%s", getenv("POPULUS_SOURCE_DIR"), name);
  uint8_t *bytes;
  size_t size;
  expect_ok(pop_file_read(path, 1 << 20, &bytes, &size));
  pop_executable *e = executable_new();
  pop_error *error = read(bytes, size, e);
  cr_assert_null(error, "%s: %s: tests/fuzz/metadata_seeds.py makes it anew", name,
                 error ? pop_error_message(error) : "");
  cr_assert(e->num_streams == 2 && e->num_tensors > 0 && e->num_steps > 0);
  pop_executable_free(e);
  free(bytes);
  free(path);
}

Test(executable_seeds, sound_metadata_are_of_the_present_format)
{
  expect_read("sound.elf", executable_read_metadata);
  expect_read("sound.cbor", executable_decode);
}
