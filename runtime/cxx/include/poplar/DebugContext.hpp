// Names of things, for messages and reports: a path of names joined by '/'.
#ifndef POPLAR_DEBUGCONTEXT_HPP
#define POPLAR_DEBUGCONTEXT_HPP

#include <cstdint>
#include <map>
#include <ostream>
#include <poplar/ProfileValue.hpp>
#include <poplar/StringRef.hpp>
#include <populus/debug_stream.h>
#include <string>
#include <type_traits>
#include <utility>

namespace poplar
{

// Where in the program something was made. It is known only if the program calls Current(), and
// Populus does not use it.
class SourceLocation
{
  std::string function, file;
  unsigned line = 0;

public:
  SourceLocation() = default;
  SourceLocation(StringRef functionName, StringRef fileName, unsigned lineNumber)
      : function(functionName), file(fileName), line(lineNumber)
  {
  }
  bool isValid() const { return line != 0; }
  const std::string &getFunctionName() const { return function; }
  const std::string &getFileName() const { return file; }
  unsigned getLineNumber() const { return line; }
  static SourceLocation Current(const char *functionName = __builtin_FUNCTION(),
                                const char *fileName = __builtin_FILE(),
                                unsigned lineNumber = __builtin_LINE())
  {
    return SourceLocation(functionName, fileName, lineNumber);
  }
};

using DebugId = std::uint64_t;

class DebugNameAndId
{
  std::string path;
  DebugId id_ = {};

public:
  DebugNameAndId(const std::string &name = "", DebugId id = {}, const std::string &parentPath = "")
      : path(parentPath.empty() || name.empty() ? parentPath + name : parentPath + "/" + name),
        id_(id)
  {
  }
  DebugNameAndId(const char *name) : path(name ? name : "") {}
  DebugNameAndId(StringRef name) : path(name) {}
  DebugNameAndId(const DebugNameAndId &parent, StringRef name)
      : DebugNameAndId(name.cloneAsString(), parent.id_, parent.path)
  {
  }
  const std::string &getPathName() const { return path; }
  // The number of the DebugInfo that it comes from; 0: none.
  DebugId getId() const { return id_; }
  friend std::ostream &operator<<(std::ostream &os, const DebugNameAndId &name)
  {
    return os << name.path;
  }
};

class DebugInfo;

class DebugContext
{
  DebugNameAndId name;

public:
  DebugContext() = default;
  DebugContext(const char *text, const SourceLocation & = {}) : name(text) {}
  DebugContext(const std::string &text, const SourceLocation & = {}) : name(text) {}
  DebugContext(StringRef text, const SourceLocation & = {}) : name(text) {}
  DebugContext(const DebugNameAndId &nameAndId, StringRef text = "", const SourceLocation & = {})
      : name(nameAndId, text)
  {
  }
  // From a DebugInfo or a class derived from it. It is a template so that a braced list does not
  // match.
  template <typename Info,
            typename = typename std::enable_if<std::is_base_of<DebugInfo, Info>::value>::type>
  DebugContext(const Info &info, StringRef text = "", const SourceLocation & = {})
      : name(DebugNameAndId(info), text)
  {
  }
  DebugContext(SourceLocation) {}

  const std::string &getPathName() const { return name.getPathName(); }
  const char *c() const { return name.getPathName().c_str(); }
  operator DebugNameAndId() const { return name; }
  friend std::ostream &operator<<(std::ostream &os, const DebugContext &context)
  {
    return os << context.getPathName();
  }
};

enum class DebugSerializationFormat { CBOR, JSON };

// Debug information of a library function's call. Its name is the context's. If the debug stream
// is open (populus/debug_stream.h), the destructor writes a record with "id", "parentId", "layer",
// "name" and the values that were set. The first four replace values of these names.
class DebugInfo
{
  DebugNameAndId context;
  DebugId id;
  std::string layer;
  ProfileValue::Map values;

public:
  DebugInfo(const DebugContext &debugContext, const std::string &layerName)
      : context(debugContext), id(pop_debug_next_id()), layer(layerName)
  {
  }
  DebugInfo(const DebugInfo &) = delete;
  DebugInfo &operator=(const DebugInfo &) = delete;
  virtual ~DebugInfo()
  {
    if (!pop_debug_stream_is_open()) return;
    try {
      values["id"] = id;
      values["parentId"] = context.getId();
      values["layer"] = layer;
      values["name"] = context.getPathName();
      ProfileValue record(values);
      pop_error_free(pop_debug_stream_add(record.c())); // closeStreamer throws it
    } catch (...) { // NOLINT(bugprone-empty-catch): there is no memory, and nobody to tell
    }
  }

  std::string getPathName() const { return context.getPathName(); }
  DebugId getId() const { return id; }
  // False if there is a value of this name already, which stays.
  bool setValue(std::string name, ProfileValue value)
  {
    return values.emplace(std::move(name), std::move(value)).second;
  }
  const ProfileValue::Map &getValues() const { return values; }

  // Until closeStreamer, each DebugInfo that is destroyed is written to the file.
  static void initializeStreamer(const std::string &fileName,
                                 DebugSerializationFormat format = DebugSerializationFormat::CBOR)
  {
    detail::check(pop_debug_stream_open(fileName.c_str(), format == DebugSerializationFormat::JSON
                                                              ? POP_PROFILE_JSON
                                                              : POP_PROFILE_CBOR));
  }
  static void closeStreamer() { detail::check(pop_debug_stream_close()); }

  operator DebugNameAndId() const { return DebugNameAndId(context.getPathName(), id); }
};

} // namespace poplar

#endif
