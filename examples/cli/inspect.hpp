// `tev inspect`: what a checkpoint is, and whether a drafter fits a target.
#pragma once

#include <CLI/CLI.hpp>

namespace cli {

/// Registers the subcommand `inspect FOLDER [--drafter FOLDER] [--json]`.
///
/// Its callback prints to standard output. It throws `llm::error` when a file can't be read or is
/// malformed, and `exit_with{1}` after printing when a checkpoint is incomplete or the drafter does
/// not fit. Headers are read, weights are not.
void add_inspect(CLI::App& app);

}  // namespace cli
