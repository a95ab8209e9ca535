/* The guard around native code (guard.h): the handler of SIGSEGV, and the way back from it. */
#include "guard.h"

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

typedef struct guarded_call {
  sigjmp_buf recovery;
  const machine *m;
  const context *running; /* the context that native code runs for; NULL: it does not run */
  context faulted;        /* a copy: the original is in a stack frame that the jump drops */
  struct guarded_call *outer;
} guarded_call;

/* The handler reads it, so its address must be known without a call that could allocate. */
static _Thread_local guarded_call *innermost __attribute__((tls_model("initial-exec")));

static struct sigaction before;

/* Does what would happen without this handler. */
static void forward_signal(int signal, siginfo_t *info, void *context)
{
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(signal, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(signal);
  else
    sigaction(signal, &before, NULL); /* the instruction faults again, and ends the process */
}

static void handle(int signal, siginfo_t *info, void *context)
{
  guarded_call *call = innermost;
  if (call && call->running && memory_is_reserved(call->m, info->si_addr)) {
    call->faulted = *call->running;
    siglongjmp(call->recovery, 1);
  }
  forward_signal(signal, info, context);
}

static void install(void)
{
  /* SA_NODEFER: a jump out of the handler must not leave the signal blocked. */
  struct sigaction ours = {.sa_sigaction = handle,
                           .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigemptyset(&ours.sa_mask);
  sigaction(SIGSEGV, &ours, &before);
}

void guard_install(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}

void guard_set_running(const context *c)
{
  if (innermost) innermost->running = c;
}

/* The exact place is not known: native code does not keep the tile's program counter. */
static void note_fault(machine *m, tile *t, const context *c)
{
  machine_fault *fault = &t->supervisor.fault;
  *fault = superstep_supervisor_fault(m, t, MACHINE_FAULT_INTERNAL, c->pc);
  fault->context = c->number;
  fault->vertex_state = c->vertex_state;
  fault->vertex_entry = c->vertex_entry;
  fault->run_argument = c->run_argument;
  fault->cycle = c->clock;
  snprintf(fault->detail, sizeof fault->detail,
           "native code has left the tile's memory somewhere behind this pc");
  m->at.waiting[t->number] = STOP_FAULT;
}

uint64_t guard_call(machine *m, tile *t, uint64_t (*run)(void *, uint32_t), void *argument,
                    uint32_t number)
{
  guarded_call call;
  call.m = m;
  call.running = NULL;
  call.outer = innermost;
  if (sigsetjmp(call.recovery, 0)) {
    innermost = call.outer;
    note_fault(m, t, &call.faulted);
    return 0;
  }
  innermost = &call;
  uint64_t done = run(argument, number);
  assert(innermost == &call &&
         !call.running); /* native code and all that it called have returned */
  innermost = call.outer;
  return done;
}
