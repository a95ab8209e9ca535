// Options of library functions: which options a function has, and of which kind their values
// are.
#ifndef POPLAR_DETAIL_LIBRARYOPTIONS_HPP
#define POPLAR_DETAIL_LIBRARYOPTIONS_HPP

#include <initializer_list>
#include <locale>
#include <poplar/OptionFlags.hpp>
#include <poplar/exceptions.hpp>
#include <sstream>

namespace poplar
{
namespace detail
{

enum class OptionValue { TRUTH, HALF_OR_FLOAT, PASS, UPDATE, DISTRIBUTION, PROPORTION, NUMBER };
struct LibraryOption {
  const char *key;
  OptionValue value;
};

inline const char *valuesOf(OptionValue value)
{
  switch (value) {
  case OptionValue::TRUTH:
    return "true|false";
  case OptionValue::HALF_OR_FLOAT:
    return "half|float";
  case OptionValue::PASS:
    return "NONE|INFERENCE_FWD|TRAINING_FWD|TRAINING_BWD|TRAINING_WU";
  case OptionValue::UPDATE:
    return "none|add|max|mul";
  case OptionValue::DISTRIBUTION:
    return "uniform|onePoint";
  case OptionValue::PROPORTION:
    return "a number from 0 to 1";
  case OptionValue::NUMBER:
    break;
  }
  return "a number";
}
// Reads a number of the C locale: the program's may have a decimal comma.
inline bool readNumber(const std::string &value, double &number)
{
  std::istringstream in(value);
  in.imbue(std::locale::classic());
  return bool(in >> number) && in.peek() == std::istringstream::traits_type::eof();
}
inline bool hasValue(OptionValue kind, const std::string &value)
{
  if (kind != OptionValue::PROPORTION && kind != OptionValue::NUMBER)
    return !value.empty() && value.find('|') == std::string::npos &&
           ("|" + std::string(valuesOf(kind)) + "|").find("|" + value + "|") != std::string::npos;
  double number = 0;
  return readNumber(value, number) && (kind == OptionValue::NUMBER || (number >= 0 && number <= 1));
}

// Throws invalid_option if an option is not among the `known` ones, or has no such value.
inline void checkOptions(const std::string &function, const OptionFlags &options,
                         std::initializer_list<LibraryOption> known)
{
  for (const auto &given : options) {
    const LibraryOption *found = nullptr;
    std::string keys;
    for (const LibraryOption &option : known) {
      if (option.key == given.first) found = &option;
      keys += (keys.empty() ? "; it has " : ", ") + std::string(option.key);
    }
    if (!found)
      throw invalid_option(function + ": there is no option '" + given.first + "'" + keys);
    if (!hasValue(found->value, given.second))
      throw invalid_option(function + ": option '" + given.first + "' is '" + given.second +
                           "'; it must be " + valuesOf(found->value));
  }
}
inline void refuseOptions(const char *function, const OptionFlags &options)
{
  checkOptions(function, options, {});
}
inline std::string optionOr(const OptionFlags &options, const char *key, const char *otherwise)
{
  auto found = options.find(key);
  return found == options.end() ? otherwise : found->second;
}
// Of an option that checkOptions has found to be a number.
inline double optionOr(const OptionFlags &options, const char *key, double otherwise)
{
  auto found = options.find(key);
  if (found != options.end()) readNumber(found->second, otherwise);
  return otherwise;
}

} // namespace detail
} // namespace poplar

#endif
