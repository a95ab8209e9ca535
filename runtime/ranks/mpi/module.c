/* The module that has MPI: module.h in its words. */
#include "ranks/module.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct ranks_request {
  MPI_Request of;
};

static MPI_Comm world = MPI_COMM_NULL;
static bool ends_mpi;

static bool good(int result, const char *call, char why[RANKS_WHY])
{
  char text[MPI_MAX_ERROR_STRING] = "?";
  int length = 0;
  if (result == MPI_SUCCESS) return true;
  MPI_Error_string(result, text, &length);
  snprintf(why, RANKS_WHY, "%s: %.400s", call, text);
  return false;
}

static bool join(char why[RANKS_WHY])
{
  int there = 0, provided = 0;
  if (!good(MPI_Initialized(&there), "MPI_Initialized", why)) return false;
  if (there) return true;
  ends_mpi = true;
  return good(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread",
              why);
}

static bool open_world(uint32_t *own, uint32_t *count, char why[RANKS_WHY])
{
  int rank = 0, size = 0;
  if (!join(why)) return false;
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

static ranks_request *send_bytes(uint32_t to, int tag, const void *bytes, size_t count,
                                 char why[RANKS_WHY])
{
  ranks_request *made = new_request(why);
  if (!made) return NULL;
  /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): the caller tests it until it is done */
  int result = MPI_Isend(bytes, (int)count, MPI_BYTE, (int)to, tag, world, &made->of);
  /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker) */
  return begun(made, result, "MPI_Isend", why);
}

static ranks_request *receive_bytes(uint32_t from, int tag, void *bytes, size_t count,
                                    char why[RANKS_WHY])
{
  ranks_request *made = new_request(why);
  if (!made) return NULL;
  /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): likewise */
  int result = MPI_Irecv(bytes, (int)count, MPI_BYTE, (int)from, tag, world, &made->of);
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
                                       .send = send_bytes,
                                       .receive = receive_bytes,
                                       .test = test_request,
                                       .close = close_world};
