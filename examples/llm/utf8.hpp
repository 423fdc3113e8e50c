// UTF-8: finding what is ill-formed, replacing it, and canonical composition.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace llm {

/// What stands at the beginning of some bytes.
enum class utf8_kind {
  complete,    ///< one well-formed sequence
  ill_formed,  ///< bytes that no continuation can make well-formed
  incomplete   ///< all bytes there are, a proper prefix of some well-formed sequence
};

/// A beginning of `length` bytes, at least 1. An ill-formed one is a maximal subpart in the sense
/// of the Unicode Standard (section 3.9): what one U+FFFD replaces.
struct utf8_step {
  utf8_kind kind;
  std::size_t length;
};

/// Returns what stands at the beginning of `bytes`, which must not be empty. Constant time.
[[nodiscard]] utf8_step next_utf8(std::string_view bytes);

/// Returns the offset of the first byte that is not part of a well-formed sequence, if any.
[[nodiscard]] std::optional<std::size_t> first_ill_formed(std::string_view bytes);

/// Appends to `text` what of `bytes` is decided: well-formed sequences as they are and U+FFFD for
/// each ill-formed one. Returns the rest, at most 3 bytes that more bytes may complete.
[[nodiscard]] std::string_view append_decided(std::string_view bytes, std::string& text);

/// Returns `bytes` with each ill-formed sequence, also one cut off by the end, replaced by U+FFFD.
[[nodiscard]] std::string replace_ill_formed(std::string_view bytes);

/// Returns the canonical composition (NFC) of well-formed `text`. Linear but for the sorting of
/// runs of combining marks. Throws `error` for ill-formed text.
[[nodiscard]] std::string to_nfc(std::string_view text);

}  // namespace llm
