/* All of Populus for a host program: #include <populus/populus.h>, link with -lpopulus.
 *
 * NULL, and objects that were freed, may be given to any function that takes a graph, engine,
 * executable, device, device manager, model, event trace, list of events or solver. Unless a
 * comment says that NULL is fine, that is an error, INVALID_ARGUMENT. So is NULL for an address
 * that a result goes to, or for a list that is not empty. A function that returns no error writes
 * it to the log instead, does nothing, and returns 0, false or NULL, or what its comment says for
 * an object that is not there. Calls on graphs keep the error: populus/graph.h. */
#ifndef POPULUS_POPULUS_H
#define POPULUS_POPULUS_H

#include <populus/collectives.h>
#include <populus/debug_stream.h>
#include <populus/device.h>
#include <populus/engine.h>
#include <populus/error.h>
#include <populus/event_trace.h>
#include <populus/executable.h>
#include <populus/graph.h>
#include <populus/host_function.h>
#include <populus/introspection.h>
#include <populus/model.h>
#include <populus/poplin.h>
#include <populus/popnn.h>
#include <populus/popnn_norm.h>
#include <populus/popnn_pooling.h>
#include <populus/popops.h>
#include <populus/popops_slice.h>
#include <populus/popops_sort.h>
#include <populus/poprand.h>
#include <populus/profile.h>
#include <populus/program.h>
#include <populus/registers.h>
#include <populus/remote_buffer.h>
#include <populus/report_page.h>
#include <populus/solver.h>
#include <populus/stream.h>
#include <populus/target.h>
#include <populus/tensor.h>
#include <populus/types.h>

#define POPULUS_VERSION "0.1.0"

#endif
