// `tev decode`: one prompt, streamed.
#pragma once

#include <CLI/CLI.hpp>

namespace cli {

/// Registers the subcommand; its callback throws `llm::error` on failure, and `exit_with{130}` when
/// ctrl-C ended the text.
void add_decode(CLI::App& app);

}  // namespace cli
