// Debug information of library functions' calls: poputil::PoplibsOpDebugInfo info(debugContext,
// DI_ARGS(a, b)), and {info, "step"} names what they add. Names are kept (poplar::DebugInfo);
// arguments and results are not.
#ifndef POPUTIL_DEBUGINFO_HPP
#define POPUTIL_DEBUGINFO_HPP

#include <poplar/DebugContext.hpp>
#include <poplar/ProfileValue.hpp>
#include <poplar/Tensor.hpp>
#include <string>
#include <vector>

namespace poputil
{

// No value: see above.
template <typename T> poplar::ProfileValue toProfileValue(const T & /*value*/)
{
  return poplar::ProfileValue();
}

struct ArgType {
  std::string n;
  poplar::ProfileValue pv;

  ArgType(const std::string &name, const poplar::ProfileValue &value) : n(name), pv(value) {}
};

class OpDebugInfo : public poplar::DebugInfo
{
public:
  OpDebugInfo(const poplar::DebugContext &debugContext, const std::string &api)
      : poplar::DebugInfo(debugContext, "poplibs")
  {
    setValue("api", api);
  }
  void add(const std::string & /*name*/, const std::vector<ArgType> & /*arguments*/) {}
  void add(const std::string &name, const poplar::ProfileValue &value) { setValue(name, value); }
};

class PoplibsOpDebugInfo : public OpDebugInfo
{
public:
  // `api` is the name of the calling function.
  explicit PoplibsOpDebugInfo(const poplar::DebugContext &debugContext,
                              const std::vector<ArgType> & /*arguments*/ = {},
                              const std::string &api = __builtin_FUNCTION())
      : OpDebugInfo(debugContext, api)
  {
  }
  void addOutputs(const std::vector<ArgType> & /*outputs*/) {}
  void addOutput(const poplar::Tensor & /*output*/) {}
};

namespace detail
{
template <typename... Values> std::vector<ArgType> debugArguments(const Values &.../*values*/)
{
  return {};
}
} // namespace detail

} // namespace poputil

#define DI_ARGS(...) poputil::detail::debugArguments(__VA_ARGS__)

#endif
