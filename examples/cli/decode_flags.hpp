// The decoding options that `tev decode` and `tev compare` share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "llm/decoder.hpp"

namespace cli {

/// Registers `--temperature` and the filters, `--seed`, `--max-tokens` and `--threads`.
void add_decode_flags(CLI::App& command, llm::decode_options& options, int& threads);

/// Temperature and the filters that are on, for a heading.
[[nodiscard]] std::string sampling_text(tev::sampling_parameters const& sampling);

/// Names on the command line and what they stand for.
template <class Value>
using names_of = std::map<std::string, Value>;
[[nodiscard]] names_of<llm::method> method_names();
[[nodiscard]] names_of<llm::verifier> verifier_names();

/// Makes an option take one of `names`; another one is refused with the list of them.
template <class Value>
void take_name(CLI::Option& option, names_of<Value> const& names) {
  option.type_name("NAME")->transform(CLI::Validator(
      [names](std::string& text) -> std::string {
        auto const found = names.find(text);
        if (found == names.end()) {
          std::string known;
          for (auto const& [name, value] : names) known += (known.empty() ? "" : ", ") + name;
          return text + " is not known: give one of " + known;
        }
        text = std::to_string(static_cast<int>(found->second));
        return {};
      },
      ""));
}

/// Seconds by stage, as JSON.
[[nodiscard]] nlohmann::ordered_json seconds_json(llm::stage_seconds const& seconds);

/// Set by ctrl-C once `catch_interrupts` was called: the cycle under way is finished, then what
/// there is gets reported. A second ctrl-C ends the program at once.
[[nodiscard]] std::atomic<bool> const& interrupted();
void catch_interrupts();

}  // namespace cli
