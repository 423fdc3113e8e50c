// Generators of text that is hard on tokenizers: every plane, marks, white space, pieces of bytes.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <vector>

namespace llm_test {

/// Returns the UTF-8 of a Unicode scalar value.
inline std::string utf8_of(std::uint32_t point) {
  auto const tail = [](std::uint32_t bits) { return static_cast<char>(0x80U | (bits & 0x3fU)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0U | point >> 6), tail(point)};
  if (point < 0x10000) {
    return {static_cast<char>(0xe0U | point >> 12), tail(point >> 6), tail(point)};
  }
  return {static_cast<char>(0xf0U | point >> 18), tail(point >> 12), tail(point >> 6), tail(point)};
}

/// A scalar value, mostly from ranges that a tokenizer treats in a special way.
inline rc::Gen<std::uint32_t> any_point() {
  using rc::gen::inRange;
  return rc::gen::weightedOneOf<std::uint32_t>(
      {{8, inRange<std::uint32_t>(0x20, 0x7f)},
       {3, rc::gen::element<std::uint32_t>(' ', '\n', '\r', '\t', '\'', 0x85, 0xa0, 0x180e, 0x2028,
                                           0x3000)},
       {2, inRange<std::uint32_t>(0, 0x250)},
       {2, inRange<std::uint32_t>(0x300, 0x370)},
       {1, inRange<std::uint32_t>(0x1100, 0x1200)},
       {1, inRange<std::uint32_t>(0xac00, 0xd7a4)},
       {1, inRange<std::uint32_t>(0x370, 0xd800)},
       {1, inRange<std::uint32_t>(0xe000, 0x10000)},
       {1, inRange<std::uint32_t>(0x10000, 0x110000)}});
}

/// Well-formed UTF-8.
inline rc::Gen<std::string> any_text() {
  return rc::gen::map(rc::gen::container<std::vector<std::uint32_t>>(any_point()),
                      [](std::vector<std::uint32_t> const& points) {
                        std::string text;
                        for (std::uint32_t const point : points) text += utf8_of(point);
                        return text;
                      });
}

/// Bytes that are often almost UTF-8.
inline rc::Gen<std::string> any_bytes() {
  auto const piece = rc::gen::weightedOneOf<std::string>(
      {{2, rc::gen::map(any_point(), utf8_of)},
       {2, rc::gen::map(rc::gen::inRange(0, 256),
                        [](int byte) { return std::string{static_cast<char>(byte)}; })},
       {1, rc::gen::map(any_point(), [](std::uint32_t point) {
          std::string text = utf8_of(point);
          if (text.size() > 1) text.pop_back();
          return text;
        })}});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](std::vector<std::string> const& pieces) {
                        std::string bytes;
                        for (std::string const& part : pieces) bytes += part;
                        return bytes;
                      });
}

}  // namespace llm_test
