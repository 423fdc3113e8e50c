// text_splitter: cuts text into the pieces that a tokenizer's regular expression matches.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llm {

/// A compiled pattern in Oniguruma's syntax, as tokenizer.json has it, run by PCRE2. Movable;
/// split() may be called from several threads.
///
/// The white space of \s and \S is Unicode's White_Space in both: PCRE2's own also takes U+180E.
class text_splitter {
 public:
  /// Compiles `pattern`. Throws `error` that names `where`, the place the pattern comes from.
  text_splitter(std::string_view pattern, std::string const& where);
  text_splitter(text_splitter&&) noexcept;
  text_splitter& operator=(text_splitter&&) noexcept;
  ~text_splitter();

  /// Returns `text` cut so that each match is a piece and what lies between two matches is one
  /// ("isolated"). The pieces cover the text and none is empty. `text` must be well-formed UTF-8.
  /// Throws `error` when the matcher gives up on a pattern that needs too much backtracking.
  [[nodiscard]] std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct program;
  std::unique_ptr<program const> program_;
};

}  // namespace llm
