// A view of text that somebody else owns.
#ifndef POPLAR_STRINGREF_HPP
#define POPLAR_STRINGREF_HPP

#include <cstddef>
#include <cstring>
#include <ostream>
#include <string>

namespace poplar
{

class StringRef
{
  const char *data_ = "";
  std::size_t size_ = 0;

public:
  using const_iterator = const char *;

  StringRef() = default;
  StringRef(const char *text) : data_(text ? text : ""), size_(text ? std::strlen(text) : 0) {}
  StringRef(const char *text, std::size_t size) : data_(text), size_(size) {}
  StringRef(const std::string &text) : data_(text.data()), size_(text.size()) {}

  const char *data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const_iterator begin() const { return data_; }
  const_iterator end() const { return data_ + size_; }
  char operator[](std::size_t i) const { return data_[i]; }
  std::string cloneAsString() const { return std::string(data_, size_); }
  operator std::string() const { return cloneAsString(); }

  friend bool operator==(StringRef a, StringRef b)
  {
    return a.size_ == b.size_ && std::memcmp(a.data_, b.data_, a.size_) == 0;
  }
  friend bool operator!=(StringRef a, StringRef b) { return !(a == b); }
  friend bool operator<(StringRef a, StringRef b) { return a.cloneAsString() < b.cloneAsString(); }
  friend std::ostream &operator<<(std::ostream &os, StringRef text)
  {
    return os.write(text.data_, static_cast<std::streamsize>(text.size_));
  }
  friend std::string operator+(StringRef a, StringRef b)
  {
    return a.cloneAsString() + b.cloneAsString();
  }
};

} // namespace poplar

#endif
