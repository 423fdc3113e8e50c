// Rendering and reading dialogues.
#include "chat.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "error.hpp"
#include "json_file.hpp"

namespace llm {
namespace {

constexpr std::string_view think_begin = "<think>";
constexpr std::string_view think_end = "</think>";
constexpr std::size_t most_messages = 65536;
constexpr std::string_view roles_needed = "\"system\", \"user\" or \"assistant\" is needed";

bool is_role(std::string_view role) {
  return role == "system" || role == "user" || role == "assistant";
}

std::string_view without_leading_newlines(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text;
}

std::string_view without_trailing_newlines(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

/// An assistant's content, split at its think block.
struct answer {
  std::string_view reasoning;
  std::string_view content;
};

answer split_answer(std::string_view text) {
  auto const first_end = text.find(think_end);
  if (first_end == std::string_view::npos) return {{}, text};
  std::string_view reasoning = without_trailing_newlines(text.substr(0, first_end));
  if (auto const begin = reasoning.rfind(think_begin); begin != std::string_view::npos) {
    reasoning.remove_prefix(begin + think_begin.size());
  }
  std::string_view const content = text.substr(text.rfind(think_end) + think_end.size());
  return {without_trailing_newlines(without_leading_newlines(reasoning)),
          without_leading_newlines(content)};
}

/// Returns the index of the last turn in which the user asks something; a turn that only hands
/// over a tool's response is not one. The last index when there is none.
std::size_t last_question(std::span<message const> messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    std::string_view const content = messages[i].content;
    bool const is_response =
        content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
    if (messages[i].role == "user" && !is_response) return i;
  }
  return messages.size() - 1;
}

}  // namespace

std::string render_chat(std::span<message const> messages, bool add_generation_prompt) {
  if (messages.empty()) throw make_error("chat: there is no message; give at least one");
  std::size_t const question = last_question(messages);
  std::string text;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    message const& turn = messages[i];
    if (!is_role(turn.role)) {
      throw make_error("chat: field [{}].role is {}, but {}", i, in_quotes(turn.role),
                       roles_needed);
    }
    text += fmt::format("<|im_start|>{}\n", turn.role);
    if (turn.role != "assistant") {
      text += turn.content;
    } else {
      answer const split = split_answer(turn.content);
      bool const keeps_thoughts =
          i > question && (i + 1 == messages.size() || !split.reasoning.empty());
      if (keeps_thoughts) {
        text += fmt::format("<think>\n{}\n</think>\n\n{}", split.reasoning,
                            without_leading_newlines(split.content));
      } else {
        text += split.content;
      }
    }
    text += "<|im_end|>\n";
  }
  if (add_generation_prompt) text += "<|im_start|>assistant\n<think>\n\n</think>\n\n";
  return text;
}

std::vector<message> read_messages(std::filesystem::path const& file) {
  json_file const parsed = json_file::read(file);
  std::vector<message> messages;
  for (json_field const& element : parsed.root().elements(1, most_messages)) {
    for (std::string const& key : element.keys()) {
      if (key != "role" && key != "content") {
        element.at(key).refuse("a message has the fields role and content alone; remove it");
      }
    }
    json_field const role = element.at("role");
    if (!is_role(role.text())) role.refuse(roles_needed);
    messages.push_back({role.text(), element.at("content").text()});
  }
  return messages;
}

}  // namespace llm
