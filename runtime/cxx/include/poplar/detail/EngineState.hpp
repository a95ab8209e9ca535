// Callbacks of an engine of the C interface, and what must live as long as the engine.
#ifndef POPLAR_DETAIL_ENGINESTATE_HPP
#define POPLAR_DETAIL_ENGINESTATE_HPP

#include <atomic>
#include <exception>
#include <poplar/Executable.hpp>
#include <poplar/HostFunctionCallback.hpp>
#include <poplar/StreamCallback.hpp>
#include <poplar/detail/CStream.hpp>
#include <populus/engine.h>
#include <string>

namespace poplar
{
namespace detail
{

// The last exception of the callbacks, which may run on several threads at once.
class Thrown
{
  std::exception_ptr last;
  std::atomic<bool> there{false};
  std::atomic_flag busy = ATOMIC_FLAG_INIT; // while a thread swaps `last`

  // What it was before is freed by the caller, and not while others wait.
  std::exception_ptr swap(std::exception_ptr other)
  {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
    there = other != nullptr;
    last.swap(other);
    busy.clear(std::memory_order_release);
    return other;
  }

public:
  void keep() { swap(std::current_exception()); }
  std::exception_ptr take() { return there ? swap(nullptr) : nullptr; }
  explicit operator bool() const { return there; }
};

// A callback for a handle, of one replica or of all. Its exception is kept for the call of the
// engine that finds it (Engine::finishRun).
class Connected
{
  friend class ConnectedList;
  const std::string handle;
  const unsigned replica;
  Connected *next = nullptr;

protected:
  Thrown &thrown;

  Connected(const std::string &h, unsigned r, Thrown &t) : handle(h), replica(r), thrown(t) {}

public:
  Connected(const Connected &) = delete;
  Connected &operator=(const Connected &) = delete;
  virtual ~Connected() = default;
};

class ConnectedList
{
  Connected *first = nullptr;

public:
  ConnectedList() = default;
  ConnectedList(const ConnectedList &) = delete;
  ConnectedList &operator=(const ConnectedList &) = delete;
  ~ConnectedList()
  {
    while (Connected *connected = first) {
      first = connected->next;
      delete connected;
    }
  }
  // Takes over a callback that the engine calls from now on, and frees the one that it replaces. If
  // connecting it gave an error, the callback is freed and the error thrown.
  void add(Connected *connected, pop_error *error)
  {
    if (error) {
      delete connected;
      return check(error);
    }
    Connected **at = &first;
    while (*at && ((*at)->handle != connected->handle || (*at)->replica != connected->replica))
      at = &(*at)->next;
    Connected *old = *at;
    connected->next = old ? old->next : nullptr;
    *at = connected;
    delete old;
  }
};

class ConnectedCallback final : public Connected
{
  Shared<StreamCallback> callback;

  template <typename F> auto guard(F f) -> decltype(f())
  {
    try {
      return f();
    } catch (...) {
      thrown.keep();
    }
    return decltype(f())();
  }
  static ConnectedCallback *self(void *context)
  {
    return static_cast<ConnectedCallback *>(context);
  }

public:
  ConnectedCallback(const std::string &h, unsigned r, Thrown &t, Shared<StreamCallback> c)
      : Connected(h, r, t), callback(std::move(c))
  {
  }

  pop_stream_callback c()
  {
    pop_stream_callback result = {};
    result.context = this;
    result.fetch = [](void *context, void *data) {
      self(context)->guard([&] { self(context)->callback->fetch(data); });
      return self(context)->thrown ? 1 : 0;
    };
    result.prefetch = [](void *context, void *data) {
      return self(context)->guard([&] {
        return self(context)->callback->prefetch(data) == StreamCallback::Result::Success;
      });
    };
    result.invalidate_prefetched = [](void *context) {
      self(context)->guard([&] { self(context)->callback->invalidatePrefetched(); });
    };
    result.complete = [](void *context) {
      self(context)->guard([&] { self(context)->callback->complete(); });
    };
    return result;
  }
};

// The callback of a host function.
class ConnectedFunction final : public Connected
{
  Shared<HostCallback> function;
  std::size_t numInputs, numOutputs;

  static int call(void *context, const void *const *inputs, void *const *outputs)
  {
    ConnectedFunction &self = *static_cast<ConnectedFunction *>(context);
    try {
      (*self.function.get())(ArrayRef<const void *>(inputs, self.numInputs),
                             ArrayRef<void *>(outputs, self.numOutputs));
      return 0;
    } catch (...) {
      self.thrown.keep();
    }
    return 1;
  }

public:
  ConnectedFunction(const std::string &h, unsigned r, Thrown &t, Shared<HostCallback> f,
                    std::size_t inputs, std::size_t outputs)
      : Connected(h, r, t), function(std::move(f)), numInputs(inputs), numOutputs(outputs)
  {
  }
  pop_host_function_callback c() { return {call, this}; }
};

struct EngineState {
  Shared<ExecutableState> executable;
  OptionFlags options;
  Thrown thrown; // by a callback
  ConnectedList callbacks, functions;
  CStream *print = nullptr;                     // Engine::setPrintStream
  Shared<pop_device, pop_device_free> prepared; // Engine::prepare
  pop_engine *engine = nullptr;

  EngineState() = default;
  EngineState(const EngineState &) = delete;
  EngineState &operator=(const EngineState &) = delete;
  ~EngineState()
  {
    pop_engine_free(engine); // calls callbacks
    delete print;
  }
};

} // namespace detail
} // namespace poplar

#endif
