/* What some bytes look like, for messages about files that are not what they should be. */
#include <populus/file.h>

#include <string.h>

static const struct {
  const char *magic;
  size_t length;
  const char *kind;
} kinds[] = {
    {"\x7f"
     "ELF",
     4, "an ELF file"},
    {"!<arch>\n", 8, "an ar archive"},
    {"!<thin>\n", 8, "a thin ar archive"},
    {"BC\xc0\xde", 4, "LLVM bitcode"},
    {"\xff\xd8\xff", 3, "a JPEG image"},
    {"\x89PNG", 4, "a PNG image"},
    {"GIF8", 4, "a GIF image"},
    {"%PDF", 4, "a PDF document"},
    {"PK\x03\x04", 4, "a ZIP archive"},
    {"\x1f\x8b", 2, "gzip data"},
    {"\x28\xb5\x2f\xfd", 4, "zstd data"},
    {"\xfd"
     "7zXZ",
     5, "xz data"},
    {"#!", 2, "a script"},
};

static bool is_text(const uint8_t *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++)
    if ((bytes[i] < ' ' && !strchr("\t\n\r\f", bytes[i])) || bytes[i] == 0 || bytes[i] == 0x7f)
      return false;
  return true;
}

const char *pop_file_kind(const void *bytes, size_t size)
{
  if (!size) return "empty";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (size >= kinds[i].length && memcmp(bytes, kinds[i].magic, kinds[i].length) == 0)
      return kinds[i].kind;
  return is_text(bytes, size < 256 ? size : 256) ? "a text file" : "unknown binary data";
}
