// The host's side of a stream.
#ifndef POPLAR_STREAMCALLBACK_HPP
#define POPLAR_STREAMCALLBACK_HPP

#include <memory>
#include <poplar/detail/Shared.hpp>
#include <type_traits>
#include <utility>

namespace poplar
{

class StreamCallback
{
public:
  enum class Result { Success, NotAvailable };

  virtual ~StreamCallback() = default;
  // Host to device: fills the buffer before the device asks, if that is possible now. Called as
  // the engine options exchange.enablePrefetch and exchange.streamBufferOverlap say.
  virtual Result prefetch(void *buffer) = 0;
  // Host to device: fills the buffer while the device waits. Device to host: the buffer has the
  // received data.
  virtual void fetch(void *buffer) = 0;
  // Host to device: the device has taken the data.
  virtual void complete() = 0;
  // Data that were prefetched and not taken will not be used.
  virtual void invalidatePrefetched() {}
};

using StreamCallbackBase = StreamCallback;

// A callback that has fetch only.
class LegacyStreamCallback : public StreamCallback
{
public:
  Result prefetch(void *) final { return Result::NotAvailable; }
  void complete() final {}
};

// The argument of Engine::connectStreamToCallback: a std::unique_ptr of a StreamCallback, or a
// function that takes the buffer.
class StreamCallbackHandle
{
  detail::Shared<StreamCallback> callback;

  template <typename F> class Calling final : public LegacyStreamCallback
  {
    F function;

  public:
    explicit Calling(F f) : function(std::move(f)) {}
    void fetch(void *buffer) override { function(buffer); }
  };

public:
  template <typename T,
            typename = typename std::enable_if<std::is_base_of<StreamCallback, T>::value>::type>
  StreamCallbackHandle(std::unique_ptr<T> c) : callback(c.release())
  {
  }
  template <typename F, typename = decltype(std::declval<F &>()(static_cast<void *>(nullptr))),
            typename = typename std::enable_if<
                !std::is_same<typename std::decay<F>::type, StreamCallbackHandle>::value>::type>
  StreamCallbackHandle(F &&f)
      : callback(new Calling<typename std::decay<F>::type>(std::forward<F>(f)))
  {
  }
  StreamCallbackHandle(StreamCallbackHandle &&) = default;
  StreamCallbackHandle &operator=(StreamCallbackHandle &&) = default;

  detail::Shared<StreamCallback> take() { return std::move(callback); }
};

} // namespace poplar

#endif
