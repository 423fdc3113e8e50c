// Where the prompt of `tev decode` comes from.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "llm/tokenizer.hpp"
#include "tev/core/types.hpp"

namespace cli {

/// A prompt as the command line gives it: text, a file, standard input, messages or ids.
struct prompt_source {
  std::string text;
  std::filesystem::path file;
  std::filesystem::path chat;
  std::string ids;
  bool raw = false;
};

/// Registers the prompt argument, `--file`, `--chat`, `--ids` and `--raw`; at most one source may
/// be given, and without any the prompt is read from standard input.
void add_prompt_options(CLI::App& command, prompt_source& source);

/// The prompt's ids. A plain prompt becomes the user's turn of a chat unless `raw`.
///
/// Throws `llm::error` for an empty prompt, invalid UTF-8, a file that can't be read or is larger
/// than 64 MiB, and an id that is not a number.
[[nodiscard]] std::vector<tev::token_id> read_prompt(prompt_source const& source,
                                                     llm::tokenizer const& tokenizer);

}  // namespace cli
