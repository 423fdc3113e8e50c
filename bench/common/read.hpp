// The yardstick of every benchmark: one thread reads the same memory once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/// Reads every number once and returns a checksum of their bits. Four independent sums, so that
/// the memory and not an addition is what the loop waits for.
[[nodiscard]] inline std::uint32_t read_once(std::span<float const> memory) {
  std::size_t const quarter = memory.size() / 4;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  for (std::size_t i = 0; i < quarter; ++i) {
    a += std::bit_cast<std::uint32_t>(memory[i]);
    b += std::bit_cast<std::uint32_t>(memory[i + quarter]);
    c += std::bit_cast<std::uint32_t>(memory[i + 2 * quarter]);
    d += std::bit_cast<std::uint32_t>(memory[i + 3 * quarter]);
  }
  for (std::size_t i = 4 * quarter; i < memory.size(); ++i)
    a += std::bit_cast<std::uint32_t>(memory[i]);
  return a + b + c + d;
}

}  // namespace bench
