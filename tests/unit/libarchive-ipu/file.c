/* libarchive-ipu/file_*.c: reading and writing files, and what can fail. */
#include "support/expect.h"

#include <populus/arena.h>
#include <populus/cache_folder.h>
#include <populus/embed.h>
#include <populus/file.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(file, .init = enter_fresh_folder);

static void put(const char *path, const void *bytes, size_t size)
{
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file);
  cr_assert_eq(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

static void expect_content(const char *path, const void *bytes, size_t size)
{
  uint8_t *content;
  size_t read;
  expect_ok(pop_file_read(path, SIZE_MAX, &content, &read));
  cr_assert_eq(read, size, "%s has %zu bytes", path, read);
  cr_assert(memcmp(content, bytes, size) == 0, "%s", path);
  cr_assert_eq(content[size], 0, "a NUL behind the end");
  free(content);
}

/* The number of files in this folder: no partial and no temporary file may be left. */
static size_t count_files(void)
{
  size_t count = 0;
  DIR *dir = opendir(".");
  if (!dir) return SIZE_MAX;
  for (struct dirent *entry; (entry = readdir(dir));)
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(dir);
  return count;
}

static pop_error *write_file(const char *path, const void *bytes, size_t size)
{
  pop_output *output;
  POP_TRY(pop_output_open(path, &output));
  pop_error *error = pop_output_write(output, bytes, size);
  if (!error) return pop_output_commit(output);
  pop_output_abort(output);
  return error;
}

static pop_error *read_file(const char *path)
{
  uint8_t *bytes;
  size_t size;
  POP_TRY(pop_file_read(path, 1 << 20, &bytes, &size));
  free(bytes);
  return NULL;
}

Test(file, reads_what_is_there)
{
  put("empty", "", 0);
  expect_content("empty", "", 0);
  put("zeros", "\0a\0", 3);
  expect_content("zeros", "\0a\0", 3);
}

Test(file, reads_up_to_the_limit)
{
  uint8_t *bytes;
  size_t size;
  put("ten", "0123456789", 10);
  expect_ok(pop_file_read("ten", 10, &bytes, &size));
  free(bytes);
  expect_error(pop_file_read("ten", 9, &bytes, &size), POP_ERROR_FILE_LOAD, "larger than 9 bytes",
               "ten");
}

/* Files in /proc have a stated size of 0 bytes. */
Test(file, reads_past_the_stated_size)
{
  uint8_t *bytes;
  size_t size;
  expect_ok(pop_file_read("/proc/self/status", SIZE_MAX, &bytes, &size));
  cr_assert_not_null(strstr((char *)bytes, "VmPeak"));
  free(bytes);
  expect_error(pop_file_read("/proc/self/status", 10, &bytes, &size), POP_ERROR_FILE_LOAD,
               "larger than 10 bytes", "status");
}

Test(file, C04_G13_what_is_not_a_file_is_named)
{
  cr_assert_eq(mkdir("folder", 0777), 0);
  cr_assert_eq(mkfifo("fifo", 0666), 0);
  cr_assert_eq(symlink("loop", "loop"), 0);
  expect_error(read_file("folder"), POP_ERROR_FILE_LOAD, "'folder': it is a folder", "folder");
  expect_error(read_file("fifo"), POP_ERROR_FILE_LOAD, "'fifo': it is a pipe", "does not hang");
  expect_error(read_file("/dev/zero"), POP_ERROR_FILE_LOAD, "a character device", "/dev/zero");
  expect_error(read_file("loop"), POP_ERROR_FILE_LOAD, "symbolic links", "loop");
  expect_error(read_file("none"), POP_ERROR_FILE_LOAD, "No such file", "none");
  expect_error(read_file("none/none"), POP_ERROR_FILE_LOAD, "No such file", "none/none");
  expect_error(read_file(""), POP_ERROR_FILE_LOAD, "No such file", "C12");
}

Test(file, D03_no_descriptors_left)
{
  put("file", "x", 1);
  const struct rlimit limit = {0, 0};
  struct rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){limit.rlim_cur, before.rlim_max}), 0);
  pop_error *in = read_file("file"), *out = write_file("out", "x", 1);
  setrlimit(RLIMIT_NOFILE, &before);
  expect_error(in, POP_ERROR_SYSTEM, "Too many open files", "in");
  expect_error(out, POP_ERROR_SYSTEM, "Too many open files", "out");
  cr_assert_eq(count_files(), 1);
}

