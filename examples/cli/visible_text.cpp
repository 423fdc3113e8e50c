// Making a token's characters visible, and XML out of text.
#include "visible_text.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <array>
#include <cstdint>

#include "llm/utf8.hpp"

namespace cli {
namespace {

constexpr int most_marks = 3;

/// Calls `visit(code point, its bytes)` for every character of well-formed `text`.
template <class Visit>
void for_each_character(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    std::size_t const length = llm::next_utf8(text).length;
    utf8proc_int32_t code_point = 0;
    utf8proc_iterate(reinterpret_cast<utf8proc_uint8_t const*>(text.data()),
                     static_cast<utf8proc_ssize_t>(length), &code_point);
    visit(code_point, text.substr(0, length));
    text.remove_prefix(length);
  }
}

std::string encoded(std::int32_t code_point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  auto const length = utf8proc_encode_char(code_point, bytes.data());
  return {reinterpret_cast<char const*>(bytes.data()), static_cast<std::size_t>(length)};
}

bool is_mark(utf8proc_category_t category) {
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME ||
         category == UTF8PROC_CATEGORY_MC;
}

bool has_no_look(utf8proc_category_t category) {
  switch (category) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return false;
  }
}

/// A character that is not a mark, as it is shown.
visible_text shown(std::int32_t code_point, std::string_view bytes) {
  switch (code_point) {
    case ' ':
      return {"\u2423", 1};
    case '\n':
      return {"\u21b5", 1};
    case '\t':
      return {"\u21e5", 1};
    case 0x7f:
      return {"\u2421", 1};
    default:
      break;
  }
  if (code_point < 0x20) return {encoded(0x2400 + code_point), 1};
  if (has_no_look(utf8proc_category(code_point))) {
    std::string text = fmt::format("\\u{{{:x}}}", code_point);
    std::size_t const cells = text.size();
    return {std::move(text), cells};
  }
  return {std::string(bytes), utf8proc_charwidth(code_point) == 2 ? 2U : 1U};
}

}  // namespace

visible_text make_visible(std::string_view bytes, std::size_t most_cells) {
  std::string const text = llm::replace_ill_formed(bytes);
  visible_text whole;
  visible_text cut;  // What is kept when an ellipsis has to follow.
  bool cut_open = true;
  bool has_base = false;
  int marks = 0;
  auto const append = [&](visible_text const& piece, bool is_base) {
    whole.text += piece.text;
    whole.cells += piece.cells;
    if (is_base) cut_open = cut_open && whole.cells < most_cells;
    if (cut_open) cut = whole;
  };
  for_each_character(text, [&](std::int32_t code_point, std::string_view character) {
    if (whole.cells > most_cells) return;
    if (is_mark(utf8proc_category(code_point))) {
      if (!has_base) append({"\u25cc", 1}, true);
      has_base = true;
      if (++marks <= most_marks) append({std::string(character), 0}, false);
      return;
    }
    marks = 0;
    visible_text const piece = shown(code_point, character);
    has_base = piece.text == character;
    append(piece, true);
  });
  if (whole.cells <= most_cells) return whole;
  cut.text += "\u2026";
  cut.cells += 1;
  return cut;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for_each_character(
      llm::replace_ill_formed(text), [&](std::int32_t code_point, std::string_view character) {
        bool const forbidden = (code_point < 0x20 && code_point != '\n' && code_point != '\t') ||
                               code_point == 0xfffe || code_point == 0xffff;
        if (forbidden) {
          escaped += "\ufffd";
        } else if (code_point == '<') {
          escaped += "&lt;";
        } else if (code_point == '>') {
          escaped += "&gt;";
        } else if (code_point == '&') {
          escaped += "&amp;";
        } else if (code_point == '"') {
          escaped += "&quot;";
        } else {
          escaped += character;
        }
      });
  return escaped;
}

}  // namespace cli
