// visible_text: a token's bytes as a short text in which every character can be seen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cli {

/// A text and the cells it takes in a fixed-width font: 2 for wide characters, 0 for marks.
struct visible_text {
  std::string text;
  std::size_t cells = 0;
};

/// Returns well-formed UTF-8 that shows every character of `bytes`: a space as U+2423, a line feed
/// as U+21B5, a tab as U+21E5, other controls as their pictures, and what has no look of its own
/// (format characters, odd spaces, unassigned and private code points) as \u{..}. Ill-formed bytes
/// become U+FFFD, a mark without a base gets a dotted circle, and marks beyond the third on one
/// base are left out.
///
/// A text wider than `most_cells`, at least 2, ends in an ellipsis and is then at most that wide; a
/// character is kept with its marks or not at all. Linear in the bytes.
[[nodiscard]] visible_text make_visible(std::string_view bytes, std::size_t most_cells);

/// Returns `text` with the characters that mean something to XML spelt as entities and those that
/// XML forbids (most controls, U+FFFE, U+FFFF, ill-formed bytes) as U+FFFD. Linear.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace cli
