// UTF-8 by the table of well-formed sequences; composition with utf8proc.
#include "utf8.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "error.hpp"

namespace llm {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}

/// The length a lead byte announces and the range of the byte after it; length 0: no lead byte.
struct lead_rule {
  std::size_t length;
  unsigned least;
  unsigned most;
};

lead_rule rule_of(unsigned lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xc2 || lead > 0xf4) return {0, 0, 0};
  if (lead < 0xe0) return {2, 0x80, 0xbf};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead < 0xf0) return {3, 0x80, 0xbf};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {4, 0x80, 0xbf};
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Returns the canonical decomposition of `text`, marks not yet in canonical order.
std::vector<utf8proc_int32_t> decompose(std::string_view text) {
  constexpr auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  std::vector<utf8proc_int32_t> points;
  points.reserve(text.size());
  std::array<utf8proc_int32_t, 64> parts{};
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t point = 0;
    auto const read = utf8proc_iterate(reinterpret_cast<utf8proc_uint8_t const*>(text.data()) + at,
                                       static_cast<utf8proc_ssize_t>(text.size() - at), &point);
    if (read <= 0) throw make_error("text: byte {} is not valid UTF-8", at);
    int boundary = 0;
    auto const count =
        utf8proc_decompose_char(point, parts.data(), parts.size(), options, &boundary);
    if (count < 0 || static_cast<std::size_t>(count) > parts.size()) {
      throw make_error("text: U+{:04X} cannot be normalised", static_cast<unsigned>(point));
    }
    points.insert(points.end(), parts.begin(), parts.begin() + count);
    at += static_cast<std::size_t>(read);
  }
  return points;
}

/// Sorts each run of combining marks by class, equal classes staying in order.
///
/// utf8proc does this with exchanges of neighbours, quadratic in the run; hence here.
void order_marks(std::vector<utf8proc_int32_t>& points) {
  auto const rank = [](utf8proc_int32_t point) {
    return utf8proc_get_property(point)->combining_class;
  };
  for (auto at = points.begin(); at != points.end();) {
    at = std::find_if(at, points.end(), [&](auto point) { return rank(point) != 0; });
    auto const end = std::find_if(at, points.end(), [&](auto point) { return rank(point) == 0; });
    std::stable_sort(at, end, [&](auto left, auto right) { return rank(left) < rank(right); });
    at = end;
  }
}

}  // namespace

utf8_step next_utf8(std::string_view bytes) {
  lead_rule const rule = rule_of(byte_at(bytes, 0));
  if (rule.length == 0) return {utf8_kind::ill_formed, 1};
  for (std::size_t i = 1; i < rule.length; ++i) {
    if (i == bytes.size()) return {utf8_kind::incomplete, i};
    unsigned const least = i == 1 ? rule.least : 0x80;
    unsigned const most = i == 1 ? rule.most : 0xbf;
    if (byte_at(bytes, i) < least || byte_at(bytes, i) > most) return {utf8_kind::ill_formed, i};
  }
  return {utf8_kind::complete, rule.length};
}

std::optional<std::size_t> first_ill_formed(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    utf8_step const step = next_utf8(bytes.substr(at));
    if (step.kind != utf8_kind::complete) return at;
    at += step.length;
  }
  return std::nullopt;
}

std::string_view append_decided(std::string_view bytes, std::string& text) {
  while (!bytes.empty()) {
    utf8_step const step = next_utf8(bytes);
    if (step.kind == utf8_kind::incomplete) return bytes;
    text += step.kind == utf8_kind::complete ? bytes.substr(0, step.length) : replacement;
    bytes.remove_prefix(step.length);
  }
  return bytes;
}

std::string replace_ill_formed(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  if (!append_decided(bytes, text).empty()) text += replacement;
  return text;
}

std::string to_nfc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  std::vector<utf8proc_int32_t> points = decompose(text);
  order_marks(points);
  auto const count =
      utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (count < 0) throw make_error("text: cannot be normalised: {}", utf8proc_errmsg(count));
  points.resize(static_cast<std::size_t>(count));
  std::string composed;
  composed.reserve(text.size());
  for (utf8proc_int32_t const point : points) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    auto const length = utf8proc_encode_char(point, bytes.data());
    composed.append(reinterpret_cast<char const*>(bytes.data()), static_cast<std::size_t>(length));
  }
  return composed;
}

}  // namespace llm