static size_t num_descriptors(void)
{
  size_t count = 0;
  for (int fd = 0; fd < 256; ++fd) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

/* Both when the calls succeed and when they fail. */
Test(file, D03_what_was_opened_is_closed)
{
  uint8_t *bytes;
  size_t size, before = num_descriptors();
  pop_output *output;
  put("file", "x", 1);
  cr_assert_eq(mkdir("folder", 0777), 0);
  cr_assert_eq(mkfifo("fifo", 0666), 0);
  expect_ok(read_file("file"));
  expect_ok(pop_file_read_own("file", SIZE_MAX, &bytes, &size));
  free(bytes);
  pop_error_free(pop_file_read("file", 0, &bytes, &size));
  cr_assert_eq(chmod("file", 0666), 0);
  expect_error(pop_file_read_own("file", SIZE_MAX, &bytes, &size), POP_ERROR_FILE_LOAD,
               "others may write it", "own");
  pop_error_free(read_file("folder"));
  pop_error_free(read_file("fifo"));
  expect_ok(write_file("out", "x", 1));
  expect_ok(pop_output_open("out", &output));
  pop_output_abort(output);
  expect_ok(write_file("/dev/null", "x", 1));
  pop_error_free(write_file("/dev/full", "x", 1));
  pop_error_free(write_file("folder", "x", 1));
  cr_assert_eq(num_descriptors(), before);
}

Test(file, kinds_of_files)
{
  cr_assert_str_eq(pop_file_kind("\x7f"
                                 "ELF\1",
                                 5),
                   "an ELF file");
  cr_assert_str_eq(pop_file_kind("\xff\xd8\xff\xe0", 4), "a JPEG image");
  cr_assert_str_eq(pop_file_kind("!<arch>\n", 8), "an ar archive");
  cr_assert_str_eq(pop_file_kind("", 0), "empty");
  cr_assert_str_eq(pop_file_kind("class X : Vertex {};\n", 21), "a text file");
  cr_assert_str_eq(pop_file_kind("\x01\x02\0\0", 4), "unknown binary data");
  cr_assert_str_eq(pop_file_kind("\x7f"
                                 "E",
                                 2),
                   "unknown binary data");
}

/* Pieces of sizes around that of the buffer, and their concatenation. */
Test(file, writes_pieces_of_all_sizes)
{
  static const size_t pieces[] = {1, 65535, 1, 65536, 65537, 0, 3, 200000, 7};
  static uint8_t bytes[500000];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 31 + i / 256);
  pop_output *output;
  expect_ok(pop_output_open("out", &output));
  size_t done = 0;
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    expect_ok(pop_output_write(output, bytes + done, pieces[i]));
    done += pieces[i];
    cr_assert_eq(pop_output_position(output), done);
  }
  expect_ok(pop_output_commit(output));
  expect_content("out", bytes, done);
  cr_assert_eq(count_files(), 1);
}

Test(file, skipped_bytes_are_zero)
{
  static const size_t skips[] = {1, 4096, 4097, 300000};
  static uint8_t expected[310000];
  for (size_t i = 0; i < sizeof skips / sizeof *skips; i++) {
    for (int tail = 0; tail < 2; tail++) {
      memset(expected, 0, sizeof expected);
      expected[0] = 'a';
      expected[1 + skips[i]] = tail ? 'z' : 0;
      pop_output *output;
      expect_ok(pop_output_open("out", &output));
      expect_ok(pop_output_write(output, "a", 1));
      expect_ok(pop_output_skip(output, skips[i]));
      if (tail) expect_ok(pop_output_write(output, "z", 1));
      cr_assert_eq(pop_output_position(output), 1 + skips[i] + (size_t)tail);
      expect_ok(pop_output_commit(output));
      expect_content("out", expected, 1 + skips[i] + (size_t)tail);
    }
  }
}

