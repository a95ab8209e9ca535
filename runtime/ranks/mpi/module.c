/* The module that contains MPI: implements module.h. */
#include "ranks/module.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct ranks_request {
  MPI_Request of;
};

static MPI_Comm world = MPI_COMM_NULL;
static bool ends_mpi;
static void (*leave_before_end)(void);

static bool good(int result, const char *call, char why[RANKS_WHY])
{
  char text[MPI_MAX_ERROR_STRING] = "?";
  int length = 0;
  if (result == MPI_SUCCESS) return true;
  MPI_Error_string(result, text, &length);
  snprintf(why, RANKS_WHY, "%s: %.400s", call, text);
  return false;
}

static int mpi_ends(MPI_Comm of, int key, void *value, void *extra)
{
  (void)of;
  (void)key;
  (void)value;
  (void)extra;
  leave_before_end();
  return MPI_SUCCESS;
}

/* MPI_Finalize begins with the attributes of MPI_COMM_SELF. */
static bool await_end(void (*leave)(void), char why[RANKS_WHY])
{
  int key = MPI_KEYVAL_INVALID;
  leave_before_end = leave;
  return good(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_ends, &key, NULL),
              "MPI_Comm_create_keyval", why) &&
         good(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL), "MPI_Comm_set_attr", why);
}

static bool join(void (*leave)(void), char why[RANKS_WHY])
{
  int there = 0, provided = 0;
  if (!good(MPI_Initialized(&there), "MPI_Initialized", why)) return false;
  if (there) return await_end(leave, why);
  ends_mpi = true;
  return good(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread",
              why);
}

static bool open_world(uint32_t *own, uint32_t *count, void (*leave)(void), char why[RANKS_WHY])
{
  int rank = 0, size = 0;
  if (!join(leave, why)) return false;
  if (!good(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup", why)) return false;
  if (!good(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", why))
    return false;
  if (!good(MPI_Comm_rank(world, &rank), "MPI_Comm_rank", why)) return false;
  if (!good(MPI_Comm_size(world, &size), "MPI_Comm_size", why)) return false;
  *own = (uint32_t)rank;
  *count = (uint32_t)size;
  return true;
}

static ranks_request *begun(ranks_request *request, int result, const char *call,
                            char why[RANKS_WHY])
{
  if (good(result, call, why)) return request;
  free(request);
  return NULL;
}

static ranks_request *new_request(char why[RANKS_WHY])
{
  ranks_request *made = malloc(sizeof *made);
  if (!made) snprintf(why, RANKS_WHY, "no memory for a message");
  return made;
}

/* An address and what lies there, in MPI's terms. */
typedef struct place {
  void *base;
  int count;
  MPI_Datatype type; /* freed here unless it is MPI_BYTE */
} place;

static bool describe(const ranks_piece *pieces, size_t count, place *to, char why[RANKS_WHY])
{
  *to = (place){pieces[0].data, (int)pieces[0].bytes, MPI_BYTE};
  if (count == 1) return true;
  int *lengths = malloc(count * sizeof *lengths);
  MPI_Aint *addresses = malloc(count * sizeof *addresses);
  bool made = lengths && addresses;
  if (!made) snprintf(why, RANKS_WHY, "no memory for a message of %zu pieces", count);
  for (size_t i = 0; i < count && made; i++) {
    lengths[i] = (int)pieces[i].bytes;
    made = good(MPI_Get_address(pieces[i].data, &addresses[i]), "MPI_Get_address", why);
  }
  *to = (place){MPI_BOTTOM, 1, MPI_DATATYPE_NULL};
  made = made &&
         good(MPI_Type_create_hindexed((int)count, lengths, addresses, MPI_BYTE, &to->type),
              "MPI_Type_create_hindexed", why) &&
         good(MPI_Type_commit(&to->type), "MPI_Type_commit", why);
  free(lengths);
  free(addresses);
  return made;
}

/* A message that has begun keeps its type, so it can be freed here. */
static void forget(place *p)
{
  if (p->type != MPI_BYTE && p->type != MPI_DATATYPE_NULL) MPI_Type_free(&p->type);
}

static ranks_request *send_pieces(uint32_t to, int tag, const ranks_piece *pieces, size_t count,
                                  char why[RANKS_WHY])
{
  place from;
  ranks_request *made = new_request(why);
  if (!made || !describe(pieces, count, &from, why)) {
    free(made);
    return NULL;
  }
  /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): the caller tests it until it is done */
  int result = MPI_Isend(from.base, from.count, from.type, (int)to, tag, world, &made->of);
  forget(&from);
  /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker) */
  return begun(made, result, "MPI_Isend", why);
}

static ranks_request *receive_pieces(uint32_t from, int tag, const ranks_piece *pieces,
                                     size_t count, char why[RANKS_WHY])
{
  place to;
  ranks_request *made = new_request(why);
  if (!made || !describe(pieces, count, &to, why)) {
    free(made);
    return NULL;
  }
  /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): likewise */
  int result = MPI_Irecv(to.base, to.count, to.type, (int)from, tag, world, &made->of);
  forget(&to);
  /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker) */
  return begun(made, result, "MPI_Irecv", why);
}

static int test_request(ranks_request *request, char why[RANKS_WHY])
{
  int done = 0;
  bool fine = good(MPI_Test(&request->of, &done, MPI_STATUS_IGNORE), "MPI_Test", why);
  if (fine && !done) return 0;
  free(request);
  return fine ? 1 : -1;
}

static bool peek(int tag, uint32_t *from)
{
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, world, &there, &status) != MPI_SUCCESS || !there)
    return false;
  *from = (uint32_t)status.MPI_SOURCE;
  return true;
}

static void close_world(void)
{
  int ended = 0;
  MPI_Comm_free(&world);
  MPI_Finalized(&ended);
  if (ends_mpi && !ended) MPI_Finalize();
}

extern const ranks_module ranks_mpi_module;
const ranks_module ranks_mpi_module = {.contract = RANKS_CONTRACT,
                                       .open = open_world,
                                       .send = send_pieces,
                                       .receive = receive_pieces,
                                       .test = test_request,
                                       .peek = peek,
                                       .close = close_world};
