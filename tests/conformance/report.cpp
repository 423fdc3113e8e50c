// Writes reports.
#include "conformance/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace conformance {

namespace {

using ordered = nlohmann::ordered_json;

constexpr std::size_t shown_faults = 6;

void print_case(std::ostream& out, failed_case const& c) {
  out << "  FAILED \"" << c.name << '"';
  if (!c.why.empty()) out << " (" << c.why << ')';
  out << '\n';
  if (!c.problem.empty()) out << "    " << c.problem << '\n';
  for (std::size_t i = 0; i < std::min(shown_faults, c.faults.size()); ++i)
    out << "    " << c.faults[i].place << ": expected " << c.faults[i].expected << ", got "
        << c.faults[i].got << '\n';
  if (c.faults.size() > shown_faults)
    out << "    and " << c.faults.size() - shown_faults << " more differences\n";
}

std::string fields_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " undocumented field" : " undocumented fields") +
         " ignored";
}

}  // namespace

bool folder_report::ok() const {
  return problem.empty() && std::ranges::all_of(files, &file_report::ok);
}

std::size_t folder_report::passed() const {
  std::size_t sum = 0;
  for (auto const& f : files) sum += f.passed;
  return sum;
}

std::size_t folder_report::failed() const {
  std::size_t sum = 0;
  for (auto const& f : files) sum += f.failed.size();
  return sum;
}

void print_text(std::ostream& out, folder_report const& report) {
  std::size_t width = 0, unusable = 0;
  for (auto const& f : report.files) width = std::max(width, f.path.size());
  for (auto const& f : report.files) {
    out << f.path << std::string(width - f.path.size() + 2, ' ') << f.passed << " passed, "
        << f.failed.size() << " failed, " << fields_text(f.undocumented) << '\n';
    if (!f.problem.empty()) out << "  FAILED " << f.problem << '\n';
    for (auto const& c : f.failed) print_case(out, c);
    unusable += f.problem.empty() ? 0 : 1;
  }
  if (!report.problem.empty()) out << "FAILED " << report.problem << '\n';
  out << "total: " << report.passed() << " passed, " << report.failed() << " failed";
  if (unusable > 0) out << ", " << unusable << (unusable == 1 ? " file" : " files") << " unusable";
  out << '\n';
}

void print_json(std::ostream& out, folder_report const& report) {
  ordered all{{"ok", report.ok()}, {"passed", report.passed()}, {"failed", report.failed()}};
  if (!report.problem.empty()) all["problem"] = report.problem;
  all["files"] = ordered::array();
  for (auto const& f : report.files) {
    ordered file{{"file", f.path},
                 {"passed", f.passed},
                 {"failed", f.failed.size()},
                 {"undocumented", f.undocumented}};
    if (!f.problem.empty()) file["problem"] = f.problem;
    file["cases"] = ordered::array();
    for (auto const& c : f.failed) {
      ordered one{{"name", c.name}, {"why", c.why}};
      if (!c.problem.empty()) one["problem"] = c.problem;
      one["differences"] = ordered::array();
      for (auto const& d : c.faults)
        one["differences"].push_back(
            {{"place", d.place}, {"expected", d.expected}, {"got", d.got}});
      file["cases"].push_back(one);
    }
    all["files"].push_back(file);
  }
  out << all.dump(2, ' ', false, ordered::error_handler_t::replace) << '\n';
}

}  // namespace conformance
