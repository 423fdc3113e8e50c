#include "prompt_source.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <istream>
#include <string_view>
#include <system_error>

#include "llm/chat.hpp"
#include "llm/error.hpp"
#include "llm/utf8.hpp"

namespace cli {

namespace {

constexpr std::size_t text_limit = std::size_t{64} << 20;

std::string read_all(std::istream& in, std::string const& from) {
  std::string text;
  char block[1 << 16];
  while (in.read(block, sizeof block), in.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(in.gcount()));
    if (text.size() > text_limit)
      throw llm::make_error("{}: the prompt is larger than 64 MiB: give a shorter one", from);
  }
  if (in.bad()) throw llm::make_error("{}: cannot be read: {}", from, std::strerror(errno));
  return text;
}

std::string read_file(std::filesystem::path const& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw llm::make_error("{}: is a folder: give a text file", file.string());
  std::ifstream in(file, std::ios::binary);
  if (!in) throw llm::make_error("{}: cannot be opened: {}", file.string(), std::strerror(errno));
  return read_all(in, file.string());
}

std::vector<tev::token_id> parse_ids(std::string_view list) {
  std::vector<tev::token_id> ids;
  while (!list.empty()) {
    std::size_t const comma = std::min(list.find(','), list.size());
    std::string_view entry = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (entry.starts_with(' ')) entry.remove_prefix(1);
    while (entry.ends_with(' ')) entry.remove_suffix(1);
    tev::token_id id = 0;
    auto const [end, failure] = std::from_chars(entry.data(), entry.data() + entry.size(), id);
    if (failure != std::errc{} || end != entry.data() + entry.size())
      throw llm::make_error("--ids: entry {} is {}: give whole numbers with commas, like 1,2,3",
                            ids.size() + 1, llm::in_quotes(entry));
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

void add_prompt_options(CLI::App& command, prompt_source& source) {
  auto* const text = command.add_option(
      "prompt", source.text, "The user's text; without it the prompt is read from standard input");
  auto* const file = command.add_option("--file", source.file, "Read the prompt from a file");
  auto* const chat = command.add_option("--chat", source.chat,
                                        "Read a dialogue: a JSON array of {\"role\", \"content\"}");
  auto* const ids = command.add_option("--ids", source.ids, "The prompt as token ids: 1,2,3");
  auto* const raw =
      command.add_flag("--raw", source.raw, "Take the prompt as it is, without the chat template");
  for (auto* const option : {file, chat, ids, raw}) option->group("Prompt");
  text->excludes(file)->excludes(chat)->excludes(ids);
  file->excludes(chat)->excludes(ids);
  chat->excludes(ids)->excludes(raw);
}

std::vector<tev::token_id> read_prompt(prompt_source const& source,
                                       llm::tokenizer const& tokenizer) {
  std::vector<tev::token_id> prompt;
  if (!source.ids.empty()) {
    prompt = parse_ids(source.ids);
  } else if (!source.chat.empty()) {
    prompt = tokenizer.encode(llm::render_chat(llm::read_messages(source.chat), true));
  } else {
    bool const piped = source.text.empty() && source.file.empty();
    if (piped && isatty(STDIN_FILENO) != 0)
      std::fputs("tev: reading the prompt from the terminal, end it with ctrl-D\n", stderr);
    std::string const text = piped                 ? read_all(std::cin, "standard input")
                             : source.text.empty() ? read_file(source.file)
                                                   : source.text;
    if (text.empty())
      throw llm::make_error("the prompt is empty: give a text, --file, --chat, --ids or a pipe");
    // Before the template is put around it, so that the offset is the reader's own.
    if (auto const at = llm::first_ill_formed(text))
      throw llm::make_error("the prompt is not valid UTF-8 at byte {}: convert it to UTF-8", *at);
    llm::message const message{"user", text};
    prompt = tokenizer.encode(source.raw ? text : llm::render_chat({&message, 1}, true));
  }
  if (prompt.empty())
    throw llm::make_error("the prompt is empty: give a text, --file, --chat, --ids or a pipe");
  return prompt;
}

}  // namespace cli
