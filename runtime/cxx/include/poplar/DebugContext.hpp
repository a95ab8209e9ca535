// Names of things, for messages and reports: a path of names joined by '/'.
#ifndef POPLAR_DEBUGCONTEXT_HPP
#define POPLAR_DEBUGCONTEXT_HPP

#include <cstdint>
#include <poplar/StringRef.hpp>
#include <poplar/detail/Missing.hpp>
#include <string>
#include <type_traits>

namespace poplar
{

// Where in the program something was made. Populus' messages do not use it, and it is known only if it is asked for.
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

public:
  DebugNameAndId(const std::string &name = "", DebugId = {}, const std::string &parentPath = "")
      : path(parentPath.empty() || name.empty() ? parentPath + name : parentPath + "/" + name)
  {
  }
  DebugNameAndId(const char *name) : path(name ? name : "") {}
  DebugNameAndId(StringRef name) : path(name) {}
  DebugNameAndId(const DebugNameAndId &parent, StringRef name)
      : DebugNameAndId(name.cloneAsString(), {}, parent.path)
  {
  }
  const std::string &getPathName() const { return path; }
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
  DebugContext(const DebugNameAndId &nameAndId, StringRef text = "") : name(nameAndId, text) {}
  // Of a DebugInfo or what is derived from it; a braced list is none.
  template <typename Info,
            typename = typename std::enable_if<std::is_base_of<DebugInfo, Info>::value>::type>
  DebugContext(const Info &info, StringRef text = "") : name(DebugNameAndId(info), text)
  {
  }
  DebugContext(SourceLocation) {}

  const std::string &getPathName() const { return name.getPathName(); }
  const char *c() const { return name.getPathName().c_str(); }
  operator DebugNameAndId() const { return name; }
};

// What a library function says of itself: its name is the context's.
class DebugInfo
{
  DebugContext context;

public:
  DebugInfo(const DebugContext &debugContext, const std::string &) : context(debugContext) {}
  DebugInfo(const DebugInfo &) = delete;
  DebugInfo &operator=(const DebugInfo &) = delete;
  virtual ~DebugInfo() = default;

  std::string getPathName() const { return context.getPathName(); }
  POPLAR_MISSING_MEMBER(setValue, "poplar::DebugInfo::setValue: nothing would show what is set")
  POPLAR_MISSING_MEMBER(getId, "poplar::DebugInfo::getId: what is made has a name and no id")
  POPLAR_MISSING_MEMBER(initializeStreamer, "poplar::DebugInfo::initializeStreamer is not there: "
                                            "the option autoReport.outputDebugInfo writes a file")
  POPLAR_MISSING_MEMBER(closeStreamer, "poplar::DebugInfo::closeStreamer is not there")
  operator DebugNameAndId() const { return DebugNameAndId(context.getPathName()); }
};

} // namespace poplar

#endif
