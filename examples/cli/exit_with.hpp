// exit_with: how a subcommand ends the program with a status of its own.
#pragma once

namespace cli {

/// Thrown by a subcommand's callback that has already said what there is to say: the program ends
/// with `code` and prints nothing more. Failures are `llm::error` instead.
struct exit_with {
  int code;
};

}  // namespace cli
