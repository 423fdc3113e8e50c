// The printable alphabet in which byte-level tokenizers write the 256 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llm {

/// Returns the code point that stands for `byte`: itself where Latin-1 has a visible character,
/// otherwise 256, 257, ... in the order of the bytes (GPT-2's bytes_to_unicode).
[[nodiscard]] char32_t letter_of_byte(std::uint8_t byte);

/// Returns the bytes that well-formed UTF-8 `token` stands for, or nothing when one of its
/// characters is not a letter of the alphabet.
[[nodiscard]] std::optional<std::string> bytes_of_letters(std::string_view token);

}  // namespace llm
