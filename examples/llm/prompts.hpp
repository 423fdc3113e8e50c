// Prompt sets: the public benchmarks' own .jsonl files, as the texts a user would send.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llm {

/// Whose file it is, told by its fields.
enum class prompt_format { gsm8k, math500, humaneval, mtbench };

/// Returns "GSM8K", "MATH-500", "HumanEval" or "MT-Bench".
[[nodiscard]] std::string_view format_name(prompt_format format);

/// One prompt: the user's text, and its line in the file, from 1.
struct prompt {
  std::string user;
  std::size_t line = 0;
};

/// The prompts of one file, in its order.
struct prompt_set {
  prompt_format format = prompt_format::gsm8k;
  std::vector<prompt> prompts;
};

/// Reads a .jsonl file of GSM8K (`question`), MATH-500 (`problem`), HumanEval (`prompt`) or
/// MT-Bench (`turns`, of which the first is taken).
///
/// Problems of mathematics are followed by the sentence that asks to reason step by step and to
/// box the answer; code is wrapped in the sentence that asks for a solution that passes the tests.
/// These are the instructions under which chat targets and their drafters are commonly measured,
/// and without them a target answers in another style, hence with another block length. Empty
/// lines are skipped. Throws `error` naming file, line and field for anything else, also for lines
/// of two formats and for a file without a prompt.
[[nodiscard]] prompt_set read_prompts(std::filesystem::path const& file);

}  // namespace llm
