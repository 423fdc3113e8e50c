// The result of a run, as text and as JSON.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "conformance/checker.hpp"

namespace conformance {

/// A case that failed. Differences come first; `problem` says what is wrong with the case itself.
struct failed_case {
  std::string name;
  std::string why{};
  std::string problem{};
  std::vector<fault> faults{};
};

/// What became of the cases of one file.
struct file_report {
  std::string path;       ///< Name of the file in its folder.
  std::string problem{};  ///< Why the file could not be used at all; else empty.
  std::size_t passed = 0;
  std::size_t undocumented = 0;  ///< Fields that the format does not mention.
  std::vector<failed_case> failed{};

  [[nodiscard]] bool ok() const { return problem.empty() && failed.empty(); }
};

/// What became of a folder.
struct folder_report {
  std::string problem;  ///< Why there was nothing to run; else empty.
  std::vector<file_report> files;

  [[nodiscard]] bool ok() const;
  [[nodiscard]] std::size_t passed() const;
  [[nodiscard]] std::size_t failed() const;
};

/// A line for each file, the differences of each failing case, and the totals.
void print_text(std::ostream& out, folder_report const& report);

/// The same for other programs: {"passed", "failed", "ok", "files": [...]}.
void print_json(std::ostream& out, folder_report const& report);

}  // namespace conformance
