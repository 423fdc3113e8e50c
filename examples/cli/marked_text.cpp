#include "marked_text.hpp"

#include <cerrno>
#include <cstring>

#include "llm/error.hpp"

namespace cli {

void marked_text::push(tev::token_id id, bool drafted) {
  std::string const text = decoder_.push(id);
  if (text.empty()) return;
  mark(drafted);
  put(text);
}

void marked_text::finish() {
  put(decoder_.finish());
  mark(false);
  put("\n");
}

void marked_text::mark(bool drafted) {
  if (drafted == open_) return;
  open_ = drafted;
  if (style_ == marks::colour) put(drafted ? "\033[32m" : "\033[0m");
  if (style_ == marks::brackets) put(drafted ? "⟦" : "⟧");
}

void marked_text::put(std::string const& text) {
  bool const written = std::fwrite(text.data(), 1, text.size(), out_) == text.size();
  if (!written || std::fflush(out_) != 0)
    throw llm::make_error("standard output cannot be written: {}", std::strerror(errno));
}

}  // namespace cli
