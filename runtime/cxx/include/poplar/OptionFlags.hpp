// Keys and values of options of engines, streams and library functions. Each of these checks the
// keys.
#ifndef POPLAR_OPTIONFLAGS_HPP
#define POPLAR_OPTIONFLAGS_HPP

#include <cstdlib>
#include <initializer_list>
#include <istream>
#include <iterator>
#include <memory>
#include <ostream>
#include <poplar/exceptions.hpp>
#include <populus/engine.h>
#include <string>
#include <utility>
#include <vector>

namespace poplar
{

class OptionFlags
{
public:
  using OptionFlag = std::pair<const std::string, std::string>;
  using initializer_list = std::initializer_list<OptionFlag>;

private:
  std::vector<std::pair<std::string, std::string>>
      flags; // in the order in which they were first set

  static void putText(std::ostream &os, const std::string &text)
  {
    static const char digits[] = "0123456789abcdef";
    os << '"';
    for (char c : text) {
      const unsigned byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
        os << '\\' << c;
      else if (byte < 0x20)
        os << "\\u00" << digits[byte / 16] << digits[byte % 16];
      else
        os << c;
    }
    os << '"';
  }

public:
  using const_iterator = std::vector<std::pair<std::string, std::string>>::const_iterator;
  using iterator = const_iterator;

  OptionFlags() = default;
  OptionFlags(initializer_list list) { set(list); }

  // A later value takes the place of an earlier one.
  void set(const std::string &key, const std::string &value)
  {
    for (auto &flag : flags) {
      if (flag.first != key) continue;
      flag.second = value;
      return;
    }
    flags.push_back({key, value});
  }
  void set(initializer_list list)
  {
    for (const auto &flag : list) set(flag.first, flag.second);
  }
  const std::string &at(const std::string &key) const
  {
    auto flag = find(key);
    if (flag == end())
      throw invalid_option("there is no option '" + key + "' among those that were given");
    return flag->second;
  }
  const_iterator find(const std::string &key) const
  {
    auto at = flags.begin();
    while (at != flags.end() && at->first != key) ++at;
    return at;
  }
  bool contains(const std::string &key) const { return find(key) != end(); }
  std::size_t size() const { return flags.size(); }
  bool empty() const { return flags.empty(); }
  void clear() { flags.clear(); }
  const_iterator begin() const { return flags.begin(); }
  const_iterator end() const { return flags.end(); }

  // The same keys with the same values, in any order?
  friend bool operator==(const OptionFlags &a, const OptionFlags &b)
  {
    for (const auto &flag : a.flags) {
      const auto other = b.find(flag.first);
      if (other == b.end() || other->second != flag.second) return false;
    }
    return a.size() == b.size();
  }
  // Prints a JSON object, which readJSON reads.
  friend std::ostream &operator<<(std::ostream &os, const OptionFlags &options)
  {
    const char *separator = "{";
    for (const auto &flag : options.flags) {
      os << separator;
      putText(os, flag.first);
      os << ": ";
      putText(os, flag.second);
      separator = ", ";
    }
    return os << (options.empty() ? "{}" : "}");
  }
};

// Sets the flags of a JSON object's members: strings, numbers and booleans. Throws parse_error if
// the text is not such an object, or has other values; then nothing is set.
inline void readJSON(const std::string &text, OptionFlags &flags)
{
  pop_option *options = nullptr;
  std::size_t count = 0;
  if (pop_error *error = pop_options_read_json(text.data(), text.size(), &options, &count)) {
    std::string sentence = std::string("readJSON: ") + pop_error_message(error);
    pop_error_free(error);
    throw parse_error(sentence);
  }
  std::unique_ptr<pop_option, decltype(&std::free)> owner(options, std::free);
  for (std::size_t i = 0; i < count; ++i) flags.set(options[i].key, options[i].value);
}
inline void readJSON(std::istream &stream, OptionFlags &flags)
{
  readJSON(std::string(std::istreambuf_iterator<char>(stream), {}), flags);
}

} // namespace poplar

#endif
