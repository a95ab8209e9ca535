/* Native code in the folder of the executable cache, native-<user>/<32 digits>.o:
 *
 *   object      an ELF file: objdump -d shows it
 *   material    what it was made from: the module's identity, the unit's content
 *   footer      magic, sizes of both, BLAKE3 of everything in front of the digest
 *
 * LLVM trusts its input. So it only gets files that only this user can write
 * (populus/cache_folder.h), with the right digest and exactly the material that is wanted. Any
 * other file is ignored: the unit is compiled, and the file replaced. */
#include "native.h"

#include "base/cache_trim.h"
#include "base/log.h"
#include <inttypes.h>
#include <populus/arena.h>
#include <populus/cache_folder.h>
#include <populus/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

typedef struct footer {
  char magic[16];
  uint64_t object_bytes, material_bytes;
  uint8_t digest[TRANSLATOR_DIGEST_BYTES];
} footer;
_Static_assert(sizeof(footer) == 64, "no padding");

static const char magic[16] = "PopulusNative01";
enum { MAX_FILE_BYTES = 1 << 28 };

bool native_folder_is_used(const native_folder *folder)
{
  char *native = pop_cache_folder_native(folder->path); /* the folder is made for the first file */
  bool used = access(native, F_OK) == 0;
  free(native);
  return used;
}

/* ---- what it is made from ---- */

static void add_array(pop_bytes *material, const void *array, size_t count, size_t size)
{
  uint64_t number = count;
  pop_bytes_append(material, &number, sizeof number);
  if (count) pop_bytes_append(material, array, count * size);
}

void native_file_material(const code_unit *code, pop_bytes *material)
{
  const char *identity = native_module_identity();
  add_array(material, identity, strlen(identity), 1);
  add_array(material, code->functions, code->num_functions, sizeof *code->functions);
  add_array(material, code->blocks, code->num_blocks, sizeof *code->blocks);
  add_array(material, code->ops, code->num_ops, sizeof *code->ops);
  add_array(material, code->targets, code->num_targets, sizeof *code->targets);
  add_array(material, (code_window[]){code->readable, code->writable}, 2, sizeof(code_window));
  add_array(material,
            (uint32_t[]){code->checked, code->num_starts, code->writable_is_moved,
                         code->readable_is_moved, code->data_apart},
            5, sizeof(uint32_t));
}

void native_file_name(const pop_bytes *material, char name[NATIVE_NAME_BYTES])
{
  XXH128_hash_t hash = XXH3_128bits(material->data, material->size);
  snprintf(name, NATIVE_NAME_BYTES, "unit_%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
           (uint64_t)hash.low64);
}

static char *file_path(const native_folder *folder, const char *name)
{
  char *native = pop_cache_folder_native(folder->path);
  char *path = pop_xasprintf("%s/%s.o", native, strchr(name, '_') + 1);
  free(native);
  return path;
}

/* ---- reading ---- */

/* Reads the footer of the file; false: the file is damaged, or none of these. */
static bool read_footer(const pop_bytes *file, footer *f)
{
  if (file->size < sizeof *f) return false;
  size_t content = file->size - sizeof *f;
  memcpy(f, file->data + content, sizeof *f);
  uint8_t digest[TRANSLATOR_DIGEST_BYTES];
  native_module_digest(file->data, content + offsetof(footer, digest), digest);
  return !memcmp(f->magic, magic, sizeof magic) && !memcmp(f->digest, digest, sizeof digest) &&
         f->object_bytes <= content && f->material_bytes == content - f->object_bytes;
}

static native_found refuse(const char *path, const char *why)
{
  log_write(LOG_WARN, "MACHINE", "cached native code %s cannot be used, compiling again: %s", path,
            why);
  return NATIVE_REFUSED;
}

static native_found check(const char *path, const pop_bytes *material, const pop_bytes *file,
                          size_t *object_bytes)
{
  footer f;
  if (!read_footer(file, &f)) return refuse(path, "it is damaged");
  if (f.material_bytes != material->size ||
      memcmp(file->data + f.object_bytes, material->data, material->size) != 0)
    return refuse(path, "it was made from other code");
  *object_bytes = f.object_bytes;
  return NATIVE_FOUND;
}

/* Warns once for each folder. */
static void complain(native_folder *folder, const pop_error *error)
{
  if (!atomic_exchange(&folder->complained, true))
    log_write(LOG_WARN, "MACHINE", "native code is not cached: %s", pop_error_message(error));
}

static bool may_use(native_folder *folder)
{
  pop_error *error = pop_cache_folder_check_native(folder->path);
  if (!error) return true;
  complain(folder, error);
  pop_error_free(error);
  return false;
}

native_found native_file_read(native_folder *folder, const char *name, const pop_bytes *material,
                              pop_bytes *file, size_t *object_bytes)
{
  char *path = file_path(folder, name);
  native_found found = NATIVE_MISSING;
  if (access(path, F_OK) == 0 && may_use(folder)) {
    pop_error *error = pop_file_read_own(path, MAX_FILE_BYTES, &file->data, &file->size);
    found =
        error ? refuse(path, pop_error_message(error)) : check(path, material, file, object_bytes);
    pop_error_free(error);
  }
  if (found == NATIVE_FOUND)
    pop_cache_folder_touch(path);
  else
    pop_bytes_free(file);
  free(path);
  return found;
}

/* ---- writing ---- */

void native_file_make(const uint8_t *object, size_t object_bytes, const pop_bytes *material,
                      pop_bytes *file)
{
  footer f = {.object_bytes = object_bytes, .material_bytes = material->size};
  memcpy(f.magic, magic, sizeof magic);
  pop_bytes_append(file, object, object_bytes);
  pop_bytes_append(file, material->data, material->size);
  pop_bytes_append(file, &f, offsetof(footer, digest));
  native_module_digest(file->data, file->size, f.digest);
  pop_bytes_append(file, f.digest, sizeof f.digest);
}

static pop_error *write_file(const char *path, const pop_bytes *file)
{
  pop_output *output;
  POP_TRY(pop_cache_entry_open_own(path, &output)); /* pop_file_read_own wants it so */
  pop_error *error = pop_output_write(output, file->data, file->size);
  if (error) {
    pop_output_abort(output);
    return error;
  }
  return pop_output_commit(output);
}

bool native_file_write(native_folder *folder, const char *name, const pop_bytes *file)
{
  char *path = file_path(folder, name);
  pop_error *error = pop_cache_folder_make_native(folder->path);
  if (!error) error = write_file(path, file);
  if (!error) cache_trim(folder->path, atomic_load(&folder->max_bytes));
  if (error) complain(folder, error);
  bool written = !error;
  pop_error_free(error);
  free(path);
  return written;
}
