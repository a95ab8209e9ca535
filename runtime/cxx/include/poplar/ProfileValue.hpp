// Profiles as values: populus/profile.h.
#ifndef POPLAR_PROFILEVALUE_HPP
#define POPLAR_PROFILEVALUE_HPP

#include <cstdio>
#include <cstdlib>
#include <map>
#include <poplar/OptionFlags.hpp>
#include <poplar/detail/CStream.hpp>
#include <poplar/detail/Missing.hpp>
#include <poplar/detail/Options.hpp>
#include <poplar/detail/Shared.hpp>
#include <populus/profile.h>
#include <string>
#include <type_traits>
#include <vector>

namespace poplar
{

// A map, a vector, an int, a double, a string or a bool. Copies are views of one profile.
class ProfileValue
{
  detail::Shared<pop_profile, pop_profile_free> profile;
  pop_profile_value value = {};

  // CBOR: the head of an item, and text.
  static void putHead(std::string &bytes, unsigned major, std::uint64_t n)
  {
    bytes += static_cast<char>(major << 5 | 27); // 8 bytes follow
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift);
  }
  static void putText(std::string &bytes, const std::string &text)
  {
    putHead(bytes, 3, text.size());
    bytes += text;
  }
  static void putValue(std::string &bytes, const ProfileValue &v)
  {
    char *data = nullptr;
    std::size_t size = 0;
    std::FILE *memory = open_memstream(&data, &size);
    if (!memory) throw memory_allocation_error("no memory for a profile value");
    pop_error *error = pop_profile_write(v.value, POP_PROFILE_CBOR, memory);
    std::fclose(memory);
    if (!error) bytes.append(data, size);
    std::free(data);
    detail::check(error);
  }
  void take(const std::string &bytes)
  {
    pop_profile *made;
    detail::check(pop_profile_read_memory(bytes.data(), bytes.size(), &made));
    profile.reset(made);
    value = pop_profile_root(made);
  }

  ProfileValue part(pop_profile_value v, const std::string &what) const
  {
    if (pop_profile_kind_of(v) == POP_PROFILE_NONE) throw index_error("the profile has no " + what);
    ProfileValue result = *this;
    result.value = v;
    return result;
  }

public:
  enum class Type { BOOL_, STRING, NUMBER, VECTOR, MAP };

  using String = std::string;
  using Vector = std::vector<ProfileValue>;
  using Map = std::map<std::string, ProfileValue>;

  ProfileValue() = default;
  ProfileValue(const std::string &text)
  {
    std::string bytes;
    putText(bytes, text);
    take(bytes);
  }
  ProfileValue(const char *text) : ProfileValue(std::string(text)) {}
  // A number, or true or false.
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  ProfileValue(T number)
  {
    std::string bytes;
    if (std::is_same<T, bool>::value) {
      bytes += static_cast<char>(number != T() ? 0xf5 : 0xf4);
    } else if (std::is_integral<T>::value) {
      std::int64_t n = static_cast<std::int64_t>(number);
      putHead(bytes, n < 0, static_cast<std::uint64_t>(n < 0 ? -1 - n : n));
    } else {
      double d = static_cast<double>(number);
      std::uint64_t bits;
      __builtin_memcpy(&bits, &d, sizeof bits);
      putHead(bytes, 7, bits);
    }
    take(bytes);
  }
  ProfileValue(const Vector &items)
  {
    std::string bytes;
    putHead(bytes, 4, items.size());
    for (const ProfileValue &item : items) putValue(bytes, item);
    take(bytes);
  }
  // A template, so that only programs that make a map compile one.
  template <typename M, typename = typename M::mapped_type> ProfileValue(const M &entries)
  {
    std::string bytes;
    putHead(bytes, 5, entries.size());
    for (const auto &entry : entries) {
      putText(bytes, entry.first);
      putValue(bytes, entry.second);
    }
    take(bytes);
  }
  // Takes over the profile.
  explicit ProfileValue(pop_profile *p) : profile(p), value(pop_profile_root(p)) {}

