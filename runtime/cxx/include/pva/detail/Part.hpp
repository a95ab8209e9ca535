// Access to the values of a report.
#ifndef PVA_DETAIL_PART_HPP
#define PVA_DETAIL_PART_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <populus/profile.h>
#include <string>
#include <vector>

namespace pva
{
namespace detail
{

// A value of a report. It keeps the report alive.
class Part
{
  std::shared_ptr<pop_profile> owner;
  pop_profile_value value = {};

public:
  Part() = default;
  explicit Part(pop_profile *report)
      : owner(report, pop_profile_free), value(pop_profile_root(report))
  {
  }

  bool exists() const { return pop_profile_kind_of(value) != POP_PROFILE_NONE; }
  std::size_t size() const { return pop_profile_count(value); }
  // The value at keys with dots between them. If there is none, the result does not exist().
  Part find(const std::string &path) const
  {
    Part part = *this;
    part.value = pop_profile_find(value, path.c_str());
    return part;
  }
  Part operator[](std::size_t i) const
  {
    Part part = *this;
    part.value = pop_profile_at(value, i);
    return part;
  }
  std::uint64_t number() const { return static_cast<std::uint64_t>(pop_profile_as_int(value)); }
  std::vector<std::uint64_t> numbers() const
  {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < size(); ++i) values.push_back((*this)[i].number());
    return values;
  }
  double real() const { return pop_profile_as_double(value); }
  bool isTrue() const { return pop_profile_as_bool(value); }
  std::string text() const
  {
    const char *text = pop_profile_as_string(value);
    return text ? text : "";
  }
  std::uint64_t number(const std::string &path) const { return find(path).number(); }
  std::string text(const std::string &path) const { return find(path).text(); }
};

// The first of `count` positions whose number is not below this one; numbers ascend.
template <typename NumberAt>
std::size_t firstNotBelow(std::size_t count, std::uint64_t number, NumberAt numberAt)
{
  std::size_t low = 0, high = count;
  while (low < high) {
    std::size_t middle = low + (high - low) / 2;
    if (numberAt(middle) < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

} // namespace detail
} // namespace pva

#endif