/* Bytes that are zero from `start` to `end`, written in two parts with a cut at `cut`. */
static void write_with_zeros(size_t start, size_t end, size_t cut)
{
  static uint8_t bytes[200000];
  memset(bytes, 0xa5, sizeof bytes);
  memset(bytes + start, 0, end - start);
  pop_output *output;
  expect_ok(pop_output_open("out", &output));
  expect_ok(pop_output_write(output, bytes, 7)); /* a sparse part need not start at a block */
  expect_ok(pop_output_write_sparse(output, bytes + 7, cut - 7));
  expect_ok(pop_output_write_sparse(output, bytes + cut, sizeof bytes - cut));
  cr_assert_eq(pop_output_position(output), sizeof bytes);
  expect_ok(pop_output_commit(output));
  expect_content("out", bytes, sizeof bytes);
}

Test(file, zeros_are_holes_and_read_as_zeros)
{
  static const size_t starts[] = {7, 8, 4096, 4097, 65536, 100001};
  static const size_t ends[] = {100001, 120000, 122880, 199999, 200000};
  static const size_t cuts[] = {8, 50000, 65536, 110000, 200000};
  for (size_t s = 0; s < sizeof starts / sizeof *starts; s++)
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
      for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++)
        write_with_zeros(starts[s], ends[e], cuts[c]);
  struct stat with_hole, without;
  write_with_zeros(20000, 180000, 200000);
  cr_assert_eq(stat("out", &with_hole), 0);
  write_with_zeros(20000, 20000, 200000);
  cr_assert_eq(stat("out", &without), 0);
  cr_assert_lt(with_hole.st_blocks, without.st_blocks / 2);
}

Test(file, zeros_are_written_where_no_hole_is_possible)
{
  static const uint8_t zeros[100000];
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  char path[32];
  snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
  pop_output *output;
  expect_ok(pop_output_open(path, &output));
  expect_ok(pop_output_write_sparse(output, zeros, 50000));
  expect_ok(pop_output_commit(output));
  close(ends[1]);
  uint8_t byte;
  size_t count = 0;
  while (read(ends[0], &byte, 1) == 1) count += byte == 0;
  cr_assert_eq(count, 50000);
}

Test(file, nothing_is_there_before_commit)
{
  put("old", "old", 3);
  pop_output *fresh, *replacing;
  expect_ok(pop_output_open("fresh", &fresh));
  expect_ok(pop_output_open("old", &replacing));
  expect_ok(pop_output_write(fresh, "x", 1));
  expect_ok(pop_output_write(replacing, "new", 3));
  cr_assert_neq(access("fresh", F_OK), 0);
  expect_content("old", "old", 3);
  expect_ok(pop_output_commit(fresh));
  pop_output_abort(replacing);
  expect_content("fresh", "x", 1);
  expect_content("old", "old", 3);
  cr_assert_eq(count_files(), 2);
  pop_output_abort(NULL);
}

static mode_t mode_of(const char *path)
{
  struct stat status;
  cr_assert_eq(lstat(path, &status), 0);
  return status.st_mode;
}

static void expect_cache_entry(pop_error *(*open)(const char *path, pop_output **output),
                               const char *path, mode_t mode)
{
  pop_output *output;
  struct stat status;
  expect_ok(open(path, &output));
  expect_ok(pop_output_write(output, "entry", 5));
  expect_ok(pop_output_commit(output));
  expect_content(path, "entry", 5);
  cr_assert_eq(lstat(path, &status), 0);
  cr_assert(S_ISREG(status.st_mode), "%s is a file of its own", path);
  cr_assert_eq(status.st_mode & 07777, mode, "%s has mode %o", path, status.st_mode);
}

Test(file, cache_entries_replace_what_has_the_name)
{
  umask(0);
  expect_ok(write_file("victim", "keep", 4));
  cr_assert_eq(symlink("victim", "link"), 0);
  cr_assert_eq(symlink("victim", "own"), 0);
  cr_assert_eq(symlink("nowhere", "dangling"), 0);
  expect_cache_entry(pop_cache_entry_open, "link", 0666);
  expect_cache_entry(pop_cache_entry_open_own, "own", 0600);
  expect_cache_entry(pop_cache_entry_open, "dangling", 0666);
  expect_content("victim", "keep", 4);
  expect_cache_entry(pop_cache_entry_open_own, "link", 0600);
  cr_assert_eq(mkfifo("pipe", 0666), 0); /* nobody reads it */
  expect_cache_entry(pop_cache_entry_open, "pipe", 0666);
  cr_assert_eq(count_files(), 5);
}

