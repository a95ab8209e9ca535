// Reports of engines, for programs that look into them: Engine::getReport, or a file profile.pop. Over populus/profile.h,
// where the values are described; what the documented interface has of them is in runtime/COMPATIBILITY.md. Numbers
// are cycles and bytes. Everything that comes of a report may outlive it, and the engine.
#ifndef PVA_PVA_HPP
#define PVA_PVA_HPP

// Programs name what these have and do not include them: the documented header does.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <unordered_set>

#include <poplar/Engine.hpp>
#include <pva/detail/Compilation.hpp>
#include <pva/detail/Execution.hpp>

namespace pva
{

class Report
{
  detail::Part part;

public:
  // Takes it over.
  explicit Report(pop_profile *report) : part(report) {}
  PoplarVersion poplarVersion() const { return PoplarVersion(part.text("version")); }
  CompilationReport compilation() const { return CompilationReport(part.find("graph")); }
  // profiling_disabled if the report was made without.
  ExecutionReport execution() const
  {
    if (!part.find("execution").exists())
      throw poplar::profiling_disabled(
          "the report knows of no runs: it was written when the graph was compiled, or "
          "without autoReport.outputExecutionProfile");
    return {part.find("execution"), part.find("graph")};
  }
};

// A file profile.pop of the engine option autoReport.directory. file_load_error if it is none.
inline Report openReport(const std::string &path)
{
  pop_profile *report;
  poplar::detail::check(pop_report_read(path.c_str(), &report));
  return Report(report);
}

} // namespace pva

inline pva::Report poplar::Engine::getReport(bool reportExecution) const
{
  pop_profile *report;
  detail::check(pop_engine_report(state->engine, reportExecution, &report));
  return pva::Report(report);
}

#endif
