// Reports of engines, for programs that look into them: Engine::getReport, or a file profile.pop.
// populus/profile.h describes the values. runtime/COMPATIBILITY.md says which parts of the
// documented interface there are. Times are in cycles and sizes in bytes. Everything that is taken
// from a report may outlive it, and the engine.
#ifndef PVA_PVA_HPP
#define PVA_PVA_HPP

// Programs use these without including them, because the documented header does.
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
  // Takes over the report.
  explicit Report(pop_profile *report) : part(report) {}
  PoplarVersion poplarVersion() const { return PoplarVersion(part.text("version")); }
  CompilationReport compilation() const { return CompilationReport(part.find("graph")); }
  // Throws profiling_disabled if the report has no execution.
  ExecutionReport execution() const
  {
    if (!part.find("execution").exists())
      throw poplar::profiling_disabled(
          "the report knows of no runs: it was written when the graph was compiled, or "
          "without autoReport.outputExecutionProfile");
    return {part.find("execution"), part.find("graph")};
  }
};

// Reads a profile.pop, which engines write to autoReport.directory. Throws file_load_error if the
// file is not one.
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
  detail::check(pop_engine_report(get().engine, reportExecution, &report));
  return pva::Report(report);
}

#endif
