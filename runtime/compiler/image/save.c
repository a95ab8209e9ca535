/* Saving: makes and writes the images of all tiles in parallel, in one pass; then the metadata.
 *
 *   thread 0   | make batch 0 | write | make batch 2 |      | write | …
 *   thread 1   | make batch 1 |       | write | make batch 3 |       | write …
 *
 * A batch is a few consecutive tiles. A thread makes it in its own memory, as members of the
 * archive. The batches are written in order: each thread waits for the turn of its batch. So the
 * bytes do not depend on the number of threads, the output may be a pipe, and memory use is one
 * batch for each thread. (Writing to the right places of the file without waiting gains nothing:
 * the kernel lets one thread at a time write to a file.)
 *
 * An error, too, is kept when its turn comes: of several errors that of the lowest tile is
 * reported. After an error no batch gets a turn, and all threads end.
 */
#include "base/thread_pool.h"
#include "compiler/link/debug_files.h"

#include "executable/executable.h"
#include <populus/out_of_memory.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A batch is large enough for an efficient write, and small enough for a cache. */
enum { TILES_PER_BATCH = 8, MAX_THREADS = 64 };

typedef struct saver {
  const compilation *c;
  const debug_files *debug;
  pop_archive_writer *writer;
  uint32_t num_tiles, num_batches;
  uint64_t *digests; /* of the images, by tile: written by the thread that makes the image */

  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t turn_passed;
  uint32_t next_batch; /* not taken by any thread yet */
  uint32_t turn;       /* the batch to be written next */
  pop_error *error;
} saver;

/* Takes the next batch; false if there is none. */
static bool take_batch(saver *s, uint32_t *batch)
{
  pthread_mutex_lock(&s->lock);
  bool more = !s->error && s->next_batch < s->num_batches;
  if (more) *batch = s->next_batch++;
  pthread_mutex_unlock(&s->lock);
  return more;
}

/* Waits for the batch's turn; false if it will not come. */
static bool wait_for_turn(saver *s, uint32_t batch)
{
  pthread_mutex_lock(&s->lock);
  while (!s->error && s->turn != batch) pthread_cond_wait(&s->turn_passed, &s->lock);
  bool come = !s->error;
  pthread_mutex_unlock(&s->lock);
  return come;
}

/* Passes the turn to the next batch. Takes ownership of `error`. */
static void pass_turn(saver *s, pop_error *error)
{
  pthread_mutex_lock(&s->lock);
  s->turn++;
  s->error = error;
  pthread_cond_broadcast(&s->turn_passed);
  pthread_mutex_unlock(&s->lock);
}

static pop_error *make_member(const saver *s, uint32_t tile, pop_bytes *members)
{
  pop_arena *arena = pop_arena_new();
  pop_image image;
  char name[16];
  size_t start = 0;
  pop_archive_tile_name(tile, name);
  pop_error *error = compilation_tile_image(s->c, tile, arena, &image);
  if (!error) debug_files_link(s->debug, tile, &image);
  if (!error) error = pop_archive_begin_member(members, &start);
  if (!error) error = pop_image_write(&image, members);
  if (!error) error = pop_archive_end_member(members, start, name);
  if (!error) s->digests[tile] = pop_image_digest(&image);
  pop_arena_free(arena);
  return error;
}

typedef struct batch_work {
  const saver *s;
  uint32_t batch;
  pop_bytes *members;
} batch_work;

static pop_error *make_batch(void *context)
{
  const batch_work *work = context;
  const saver *s = work->s;
  pop_bytes *members = work->members;
  uint32_t first = work->batch * TILES_PER_BATCH;
  members->size = 0;
  for (uint32_t i = 0; i < TILES_PER_BATCH && first + i < s->num_tiles; i++)
    POP_TRY(make_member(s, first + i, members));
  return NULL;
}

static void *save_batches(void *context)
{
  saver *s = context;
  pop_bytes members = {0};
  uint32_t batch = 0;
  pop_memory_hold(); /* the other threads use variables of this one */
  while (take_batch(s, &batch)) {
    batch_work work = {s, batch, &members};
    pop_error *error = pop_with_memory("making tile images", make_batch, &work);
    if (!wait_for_turn(s, batch)) {
      pop_error_free(error);
      break;
    }
    if (!error) error = pop_archive_writer_add_members(s->writer, &members);
    pass_turn(s, error);
  }
  pop_memory_release();
  pop_bytes_free(&members);
  return NULL;
}

/* `wanted`, or as many as there are cores for this process. */
static uint32_t count_threads(uint32_t wanted, uint32_t num_batches)
{
  if (!wanted) wanted = thread_pool_processors();
  if (wanted > MAX_THREADS) wanted = MAX_THREADS;
  return wanted < num_batches ? wanted : num_batches;
}

/* The calling thread is one of the threads. If the system has too few threads, the others do all
 * the work. */
static pop_error *save_tiles(const compilation *c, const debug_files *debug,
                             pop_archive_writer *writer, uint64_t *digests)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  saver s = {.c = c,
             .debug = debug,
             .writer = writer,
             .num_tiles = num_tiles,
             .digests = digests,
             .num_batches = (num_tiles + TILES_PER_BATCH - 1) / TILES_PER_BATCH,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .turn_passed = PTHREAD_COND_INITIALIZER};
  pthread_t threads[MAX_THREADS];
  uint32_t num_threads = count_threads(c->options.num_threads, s.num_batches), started = 1;
  while (started < num_threads && pthread_create(&threads[started], NULL, save_batches, &s) == 0)
    started++;
  save_batches(&s);
  for (uint32_t i = 1; i < started; i++) pthread_join(threads[i], NULL);
  pthread_cond_destroy(&s.turn_passed);
  pthread_mutex_destroy(&s.lock);
  return s.error;
}

/* The debug files follow the images, which name them. */
static pop_error *save_debug_files(const debug_files *debug, pop_archive_writer *writer)
{
  pop_bytes file = {0};
  pop_error *error = NULL;
  for (uint32_t i = 0; i < debug_files_count(debug) && !error; i++) {
    char name[24];
    debug_files_name(i, name);
    file.size = 0;
    error = debug_files_make(debug, i, &file);
    if (!error) error = pop_archive_writer_add(writer, name, file.data, file.size);
  }
  pop_bytes_free(&file);
  return error;
}

static pop_error *save_profile(const compilation *c, pop_archive_writer *writer)
{
  pop_bytes file = {0};
  executable_profile *profile = executable_profile_new();
  pop_error *error = compilation_describe_profile(c, profile);
  if (!error) error = executable_write_profile(profile, &file);
  if (!error)
    error = pop_archive_writer_add(writer, EXECUTABLE_PROFILE_MEMBER, file.data, file.size);
  executable_profile_free(profile);
  pop_bytes_free(&file);
  return error;
}

pop_error *compilation_save_members(const compilation *c, const pop_executable *executable,
                                    pop_archive_writer *writer)
{
  debug_files *debug;
  POP_TRY(debug_files_new(c, &debug));
  uint64_t *digests = pop_xcalloc(pop_target_num_tiles(&c->target), sizeof *digests);
  pop_error *error = save_tiles(c, debug, writer, digests);
  if (!error) error = executable_save_metadata(executable, digests, writer);
  if (!error) error = save_profile(c, writer);
  if (!error) error = save_debug_files(debug, writer);
  free(digests);
  debug_files_free(debug);
  return error;
}
