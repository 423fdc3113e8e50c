// llm::error: the one exception of the transformer stack, and helpers that keep its text on one
// line.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace llm {

/// What is thrown when an input cannot be used. The text is one line that names the file, the
/// field, the value found and what to do about it.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns `text` with every ASCII control character spelt as an escape, so that it fits a line.
/// Other bytes, well-formed or not, are copied. Linear.
[[nodiscard]] inline std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

/// Returns `text` in double quotes on one line, cut after `limit` bytes with an ellipsis. The cut
/// does not split a UTF-8 sequence.
[[nodiscard]] inline std::string in_quotes(std::string_view text, std::size_t limit = 60) {
  if (text.size() <= limit) return "\"" + one_line(text) + "\"";
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return "\"" + one_line(text.substr(0, end)) + "...\"";
}

/// Returns an `error` whose text is the format string and its arguments on one line.
///
/// Used as `throw make_error("{}: ...", file, ...)`: the caller throws, so that the compiler
/// knows where control ends.
template <class... Args>
[[nodiscard]] error make_error(fmt::format_string<Args...> format, Args&&... args) {
  return error(one_line(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace llm
