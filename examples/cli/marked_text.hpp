// Decoded text as it arrives, with the drafted-and-accepted tokens marked.
#pragma once

#include <cstdio>
#include <string>

#include "llm/tokenizer.hpp"
#include "tev/core/types.hpp"

namespace cli {

/// How accepted tokens are told from those that the target added itself.
enum class marks { none, colour, brackets };

/// Writes the text of tokens to a stream as soon as their characters are complete.
class marked_text {
 public:
  marked_text(llm::tokenizer const& tokenizer, marks style, std::FILE* out)
      : decoder_(tokenizer, true), style_(style), out_(out) {}

  /// Special tokens give no text. Throws `llm::error` when the stream can't be written.
  void push(tev::token_id id, bool drafted);

  /// Closes an open mark, writes what was incomplete and ends the line.
  void finish();

 private:
  void mark(bool drafted);
  void put(std::string const& text);

  llm::stream_decoder decoder_;
  marks style_;
  std::FILE* out_;
  bool open_ = false;
};

}  // namespace cli
