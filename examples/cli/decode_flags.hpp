// The decoding options that `tev decode` and `tev compare` share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "llm/decoder.hpp"

namespace cli {

/// Registers `--temperature`, `--seed`, `--max-tokens` and `--threads`.
void add_decode_flags(CLI::App& command, llm::decode_options& options, int& threads);

/// Names on the command line and what they stand for.
[[nodiscard]] std::map<std::string, llm::method> method_names();
[[nodiscard]] std::map<std::string, llm::verifier> verifier_names();

/// Seconds by stage, as JSON.
[[nodiscard]] nlohmann::ordered_json to_json(llm::stage_seconds const& seconds);

/// Set by ctrl-C once `catch_interrupts` was called: the cycle under way is finished, then what
/// there is gets reported. A second ctrl-C ends the program at once.
[[nodiscard]] std::atomic<bool> const& interrupted();
void catch_interrupts();

}  // namespace cli
