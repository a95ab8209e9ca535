// The callback of a host function (populus/host_function.h). It is called with the elements of
// inputs and outputs, in the device's format, while the run waits.
#ifndef POPLAR_HOSTFUNCTIONCALLBACK_HPP
#define POPLAR_HOSTFUNCTIONCALLBACK_HPP

#include <functional>
#include <memory>
#include <poplar/ArrayRef.hpp>
#include <poplar/detail/Shared.hpp>
#include <type_traits>
#include <utility>

namespace poplar
{

using HostFunctionCallback = std::function<void(ArrayRef<const void *>, ArrayRef<void *>)>;

class HostCallback
{
public:
  virtual ~HostCallback() = default;
  virtual void operator()(ArrayRef<const void *> inputs, ArrayRef<void *> outputs) = 0;
};

// The argument of Engine::connectHostFunction: a std::unique_ptr of a HostCallback, or a
// function that takes the arrays.
class HostCallbackHandle
{
  detail::Shared<HostCallback> callback;

  template <typename F> class Calling final : public HostCallback
  {
    F function;

  public:
    explicit Calling(F f) : function(std::move(f)) {}
    void operator()(ArrayRef<const void *> inputs, ArrayRef<void *> outputs) override
    {
      function(inputs, outputs);
    }
  };

public:
  template <typename T,
            typename = typename std::enable_if<std::is_base_of<HostCallback, T>::value>::type>
  HostCallbackHandle(std::unique_ptr<T> c) : callback(c.release())
  {
  }
  // An empty function is refused by Engine::connectHostFunction.
  HostCallbackHandle(HostFunctionCallback f)
  {
    if (f) callback.reset(new Calling<HostFunctionCallback>(std::move(f)));
  }
  template <typename F,
            typename = decltype(std::declval<F &>()(std::declval<ArrayRef<const void *>>(),
                                                    std::declval<ArrayRef<void *>>())),
            typename = typename std::enable_if<
                !std::is_same<typename std::decay<F>::type, HostCallbackHandle>::value>::type>
  HostCallbackHandle(F &&f)
      : callback(new Calling<typename std::decay<F>::type>(std::forward<F>(f)))
  {
  }
  HostCallbackHandle(HostCallbackHandle &&) = default;
  HostCallbackHandle &operator=(HostCallbackHandle &&) = default;

  detail::Shared<HostCallback> take() { return std::move(callback); }
};

} // namespace poplar

#endif
