#include "model_pair.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "llm/error.hpp"

namespace cli {

namespace {

void announce_unused(std::filesystem::path const& folder, std::vector<std::string> const& names) {
  if (names.empty()) return;
  fmt::print(stderr, "tev: {}: {} tensor{} not used, the first is {}\n", folder.string(),
             names.size(), names.size() == 1 ? " is" : "s are", names.front());
}

}  // namespace

std::filesystem::path bundled_folder() { return std::filesystem::path(TEV_MODELS_DIR) / "tiny"; }

void add_model_options(CLI::App& command, model_folders& folders) {
  folders.target = bundled_folder() / "tiny-qwen3";
  folders.drafter = bundled_folder() / "tiny-dflash";
  command
      .add_option("--target", folders.target,
                  "Folder of the target: config.json, safetensors, tokenizer.json "
                  "[default: the bundled tiny-qwen3]")
      ->group("Models");
  command
      .add_option("--drafter", folders.drafter,
                  "Folder of a DFlash drafter for that target [default: the bundled tiny-dflash]")
      ->group("Models");
}

model_pair load_models(model_folders const& folders, bool with_drafter) {
  auto target = llm::target::load(folders.target);
  auto tokenizer = llm::tokenizer::open(folders.target);
  if (tokenizer.id_end() > target.config().vocab_size)
    throw llm::make_error(
        "{}: tokenizer.json has ids up to {} and the model only {} embedding rows: the two files "
        "are not of one checkpoint",
        folders.target.string(), tokenizer.id_end() - 1, target.config().vocab_size);
  announce_unused(folders.target, target.unused_tensors());
  model_pair models{std::move(target), std::move(tokenizer), std::nullopt};
  if (with_drafter) {
    models.drafter = llm::drafter::load(folders.drafter, models.target);
    announce_unused(folders.drafter, models.drafter->unused_tensors());
  }
  return models;
}

}  // namespace cli
