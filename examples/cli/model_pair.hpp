// The target, its tokenizer and, where one is wanted, a drafter, as a command line names them.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "llm/drafter.hpp"
#include "llm/target.hpp"
#include "llm/tokenizer.hpp"

namespace cli {

/// Folders of a checkpoint pair; the bundled pair unless told otherwise.
struct model_folders {
  std::filesystem::path target;
  std::filesystem::path drafter;
};

/// Where the bundled checkpoints and their `prompts` are.
[[nodiscard]] std::filesystem::path bundled_folder();

/// Registers `--target` and `--drafter` with their defaults.
void add_model_options(CLI::App& command, model_folders& folders);

/// A loaded pair.
struct model_pair {
  llm::target target;
  llm::tokenizer tokenizer;
  std::optional<llm::drafter> drafter;

  [[nodiscard]] llm::drafter const* drafter_or_null() const {
    return drafter ? &*drafter : nullptr;
  }
};

/// Loads what `folders` names, the drafter only when it is wanted. Tensors that nothing uses are
/// announced on stderr. Throws `llm::error` naming file, field, value and remedy.
[[nodiscard]] model_pair load_models(model_folders const& folders, bool with_drafter);

}  // namespace cli
