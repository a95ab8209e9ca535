// pvti: what a program records if PVTI_OPTIONS asks for it. e2e/cxx_programs.sh checks the file.
#include "check.hpp"

#include <atomic>
#include <clocale>
#include <pvti/pvti.hpp>
#include <sys/wait.h>
#include <thread>

static pvti::TraceChannel own = {"own"};

struct Derived : pvti::Tracepoint { // frameworks derive from it too
  explicit Derived(const char *label) : pvti::Tracepoint(&own, label) {}
};

// What a program may do, and its trace must survive.
static int odd()
{
  std::setlocale(LC_ALL, "");
  std::cout << "what nobody reads" << std::endl;
  {
    pvti::Tracepoint elsewhere(&own, "elsewhere");
    CHECK(chdir("/") == 0);
  }
  CHECK(pvti::getCurrentTraceFilename()[0] == '/');
  {
    pvti::Tracepoint half(&own, "half");
    pvti::disableTraceChannel(&own);
    pvti::Tracepoint hidden(&own, "hidden");
  }
  pvti::enableTraceChannel(&own);
  pvti::Tracepoint::event(&own, "\xff \xc3\xa9 \xed\xa0\x80 \xf0\x9f\x98\x80 \xe2\x82");
  pvti::Graph("load").addSeries("half").add(-0.5e-9);
  return failures != 0;
}

// Children of a program of which another thread records.
static int forks()
{
  std::atomic<bool> stop(false);
  std::thread busy([&] {
    while (!stop) pvti::Tracepoint beside(&own, "beside");
  });
  for (int i = 0; i < 300; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(60); // it must not hang
      std::exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    if (failures) break;
  }
  stop = true;
  busy.join();
  return failures != 0;
}

// The trace is closed, and its channel disabled, while another thread records.
static int races()
{
  std::atomic<bool> records(false), stop(false);
  std::thread busy([&] {
    while (!stop) {
      pvti::Tracepoint beside(&own, "beside");
      records = true;
    }
  });
  while (!records) std::this_thread::yield();
  pvti::disableTraceChannel(&own);
  pvti::enableTraceChannel(&own);
  pvti::closeTrace();
  stop = true;
  busy.join();
  return failures != 0;
}

int main(int argc, char **argv)
{
  if (argc > 1 && argv[1] == std::string("races")) return races();
  if (argc > 1 && argv[1] == std::string("forks")) return forks();
  if (argc > 1 && argv[1] == std::string("odd")) return odd();
  bool on = argc > 1;
  pvti::Client client;
  pvti::ThreadName named("main thread");
  CHECK(pvti::listTraceChannel().size() == 4);
  CHECK(pvti::checkTraceChannel(&own) && pvti::checkTraceChannel(&pvti::tracePoplar));
  CHECK(pvti::getCurrentTraceFilename().empty() != on);
  {
    pvti::TraceChannel other("other", false);
    CHECK(pvti::listTraceChannel().size() == 5);
    pvti::Tracepoint hidden(&other, "hidden");
    pvti::Metadata metadata = pvti::createJsonMetadata("{\"step\":3}");
    pvti::Tracepoint outer(&own, std::string("outer \"quoted\""), &metadata);
    Derived inner("inner");
    pvti::Tracepoint part(&own, "partial", 4);
    pvti::Tracepoint::event(&own, "moment");
    pvti::enableTraceChannel(&other);
    pvti::Tracepoint::begin(&other, "seen");
    pvti::Tracepoint::end(&other, "seen");
  }
  CHECK(pvti::listTraceChannel().size() == 4);
  std::thread([] { pvti::Tracepoint beside(&own, "beside"); }).join();
  pvti::Series series = pvti::Graph("memory", "MB").addSeries("host");
  series.add(1.5);
  series.add(2);
  pid_t child = fork();
  if (child == 0) {
    pvti::Tracepoint nobody(&own, "child");
    std::exit(failures != 0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return failures != 0;
}
