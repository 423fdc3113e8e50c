// Finds the files, their kinds and their cases, and keeps the books.
#include "conformance/run.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "conformance/fields.hpp"
#include "conformance/kinds.hpp"

namespace conformance {

namespace {

using check_function = void (*)(fields const&, checker&);

std::map<std::string, check_function> const checks{
    {"law", check_law},         {"logits", check_logits}, {"tree_invalid", check_tree_invalid},
    {"commit", check_commit},   {"stop", check_stop},     {"batch", check_batch},
    {"builder", check_builder}, {"chain", check_chain},   {"mask", check_mask},
};

json parse(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  if (in) all << in.rdbuf();
  if (!in || in.bad()) throw case_error("cannot be read");
  try {
    return json::parse(all.str());
  } catch (json::exception const& e) {
    throw case_error(std::string("is not JSON: ") + e.what());
  }
}

// Runs `body` and turns what it throws into words.
template <class Body>
std::string problem_of(Body&& body) {
  try {
    body();
    return {};
  } catch (case_error const& e) {
    return e.what();
  } catch (std::exception const& e) {
    return std::string("the library threw: ") + e.what();
  }
}

void run_case(std::string const& file, json const& node, std::set<std::string>& names,
              failed_case& result, file_report& report) {
  audit log(file);
  checker check;
  result.problem = problem_of([&] {
    if (!node.is_object()) throw case_error("is not an object");
    fields const the_case = value(node, "", log).object("case");
    result.name = the_case["name"].text();
    result.why = the_case["why"].text();
    if (!names.insert(result.name).second) throw case_error("another case has this name");
    checks.at(file)(the_case, check);
  });
  result.faults = check.faults();
  report.undocumented += log.undocumented();
  // A case that was given up has not been read to its end.
  if (!result.problem.empty()) return;
  for (auto const& place : log.unread())
    result.problem +=
        (result.problem.empty() ? "documented, but nothing here reads it: " : ", ") + place;
}

void run_cases(std::filesystem::path const& path, file_report& report) {
  json const content = parse(path);
  audit top("");
  fields const file = value(content, "the file", top).object("file");
  if (auto const format = file["format"].integer(); format != 1)
    throw case_error("format is " + std::to_string(format) + ", needs 1");
  std::string const name = file["file"].text();
  if (!checks.contains(name)) throw case_error("file is \"" + name + "\", which is unknown");
  if (path.stem().string().find(name) == std::string::npos)
    throw case_error("file is \"" + name + "\", which the name of the file does not say");
  std::set<std::string> names;
  for (auto const& v : file["cases"].items()) {
    failed_case result{.name = v.place()};
    run_case(name, v.node(), names, result, report);
    if (result.problem.empty() && result.faults.empty())
      ++report.passed;
    else
      report.failed.push_back(std::move(result));
  }
  report.undocumented += top.undocumented();
}

}  // namespace

file_report run_file(std::filesystem::path const& path) {
  file_report report{.path = path.filename().string()};
  report.problem = problem_of([&] { run_cases(path, report); });
  return report;
}

folder_report run_folder(std::filesystem::path const& folder) {
  folder_report report;
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (it->path().extension() == ".json") paths.push_back(it->path());
  if (error) {
    report.problem = folder.string() + ": " + error.message();
    return report;
  }
  if (paths.empty()) report.problem = folder.string() + ": holds no *.json";
  std::ranges::sort(paths);
  for (auto const& path : paths) report.files.push_back(run_file(path));
  return report;
}

}  // namespace conformance
