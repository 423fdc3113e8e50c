// `tev compare`: one prompt set through the methods, side by side.
#pragma once

#include <CLI/CLI.hpp>

namespace cli {

/// Registers the subcommand; its callback throws `llm::error` on failure, and `exit_with{130}` when
/// ctrl-C ended the run.
void add_compare(CLI::App& app);

}  // namespace cli
