// Bits of single-precision numbers. Order and finiteness are tested on them, so that no compiler
// flag and no rounding mode can change the answer.
#pragma once

#include <bit>
#include <cstdint>

#include "tev/core/host_device.hpp"

namespace tev {

/// The 32 bits of a float.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::uint32_t float_bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

/// The float with these 32 bits.
[[nodiscard]] TEV_HOST_DEVICE constexpr float bits_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

/// The bits of |x|: 0 for both zeros, larger for larger magnitudes, 0x7f800000 at infinity.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::uint32_t magnitude_bits(float x) {
  return float_bits(x) & 0x7fffffffu;
}

/// True for every number that is neither NaN nor infinite.
[[nodiscard]] TEV_HOST_DEVICE constexpr bool is_finite(float x) {
  return magnitude_bits(x) < 0x7f800000u;
}

/// True for numbers below zero; -0.0 and NaN are not.
[[nodiscard]] TEV_HOST_DEVICE constexpr bool is_negative(float x) {
  return (float_bits(x) >> 31) != 0 && magnitude_bits(x) != 0 && magnitude_bits(x) <= 0x7f800000u;
}

}  // namespace tev
