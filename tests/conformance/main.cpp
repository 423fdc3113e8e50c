// The conformance runner.
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report.hpp"
#include "conformance/run.hpp"

namespace {

constexpr std::string_view usage =
    "usage: conformance [--json] FOLDER\n"
    "\n"
    "Runs every *.json of FOLDER through the library. Exits with 0 when all cases pass, with 1 "
    "when\n"
    "a case fails or a file, a kind or a documented field is not known, and with 2 when the call "
    "is\n"
    "not understood.\n"
    "\n"
    "  --json   the report as JSON\n"
    "  --help   this text\n";

int refuse(std::string const& message) {
  std::cerr << "conformance: " << message << "\n" << usage;
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string_view> folders;
  bool as_json = false;
  for (std::string_view const argument :
       std::vector<std::string_view>(arguments + 1, arguments + count)) {
    if (argument == "--help" || argument == "-h") {
      std::cout << usage;
      return 0;
    }
    if (argument == "--json")
      as_json = true;
    else if (argument.starts_with("-"))
      return refuse("unknown option " + std::string(argument));
    else
      folders.push_back(argument);
  }
  if (folders.size() != 1) return refuse("needs one folder");

  auto const report = conformance::run_folder(folders.front());
  (as_json ? conformance::print_json : conformance::print_text)(std::cout, report);
  return report.ok() ? 0 : 1;
}
