// Reading the four formats, and the sentences around their texts.
#include "prompts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "error.hpp"
#include "json_file.hpp"
#include "mapped_file.hpp"

namespace llm {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{256} << 20;
constexpr json_limits line_limits{std::uintmax_t{1} << 20, 16};
constexpr std::size_t most_turns = 1024;

struct format_row {
  prompt_format format;
  std::string_view name;
  std::string_view field;
};
constexpr std::array<format_row, 4> formats{{{prompt_format::gsm8k, "GSM8K", "question"},
                                             {prompt_format::math500, "MATH-500", "problem"},
                                             {prompt_format::humaneval, "HumanEval", "prompt"},
                                             {prompt_format::mtbench, "MT-Bench", "turns"}}};

format_row const& row_of(prompt_format format) { return formats[static_cast<std::size_t>(format)]; }

prompt_format detect(json_field const& root) {
  for (format_row const& row : formats) {
    if (root.find(row.field)) return row.format;
  }
  throw make_error(
      "{}: none of the fields question (GSM8K), problem (MATH-500), prompt (HumanEval)"
      " and turns (MT-Bench) is there; give a file in one of these formats",
      root.file());
}

std::string user_text(json_field const& root, prompt_format format) {
  json_field const field = root.at(row_of(format).field);
  switch (format) {
    case prompt_format::gsm8k:
    case prompt_format::math500:
      return field.text() +
             "\nPlease reason step by step, and put your final answer within \\boxed{}.";
    case prompt_format::humaneval:
      return "Write a solution to the following problem and make sure that it passes the tests:\n"
             "```python\n" +
             field.text() + "\n```";
    case prompt_format::mtbench:
      return field.elements(1, most_turns).front().text();
  }
  field.refuse("a known format is needed");
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

std::string_view format_name(prompt_format format) { return row_of(format).name; }

prompt_set read_prompts(std::filesystem::path const& file) {
  mapped_file const mapped(file);
  auto const bytes = mapped.bytes();
  if (bytes.size() > most_file_bytes) {
    throw make_error("{}: {} bytes, more than the {} that a prompt file may have", file.string(),
                     bytes.size(), most_file_bytes);
  }
  std::string_view rest(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  prompt_set read;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    auto const length = std::min(rest.find('\n'), rest.size());
    std::string_view const line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (is_blank(line)) continue;
    json_file const parsed =
        json_file::parse(line, fmt::format("{} line {}", file.string(), number), line_limits);
    prompt_format const format = detect(parsed.root());
    if (read.prompts.empty()) read.format = format;
    if (format != read.format) {
      throw make_error(
          "{}: field {} makes it a line of {}, but the lines before are of {}; give "
          "one format a file",
          parsed.root().file(), row_of(format).field, format_name(format),
          format_name(read.format));
    }
    read.prompts.push_back({user_text(parsed.root(), format), number});
  }
  if (read.prompts.empty()) throw make_error("{}: holds no prompt; add a line", file.string());
  return read;
}

}  // namespace llm
