// The Qwen3 chat format with thinking off: from messages to the text a target continues.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace llm {

/// One turn of a dialogue. `role` is "system", "user" or "assistant".
struct message {
  std::string role;
  std::string content;
};

/// Returns the text of a dialogue as Qwen3's chat template renders it with thinking off.
///
/// Assistant turns before the last user turn lose what precedes "</think>" in them; those after
/// it keep it, and the final one gets an empty think block when it has none. With
/// `add_generation_prompt` the text ends in an opened assistant turn with an empty think block.
/// There is no default system prompt. Throws `error` naming the index of a message with another
/// role, and when there is no message.
[[nodiscard]] std::string render_chat(std::span<message const> messages,
                                      bool add_generation_prompt);

/// Reads messages from a JSON file: an array of objects with the strings `role` and `content`.
///
/// Throws `error` naming file, index and field when it is anything else, when a role is unknown
/// or when there is no message.
[[nodiscard]] std::vector<message> read_messages(std::filesystem::path const& file);

}  // namespace llm