/* Between the name and its mode another program would find an entry that it must refuse. */
Test(file, own_cache_entries_have_their_mode_before_their_name)
{
  umask(0);
  pop_output *output;
  expect_ok(pop_cache_entry_open_own("own", &output));
  expect_ok(pop_output_write(output, "entry", 5));
  struct stat status;
  DIR *dir = opendir(".");
  cr_assert_not_null(dir);
  for (struct dirent *entry; (entry = readdir(dir));)
    if (strstr(entry->d_name, ".tmp")) {
      cr_assert_eq(stat(entry->d_name, &status), 0);
      cr_assert_eq(status.st_mode & 07777, 0600, "%s", entry->d_name);
    }
  closedir(dir);
  pop_output_abort(output);
}

Test(file, mode_is_the_umasks_or_that_of_the_replaced_file)
{
  umask(027);
  expect_ok(write_file("new", "x", 1));
  cr_assert_eq(mode_of("new") & 07777, 0640);
  cr_assert_eq(chmod("new", 0755), 0);
  expect_ok(write_file("new", "y", 1));
  cr_assert_eq(mode_of("new") & 07777, 0755);
}

Test(file, a_link_is_followed)
{
  cr_assert_eq(mkdir("folder", 0777), 0);
  put("folder/target", "old", 3);
  cr_assert_eq(symlink("folder/target", "link"), 0);
  expect_ok(write_file("link", "new", 3));
  cr_assert(S_ISLNK(mode_of("link")));
  expect_content("folder/target", "new", 3);
}

Test(file, long_names_work)
{
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  expect_ok(write_file(name, "x", 1));
  expect_content(name, "x", 1);
}

Test(file, C05_C12_places_that_cannot_be_written)
{
  put("file", "x", 1);
  expect_error(write_file("no/out", "x", 1), POP_ERROR_SYSTEM, "there is no folder 'no/'", "C05");
  expect_error(write_file("file/out", "x", 1), POP_ERROR_SYSTEM, "not a folder: 'file/'", "C05");
  expect_error(write_file(".", "x", 1), POP_ERROR_SYSTEM, "it is a folder", ".");
  expect_error(write_file("new/", "x", 1), POP_ERROR_SYSTEM, "a folder's name", "new/");
  expect_error(write_file("", "x", 1), POP_ERROR_SYSTEM, "the file name is empty", "C12");
  cr_assert_eq(count_files(), 1);
}

/* Runs `body` in a process that may end in any way. Returns true if `body` did. */
static bool in_child(bool (*body)(void))
{
  pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

static bool is_refused(pop_error *error, const char *reason)
{
  bool refused = error && pop_error_get_code(error) == POP_ERROR_SYSTEM &&
                 strstr(pop_error_message(error), reason);
  pop_error_free(error);
  return refused;
}

/* Root may write anywhere, so it becomes nobody. */
static bool read_only_places_are_refused(void)
{
  if (geteuid() == 0 && seteuid(65534) != 0) return false;
  return is_refused(write_file("folder/out", "x", 1), "Permission denied") &&
         is_refused(write_file("protected", "x", 1), "Permission denied");
}

Test(file, C05_read_only_folder_and_file)
{
  cr_assert_eq(mkdir("folder", 0555), 0);
  put("protected", "old", 3);
  cr_assert_eq(chmod("protected", 0444), 0);
  cr_assert_eq(chmod(".", 0777), 0);
  cr_assert(in_child(read_only_places_are_refused));
  expect_content("protected", "old", 3);
  cr_assert_eq(count_files(), 2);
}

Test(file, C07_full_device_is_an_error)
{
  expect_error(write_file("/dev/full", "x", 1), POP_ERROR_SYSTEM,
               "cannot write '/dev/full': No space left on device", "small");
  static uint8_t large[100000];
  expect_error(write_file("/dev/full", large, sizeof large), POP_ERROR_SYSTEM, "No space left",
               "large");
}

Test(file, devices_are_written_through)
{
  expect_ok(write_file("/dev/null", "x", 1));
  cr_assert(S_ISCHR(mode_of("/dev/null")));
}

/* `tool -o /dev/stdout > file` must not replace the file that others write to as well. */
Test(file, descriptors_are_written_through)
{
  int fd = open("shared", O_RDWR | O_CREAT, 0666);
  char path[32];
  snprintf(path, sizeof path, "/dev/fd/%d", fd);
  cr_assert_eq(write(fd, "before ", 7), 7);
  expect_ok(write_file(path, "output ", 7));
  cr_assert_eq(write(fd, "after", 5), 5);
  close(fd);
  expect_content("shared", "before output after", 19);
  expect_error(write_file(path, "x", 1), POP_ERROR_SYSTEM, "Bad file descriptor", "closed");
}

/* A file size limit acts like a disk that is full after n bytes, for all n around each write. */
static void fail_after(rlim_t limit, size_t size, size_t skip)
{
  static uint8_t bytes[200000];
  struct rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, before.rlim_max}), 0);
  pop_output *output;
  expect_ok(pop_output_open("out", &output));
  pop_error *error = NULL;
  for (size_t done = 0; done < size && !error; done += 10000)
    error = done % 20000 ? pop_output_write(output, bytes + done, 10000)
                         : pop_output_write_sparse(output, bytes + done, 10000);
  if (!error && skip) error = pop_output_skip(output, skip);
  if (error)
    pop_output_abort(output);
  else
    error = pop_output_commit(output);
  setrlimit(RLIMIT_FSIZE, &before);
  expect_error(error, POP_ERROR_SYSTEM, "cannot write 'out': File too large", "limit");
}