  pop_profile_value c() const { return value; }
  Type type() const
  {
    switch (pop_profile_kind_of(value)) {
    case POP_PROFILE_BOOL:
      return Type::BOOL_;
    case POP_PROFILE_INT:
    case POP_PROFILE_DOUBLE:
      return Type::NUMBER;
    case POP_PROFILE_STRING:
      return Type::STRING;
    case POP_PROFILE_VECTOR:
      return Type::VECTOR;
    case POP_PROFILE_MAP:
      return Type::MAP;
    case POP_PROFILE_NONE:
      break;
    }
    throw profiling_disabled("there is no profile value here");
  }
  std::size_t size() const { return pop_profile_count(value); }
  ProfileValue operator[](const std::string &key) const
  {
    return part(pop_profile_get(value, key.c_str()), "'" + key + "'");
  }
  ProfileValue operator[](const char *key) const { return (*this)[std::string(key)]; }
  // For any integer type: otherwise a literal 0 could be a key as well as a std::size_t.
  template <typename T, typename = typename std::enable_if<std::is_integral<T>::value>::type>
  ProfileValue operator[](T i) const
  {
    return part(pop_profile_at(value, static_cast<std::size_t>(i)), "item " + std::to_string(i));
  }
  bool asBool() const { return pop_profile_as_bool(value); }
  std::int64_t asInt() const { return pop_profile_as_int(value); }
  std::uint64_t asUint() const { return static_cast<std::uint64_t>(asInt()); }
  double asDouble() const { return pop_profile_as_double(value); }
  std::string asString() const
  {
    const char *text = pop_profile_as_string(value);
    if (!text) throw type_error("the profile value is no string");
    return text;
  }
  std::vector<ProfileValue> asVector() const
  {
    std::vector<ProfileValue> items(size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = (*this)[i];
    return items;
  }
  // A template, so that only programs that ask for a map compile one.
  template <typename M = Map> M asMap() const
  {
    M entries;
    for (const std::string &key : keys()) entries.emplace(key, (*this)[key]);
    return entries;
  }
  // An empty value, of which type() throws, if there is no such entry.
  ProfileValue getOrNull(const std::string &key) const
  {
    ProfileValue result = *this;
    result.value = pop_profile_get(value, key.c_str());
    return result;
  }
  std::vector<std::uint64_t> toUintVector() const
  {
    std::vector<std::uint64_t> numbers(size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = (*this)[i].asUint();
    return numbers;
  }
  std::vector<std::string> keys() const
  {
    std::vector<std::string> list(type() == Type::MAP ? size() : 0);
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = pop_profile_key(value, i);
    return list;
  }
  std::int64_t sumInt() const
  {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < size(); ++i) sum += pop_profile_as_int(pop_profile_at(value, i));
    return sum;
  }
  std::uint64_t sumUint() const { return static_cast<std::uint64_t>(sumInt()); }
  double sumDouble() const
  {
    double sum = 0;
    for (std::size_t i = 0; i < size(); ++i) sum += pop_profile_as_double(pop_profile_at(value, i));
    return sum;
  }
  // The sum of a vector of vectors.
  std::int64_t sum2DInt() const
  {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < size(); ++i) sum += (*this)[i].sumInt();
    return sum;
  }
  std::uint64_t sum2DUint() const { return static_cast<std::uint64_t>(sum2DInt()); }
};

namespace detail
{
// As the guide says: colours if the stream is a terminal that has them, unless the program sets the
// option.
inline OptionFlags withColours(std::ostream &os, const OptionFlags &options)
{
  OptionFlags result = options;
  if (!result.contains("colours") && hasColours(os)) result.set("colours", "true");
  return result;
}

inline ProfileValue readReport(const std::string &path)
{
  pop_profile *report;
  check(pop_report_read(path.c_str(), &report));
  return ProfileValue(report);
}
} // namespace detail

// Prints the guide's summary of an Engine::getGraphProfile. pop_profile_print_graph_summary has the
// options.
inline void printGraphSummary(std::ostream &os, const ProfileValue &graphProfile,
                              const OptionFlags &options = {})
{
  OptionFlags coloured = detail::withColours(os, options);
  auto flags = detail::options(coloured);
  detail::check(pop_profile_print_graph_summary(graphProfile.c(), flags.data(), flags.size(),
                                                detail::CStream(os)));
}
// Prints the guide's summary of an Engine::getExecutionProfile.
inline void printExecutionSummary(std::ostream &os, const ProfileValue &graphProfile,
                                  const ProfileValue &executionProfile,
                                  const OptionFlags &options = {})
{
  OptionFlags coloured = detail::withColours(os, options);
  auto flags = detail::options(coloured);
  detail::check(pop_profile_print_execution_summary(
      graphProfile.c(), executionProfile.c(), flags.data(), flags.size(), detail::CStream(os)));
}
// Prints both; only the graph's if the execution profile is empty.
inline void printProfileSummary(std::ostream &os, const ProfileValue &graphProfile,
                                const ProfileValue &executionProfile = {},
                                const OptionFlags &options = {})
{
  OptionFlags coloured = detail::withColours(os, options);
  auto flags = detail::options(coloured);
  detail::check(pop_profile_print_summary(graphProfile.c(), executionProfile.c(), flags.data(),
                                          flags.size(), detail::CStream(os)));
}

// The same for the path of a profile.pop, which autoReport.all writes, and which
// graph_memory_allocation_error::profilePath names.
inline void printGraphSummary(std::ostream &os, const std::string &profilePath,
                              const OptionFlags &options = {})
{
  printGraphSummary(os, detail::readReport(profilePath)["graph"], options);
}
inline void printExecutionSummary(std::ostream &os, const std::string &profilePath,
                                  const OptionFlags &options = {})
{
  ProfileValue report = detail::readReport(profilePath);
  printExecutionSummary(os, report["graph"], report["execution"], options);
}
inline void printProfileSummary(std::ostream &os, const std::string &profilePath,
                                const OptionFlags &options = {})
{
  ProfileValue report = detail::readReport(profilePath);
  printProfileSummary(os, report["graph"], report.getOrNull("execution"), options);
}

// Options as a map of strings.
inline ProfileValue getAsProfileValue(const OptionFlags &options)
{
  ProfileValue::Map entries;
  for (const auto &option : options) entries.emplace(option.first, ProfileValue(option.second));
  return entries;
}

inline void serializeToJSON(std::ostream &os, const ProfileValue &value, bool prettyPrint = false)
{
  detail::check(pop_profile_write(
      value.c(), prettyPrint ? POP_PROFILE_JSON_PRETTY : POP_PROFILE_JSON, detail::CStream(os)));
}
inline void serializeToCBOR(std::ostream &os, const ProfileValue &value)
{
  detail::check(pop_profile_write(value.c(), POP_PROFILE_CBOR, detail::CStream(os)));
}

} // namespace poplar

#endif
