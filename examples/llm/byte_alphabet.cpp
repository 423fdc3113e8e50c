// The byte alphabet, computed once.
#include "byte_alphabet.hpp"

#include <array>

namespace llm {
namespace {

// The letters of the 68 bytes without a visible character follow the 256 Latin-1 ones.
constexpr std::size_t letters = 256 + 68;

constexpr bool is_visible(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct alphabet {
  std::array<char32_t, 256> letter{};
  std::array<std::int16_t, letters> byte{};
};

constexpr alphabet make_alphabet() {
  alphabet made;
  made.byte.fill(-1);
  char32_t next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    char32_t const letter = is_visible(byte) ? byte : next++;
    made.letter[byte] = letter;
    made.byte[letter] = static_cast<std::int16_t>(byte);
  }
  return made;
}

constexpr alphabet gpt2 = make_alphabet();

}  // namespace

char32_t letter_of_byte(std::uint8_t byte) { return gpt2.letter[byte]; }

std::optional<std::string> bytes_of_letters(std::string_view token) {
  std::string bytes;
  for (std::size_t i = 0; i < token.size(); ++i) {
    unsigned point = static_cast<unsigned char>(token[i]);
    // All letters lie below U+0800, so two bytes are the longest sequence.
    if (point >= 0x80) {
      if (point < 0xc0 || point >= 0xe0 || ++i == token.size()) return std::nullopt;
      point = (point & 0x1fU) << 6 | (static_cast<unsigned char>(token[i]) & 0x3fU);
    }
    if (point >= letters || gpt2.byte[point] < 0) return std::nullopt;
    bytes += static_cast<char>(gpt2.byte[point]);
  }
  return bytes;
}

}  // namespace llm