Test(file, D01_D06_a_failed_write_leaves_the_old_file)
{
  signal(SIGXFSZ, SIG_DFL); /* would end the process */
  put("out", "old", 3);
  for (rlim_t limit = 0; limit < 200000; limit += 7919) fail_after(limit, 200000, 0);
  fail_after(199999, 200000, 0);
  fail_after(50000, 10000, 100000); /* in the hole at the end */
  expect_content("out", "old", 3);
  cr_assert_eq(count_files(), 1);
  sigset_t pending;
  sigpending(&pending);
  cr_assert_not(sigismember(&pending, SIGXFSZ));
}

static void on_alarm(int number)
{
  (void)number;
}

typedef struct slow_reader {
  int fd;
  size_t size;
  uint8_t *bytes;
} slow_reader;

static void *read_slowly(void *argument)
{
  slow_reader *reader = argument;
  for (ssize_t n = 1; n > 0; reader->size += (size_t)n) {
    usleep(200);
    while ((n = read(reader->fd, reader->bytes + reader->size, 30000)) < 0) {
    }
  }
  return NULL;
}

Test(file, D02_interrupted_and_short_writes_lose_nothing)
{
  enum { SIZE = 1 << 20 };
  uint8_t *bytes = malloc(SIZE);
  for (size_t i = 0; i < SIZE; i++) bytes[i] = (uint8_t)(i * 13 + i / 251);
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  slow_reader reader = {.fd = ends[0], .bytes = malloc(SIZE + 30000)};
  pthread_t thread;
  sigset_t alarm_set;
  sigemptyset(&alarm_set);
  sigaddset(&alarm_set, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm_set, NULL); /* in the reader; only the writer is interrupted */
  pthread_create(&thread, NULL, read_slowly, &reader);
  pthread_sigmask(SIG_UNBLOCK, &alarm_set, NULL);
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 500}, {0, 500}}, NULL);

  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
  expect_ok(write_file(path, bytes, SIZE));
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  close(ends[1]);
  pthread_join(thread, NULL);
  cr_assert_eq(reader.size, SIZE);
  cr_assert(memcmp(reader.bytes, bytes, SIZE) == 0);
  free(reader.bytes);
  free(bytes);
}

/* The number in a temporary name counts from 0 in each process. */
static void temporary_name(char name[64], pid_t pid, int number)
{
  snprintf(name, 64, ".out.%ld-%d.tmp", (long)pid, number);
}

Test(file, H07_a_link_at_the_temporary_name_is_not_followed)
{
  char name[64];
  put("victim", "precious", 8);
  for (int i = 0; i < 5; i++) {
    temporary_name(name, getpid(), i);
    cr_assert_eq(symlink("victim", name), 0);
  }
  expect_ok(write_file("out", "x", 1));
  expect_content("victim", "precious", 8);
  expect_content("out", "x", 1);
  cr_assert(S_ISREG(mode_of("out")));
}

