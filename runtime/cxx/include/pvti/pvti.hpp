// Traces of what a host program does, for Perfetto (ui.perfetto.dev) and chrome://tracing.
// pvti::Tracepoint marks a span of time of a thread, on a channel of the program's. Nothing is
// recorded, and tracepoints cost only a test, unless the environment asks for a trace:
//
//     PVTI_OPTIONS='{"enable":"true", "directory":"reports"}' ./program
//
// writes reports/Tue_Nov_24_11:59:17_2026_GMT_4532.json (day, time, process) when the program ends,
// or at closeTrace(). The documented library writes a format of its own; the calls are the same. A
// child of fork records nothing.
#ifndef PVTI_PVTI_HPP
#define PVTI_PVTI_HPP

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace pvti
{

struct TraceChannel;

namespace detail
{

// The bytes of the UTF-8 sequence that `text` begins with; 0 if it begins with none.
inline std::size_t utf8Length(const char *text, std::size_t size)
{
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > size) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool beyond = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || beyond ? 0 : length;
}

// Bytes that are not UTF-8 become U+FFFD, because JSON has no place for them.
inline void appendJson(std::string &out, const char *text, std::size_t size)
{
  out += '"';
  for (std::size_t i = 0, length; i < size; i += length ? length : 1) {
    char c = text[i], code[8];
    length = utf8Length(text + i, size - i);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (length > 1) {
      out.append(text + i, length);
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  out += '"';
}
inline std::string quoted(const std::string &text)
{
  std::string out;
  appendJson(out, text.data(), text.size());
  return out;
}

// A number of JSON, whatever the program's locale.
inline std::string number(const char *format, double value)
{
  char text[400];
  std::snprintf(text, sizeof text, format, value);
  std::string out;
  for (const char *c = text; *c; ++c) {
    bool isPart = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
    if (isPart)
      out += *c;
    else if (out.find('.') == std::string::npos) // the locale's point, of one byte or more
      out += '.';
  }
  return out;
}

// The options of PVTI_OPTIONS: an object with strings, true and false. Throws std::runtime_error
// for anything else.
class Options
{
  const char *at;

  [[noreturn]] static void refuse(const std::string &what)
  {
    throw std::runtime_error("PVTI_OPTIONS: " + what +
                             R"(; it is an object, as {"enable":"true", "directory":"reports"})");
  }
  void skip()
  {
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') ++at;
  }
  bool take(char c)
  {
    skip();
    if (*at != c) return false;
    ++at;
    return true;
  }
  // The 16 bits behind a \u.
  unsigned unit()
  {
    if (at[0] != '\\' || at[1] != 'u') refuse("half of a character stands behind a \\u");
    at += 2;
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++at) {
      static const char digits[] = "0123456789abcdefABCDEF";
      const char *digit = *at ? std::strchr(digits, *at) : nullptr;
      if (!digit) refuse("four hexadecimal digits are expected behind a \\u");
      unsigned d = static_cast<unsigned>(digit - digits);
      value = value << 4 | (d < 16 ? d : d - 6);
    }
    return value;
  }
  // The character that a backslash begins.
  std::string escaped()
  {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (at[1] != 'u') {
      const char *name = at[1] ? std::strchr(names, at[1]) : nullptr;
      if (!name) refuse("a \\ of no meaning");
      at += 2;
      return std::string(1, meant[name - names]);
    }
    unsigned long c = unit();
    if (c == 0) refuse("a \\u0000");
    if (c >= 0xd800 && c < 0xdc00) {
      unsigned long low = unit();
      if (low < 0xdc00 || low > 0xdfff) refuse("half of a character stands behind a \\u");
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
      refuse("half of a character stands behind a \\u");
    }
    int following = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
    std::string text(1, static_cast<char>(first[following] | (c >> (6 * following))));
    while (following-- > 0) text += static_cast<char>(0x80 | (c >> (6 * following) & 0x3f));
    return text;
  }
  std::string word()
  {
    std::string text;
    skip();
    if (take('"')) {
      while (*at && *at != '"') {
        if (*at == '\\')
          text += escaped();
        else
          text += *at++;
      }
      if (!take('"')) refuse("a string does not end");
      return text;
    }
    while ((*at >= 'a' && *at <= 'z')) text += *at++;
    if (text != "true" && text != "false") refuse("a string, true or false is expected");
    return text;
  }
  void set(const std::string &key, const std::string &value)
  {
    if (key == "directory")
      directory = value;
    else if (key != "enable")
      refuse("there is no option '" + key + "' but enable and directory");
    else if (value != "true" && value != "false")
      refuse("enable is true or false, not '" + value + "'");
    else
      enable = value == "true";
  }

public:
  bool enable = false;
  std::string directory = ".";

  explicit Options(const char *text) : at(text)
  {
    if (!text || !*text) return;
    if (!take('{')) refuse("a { is expected");
    while (!take('}')) {
      std::string key = word();
      if (!take(':')) refuse("a : is expected behind '" + key + "'");
      set(key, word());
      if (!take(',') && *at != '}') refuse("a , or } is expected behind '" + key + "'");
    }
    skip();
    if (*at) refuse("something stands behind the }");
  }
};

// The session of the process, or of a shared library that hides its symbols: that has a file of its
// own, with _1 in its name if both begin in the same second. It is never destroyed, because
// tracepoints of static objects may end late.
class Session
{
  std::mutex mutex;
  std::atomic<int> file{-1}; // the file is closed while other threads record
  std::string name, pending; // pending: not yet in the file. A child of fork does not write it
  pid_t process;
  bool isFirst = true, failed = false;
  const bool isOn;
  std::vector<TraceChannel *> channels;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  explicit Session(const Options &options) : process(getpid()), isOn(options.enable)
  {
    if (isOn) openFile(options);
    // A child of fork needs the mutex at its end, and another thread may have it at the fork.
    pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                   [] { get().mutex.unlock(); });
  }
  void openFile(const Options &options)
  {
    char date[64];
    std::time_t now = std::time(nullptr);
    std::tm utc;
    gmtime_r(&now, &utc);
    std::strftime(date, sizeof date, "%a_%b_%d_%H:%M:%S_%Y_GMT", &utc);
    if (mkdir(options.directory.c_str(), 0777) != 0 && errno != EEXIST) fail(options.directory);
    // Absolute, because the program may change to another folder.
    char *folder = realpath(options.directory.c_str(), nullptr);
    if (!folder) fail(options.directory);
    std::string base = std::string(folder) + "/" + date + "_" + std::to_string(process);
    std::free(folder);
    for (unsigned number = 0; file < 0; ++number) {
      name = base + (number ? "_" + std::to_string(number) : "") + ".json";
      if (access(name.c_str(), F_OK) == 0) continue; // of another session, which has ended
      file = open((name + ".part").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file < 0 && errno != EEXIST) fail(name);
    }
    if (file >= 0 && file <= STDERR_FILENO) file = aboveStandard(file);
    if (file < 0) fail(name);
    pending = "{\"traceEvents\":[";
    std::atexit([] { get().close(); });
  }
  [[noreturn]] static void fail(const std::string &path)
  {
    throw std::runtime_error("PVTI_OPTIONS: cannot write '" + path + "': " + std::strerror(errno));
  }

  // If standard streams are closed, the file must not become one of them.
  static int aboveStandard(int file)
  {
    int above = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    ::close(file);
    errno = error;
    return above;
  }

  void flush()
  {
    for (std::size_t at = 0; at < pending.size() && !failed;) {
      ssize_t written = write(file, pending.data() + at, pending.size() - at);
      failed = written < 0 && errno != EINTR;
      at += written > 0 ? static_cast<std::size_t>(written) : 0;
    }
    pending.clear();
  }

public:
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  static Session &get()
  {
    static Session *session = new Session(Options(std::getenv("PVTI_OPTIONS")));
    return *session;
  }
  bool records() const { return isOn && file >= 0 && getpid() == process; }
  void add(TraceChannel *channel)
  {
    std::lock_guard<std::mutex> lock(mutex);
    channels.push_back(channel);
  }
  void remove(TraceChannel *channel)
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (std::size_t i = 0; i < channels.size(); ++i)
      if (channels[i] == channel) channels.erase(channels.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::vector<TraceChannel *> list()
  {
    std::lock_guard<std::mutex> lock(mutex);
    return channels;
  }
  std::string filename() const { return name; }

  // Writes an event. Phases: 'B' begins, 'E' ends, 'i' is an instant, 'C' counts, 'M' names.
  // `arguments` is an object or "".
  void put(char phase, const char *channel, const char *label, std::size_t size,
           const std::string &arguments)
  {
    double microseconds =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    std::string line = "{\"name\":";
    appendJson(line, label, size);
    line += ",\"cat\":";
    appendJson(line, channel, std::strlen(channel));
    line += std::string(",\"ph\":\"") + phase + "\",\"ts\":" + number("%.3f", microseconds);
    line += ",\"pid\":" + std::to_string(process) +
            ",\"tid\":" + std::to_string(syscall(SYS_gettid)) +
            (phase == 'i' ? ",\"s\":\"t\"" : "");
    if (!arguments.empty()) line += ",\"args\":" + arguments;
    line += '}';
    std::lock_guard<std::mutex> lock(mutex);
    if (file < 0) return;
    pending += isFirst ? "\n" : ",\n";
    pending += line;
    isFirst = false;
    if (pending.size() > 1 << 16) flush();
  }
  // The file gets its name when it is complete. It is removed if it could not be written.
  void close()
  {
    if (!records()) return;
    std::lock_guard<std::mutex> lock(mutex);
    if (file < 0) return;
    pending += "\n]}\n";
    flush();
    failed = ::close(file) != 0 || failed;
    file = -1;
    std::string part = name + ".part";
    if (failed || std::rename(part.c_str(), name.c_str()) != 0) std::remove(part.c_str());
  }
};

} // namespace detail

// A channel, which tracepoints belong to. `name` must live as long as the channel.
struct TraceChannel {
  const char *name;
  bool enabled;

  TraceChannel(const char *channelName, bool isEnabled = true)
      : name(channelName), enabled(isEnabled)
  {
    detail::Session::get().add(this);
  }
  TraceChannel(const TraceChannel &other) : TraceChannel(other.name, other.enabled) {}
  TraceChannel &operator=(const TraceChannel &) = default;
  ~TraceChannel() { detail::Session::get().remove(this); }
};

namespace detail
{
template <typename> struct Channels {
  static TraceChannel traceDrivers, tracePoplar, traceFramework;
};
template <typename T> TraceChannel Channels<T>::traceDrivers("Drivers");
template <typename T> TraceChannel Channels<T>::tracePoplar("Poplar");
template <typename T> TraceChannel Channels<T>::traceFramework("Framework");

// Channels are enabled and disabled while other threads record.
inline bool isEnabled(const TraceChannel &channel)
{
  return __atomic_load_n(&channel.enabled, __ATOMIC_RELAXED);
}
inline void enable(TraceChannel &channel, bool isEnabled)
{
  __atomic_store_n(&channel.enabled, isEnabled, __ATOMIC_RELAXED);
}
inline bool records(const TraceChannel *channel)
{
  return channel && isEnabled(*channel) && Session::get().records();
}
} // namespace detail

static TraceChannel &traceDrivers = detail::Channels<void>::traceDrivers;
static TraceChannel &tracePoplar = detail::Channels<void>::tracePoplar;
static TraceChannel &traceFramework = detail::Channels<void>::traceFramework;

inline void enableTraceChannel(TraceChannel *channel)
{
  detail::enable(*channel, true);
}
inline void disableTraceChannel(TraceChannel *channel)
{
  detail::enable(*channel, false);
}
inline bool checkTraceChannel(TraceChannel *channel)
{
  return detail::isEnabled(*channel);
}
inline std::vector<TraceChannel *> listTraceChannel()
{
  return detail::Session::get().list();
}
// "" unless PVTI_OPTIONS enables traces. After closeTrace() it is still the file's name.
inline std::string getCurrentTraceFilename()
{
  return detail::Session::get().filename();
}
inline void closeTrace()
{
  detail::Session::get().close();
}

// Data of an event in addition to its label.
class Metadata
{
  std::string text; // a JSON object, or ""

public:
  Metadata() = default;
  explicit Metadata(const std::string &json) : text(json) {}
  const std::string &json() const { return text; }
};
// `json` must be a JSON object; it is not checked.
inline Metadata createJsonMetadata(const std::string &json)
{
  return Metadata(json);
}

// A span of time, from the object's construction to its destruction.
class Tracepoint
{
  const TraceChannel *channel; // NULL: it is not recorded
  std::string label;

  static void put(char phase, const TraceChannel *of, const char *label, std::size_t size,
                  const Metadata *metadata)
  {
    if (detail::records(of))
      detail::Session::get().put(phase, of->name, label, size, metadata ? metadata->json() : "");
  }

public:
  Tracepoint(TraceChannel *of, const char *traceLabel, std::size_t size,
             const Metadata *metadata = nullptr)
      : channel(detail::records(of) ? of : nullptr)
  {
    if (!channel) return;
    label.assign(traceLabel, size);
    put('B', channel, label.data(), label.size(), metadata);
  }
  Tracepoint(TraceChannel *of, const std::string &traceLabel, const Metadata *metadata = nullptr)
      : Tracepoint(of, traceLabel.data(), traceLabel.size(), metadata)
  {
  }
  Tracepoint(TraceChannel *of, const char *traceLabel, const Metadata *metadata = nullptr)
      : Tracepoint(of, traceLabel, std::strlen(traceLabel), metadata)
  {
  }
  Tracepoint(const Tracepoint &) = delete;
  Tracepoint &operator=(const Tracepoint &) = delete;
  // Also of a channel that has been disabled since: what has begun must end.
  ~Tracepoint()
  {
    if (channel && detail::Session::get().records())
      detail::Session::get().put('E', channel->name, label.data(), label.size(), "");
  }

  // A span in two calls, on one thread.
  static void begin(TraceChannel *of, const std::string &label, const Metadata *metadata = nullptr)
  {
    put('B', of, label.data(), label.size(), metadata);
  }
  static void end(TraceChannel *of, const std::string &label, const Metadata *metadata = nullptr)
  {
    put('E', of, label.data(), label.size(), metadata);
  }
  // An instant.

  static void event(TraceChannel *of, const std::string &label, const Metadata *metadata = nullptr)
  {
    put('i', of, label.data(), label.size(), metadata);
  }
};

// Numbers over time: one line of a graph.
class Series
{
  std::string graph, name;
  bool enabled;

public:
  Series(const std::string &graphName, const std::string &seriesName, bool isEnabled)
      : graph(graphName), name(seriesName), enabled(isEnabled)
  {
  }
  void add(double value)
  {
    if (!enabled || !detail::Session::get().records()) return;
    bool isNumber = value - value == 0; // JSON has no others
    detail::Session::get().put('C', "Graph", graph.data(), graph.size(),
                               "{" + detail::quoted(name) + ":" +
                                   (isNumber ? detail::number("%.17g", value) : "null") + "}");
  }
};
class Graph
{
  std::string name;
  bool enabled;

public:
  explicit Graph(const std::string &graphName, const std::string &unit = "", bool enable = true)
      : name(unit.empty() ? graphName : graphName + " (" + unit + ")"), enabled(enable)
  {
  }
  Series addSeries(const std::string &seriesName) const
  {
    return Series(name, seriesName, enabled);
  }
};

// Names the thread that makes this object.
struct ThreadName {
  explicit ThreadName(const std::string &threadName)
  {
    static const char event[] = "thread_name";
    if (detail::Session::get().records())
      detail::Session::get().put('M', "", event, sizeof event - 1,
                                 "{\"name\":" + detail::quoted(threadName) + "}");
  }
};

// A member for long-lived objects with tracepoints: it makes sure that the session is created
// before them.
class Client
{
public:
  Client() { detail::Session::get(); }
};

} // namespace pvti

#endif
