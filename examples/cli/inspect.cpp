// `tev inspect`: what a checkpoint is, and whether a drafter fits a target.
#include "inspect.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_summary.hpp"
#include "exit_with.hpp"
#include "llm/config.hpp"
#include "llm/error.hpp"

namespace cli {
namespace {

constexpr std::string_view misfit_remedy =
    "use a drafter that was trained for this target, or the target that this drafter was trained "
    "for";

/// What the command line said.
struct inspect_command {
  std::filesystem::path folder;
  std::filesystem::path drafter;
  bool json = false;
};

void print(std::string const& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    throw llm::make_error("standard output can't be written; is its disk full?");
}

std::string fit_text(std::vector<std::string> const& misfits) {
  if (misfits.empty()) return "\nfits               yes\n";
  std::string text = "\nfits               no\n";
  for (std::string const& line : misfits)
    text += fmt::format("  {:<16} {}\n", "misfit", llm::one_line(line));
  return text + fmt::format("  {:<16} {}\n", "remedy", misfit_remedy);
}

/// The folder's own role decides; with a drafter given as well it has to be the target.
void check_roles(checkpoint_summary const& first, std::optional<checkpoint_summary> const& second) {
  if (!second) return;
  if (first.target() == nullptr) {
    throw llm::make_error("{}: a drafter, where --drafter needs a target; give the target's folder",
                          first.folder.string());
  }
  if (second->drafter() == nullptr) {
    throw llm::make_error(
        "{}: a target, where --drafter needs a drafter; give the drafter's folder",
        second->folder.string());
  }
}

void run(inspect_command const& command) {
  checkpoint_summary const first = summarise(command.folder);
  std::optional<checkpoint_summary> second;
  if (!command.drafter.empty()) second = summarise(command.drafter);
  check_roles(first, second);

  std::vector<std::string> misfits;
  bool usable = first.problems().empty();
  nlohmann::ordered_json object;
  object[first.target() != nullptr ? "target" : "drafter"] = to_json(first);
  std::string text = to_text(first);
  if (second) {
    misfits = llm::misfits(*second->drafter(), *first.target());
    usable = usable && second->problems().empty() && misfits.empty();
    object["drafter"] = to_json(*second);
    object["fits"] = misfits.empty();
    object["misfits"] = misfits;
    object["remedy"] = nullptr;
    if (!misfits.empty()) object["remedy"] = misfit_remedy;
    text += "\n" + to_text(*second) + fit_text(misfits);
  }
  using nlohmann::json;
  print(command.json ? object.dump(2, ' ', false, json::error_handler_t::replace) + "\n" : text);
  if (!usable) throw exit_with{1};
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto const command = std::make_shared<inspect_command>();
  CLI::App* const sub =
      app.add_subcommand("inspect", "Say what a checkpoint is, and whether a drafter fits it");
  sub->add_option("folder", command->folder, "Folder of a target or of a drafter")->required();
  sub->add_option("--drafter", command->drafter, "Folder of a drafter that has to fit the target");
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->callback([command] { run(*command); });
}

}  // namespace cli