Test(file, A13_D07_temporaries_of_the_dead_are_swept)
{
  char dead[64], alive[64];
  temporary_name(dead, 4000001, 3);
  temporary_name(alive, 4000002, 0);
  put(dead, "partial", 7);
  put(alive, "partial", 7);
  put(".out.notes.tmp", "a user's", 8);
  int fd = open(alive, O_RDONLY);
  cr_assert_eq(flock(fd, LOCK_EX), 0);
  expect_ok(write_file("out", "x", 1));
  cr_assert_neq(access(dead, F_OK), 0, "the dead writer's is gone");
  cr_assert_eq(access(alive, F_OK), 0, "the living writer's is not");
  cr_assert_eq(access(".out.notes.tmp", F_OK), 0, "a user's file is not ours");
  close(fd);
}

/* Called once, instead of the library's next flock, and before it. */
static void (*before_lock)(void);

int flock(int fd, int operation)
{
  void (*before)(void) = before_lock;
  before_lock = NULL;
  if (before) before();
  return (int)syscall(SYS_flock, fd, operation);
}

/* Whether all files that got a name could be executed before. */
static bool named_executables = true;

int rename(const char *old, const char *new)
{
  struct stat status;
  if (stat(old, &status) != 0 || !(status.st_mode & S_IXUSR)) named_executables = false;
  return (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}

/* Whoever finds it can run it, a program that make started meanwhile, too. */
Test(file, a_program_is_executable_before_it_has_its_name)
{
  umask(027);
  put("archive", "!<arch>\n", 8);
  char *popexec = pop_xasprintf("%s/popexec", getenv("POPULUS_BIN"));
  expect_ok(pop_embed_in_program(popexec, "archive", "", "program"));
  cr_assert(named_executables);
  cr_assert_eq(mode_of("program") & 07777, 0750);
  free(popexec);
}

/* The writer of that temporary is done, and another one takes the name. */
static void rename_and_take_the_name(void)
{
  char name[64];
  temporary_name(name, 4000001, 3);
  cr_assert_eq(rename(name, "out"), 0);
  put(name, "another's", 9);
}

Test(file, H02_a_name_that_another_writer_takes_meanwhile_is_not_swept)
{
  char name[64];
  temporary_name(name, 4000001, 3);
  put(name, "complete", 8);
  before_lock = rename_and_take_the_name;
  pop_output *output;
  expect_ok(pop_output_open("out", &output));
  cr_assert(!before_lock, "nothing was swept");
  expect_content(name, "another's", 9);
  pop_output_abort(output);
  expect_content("out", "complete", 8);
}

/* The actions of a SIGINT handler, in a process that is about to end. */
static bool temporaries_are_removed(void)
{
  pop_output *outputs[3];
  static const char *const names[] = {"a", "b", "c"};
  for (int i = 0; i < 3; i++) {
    pop_error *error = pop_output_open(names[i], &outputs[i]);
    if (error) return false;
  }
  if (count_files() != 3) return false;
  pop_output_abort(outputs[1]);
  if (count_files() != 2) return false;
  pop_output_remove_all_temporaries();
  if (count_files() != 0) return false;
  pop_output_abort(outputs[2]);
  return is_refused(pop_output_commit(outputs[0]), "cannot write 'a'") &&
         !write_file("b", "x", 1) && count_files() == 1;
}

Test(file, C16_a_signal_handler_can_remove_temporaries)
{
  cr_assert(in_child(temporaries_are_removed));
}

/* Each writer writes its letter 100,000 times. The winner's content must be complete. */
static void write_letters(char letter)
{
  static char bytes[100000];
  memset(bytes, letter, sizeof bytes);
  for (int i = 0; i < 20; i++) {
    pop_error *error = write_file("out", bytes, sizeof bytes);
    if (error) fprintf(stderr, "%s\n", pop_error_message(error));
    if (error) _exit(1);
  }
  _exit(0);
}

Test(file, T01_many_writers_of_one_output_one_whole_winner)
{
  for (int i = 0; i < 8; i++)
    if (fork() == 0) write_letters((char)('a' + i));
  for (int status; wait(&status) > 0;) cr_assert_eq(status, 0);
  uint8_t *bytes;
  size_t size;
  expect_ok(pop_file_read("out", SIZE_MAX, &bytes, &size));
  cr_assert_eq(size, 100000);
  for (size_t i = 0; i < size; i++) cr_assert_eq(bytes[i], bytes[0]);
  free(bytes);
  cr_assert_eq(count_files(), 1);
}
