// IEEE half precision as a storage type.
#pragma once

#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"

namespace tev {

/// An IEEE 754 binary16 number. Only storage: arithmetic happens in float.
struct float16 {
  std::uint16_t bits = 0;

  friend bool operator==(float16, float16) = default;
};

/// The exact single-precision value; denormals, infinities and NaN included.
[[nodiscard]] TEV_HOST_DEVICE constexpr float to_float(float16 x) {
  std::uint32_t const sign = (x.bits & 0x8000u) << 16;
  std::uint32_t const exponent = (x.bits >> 10) & 31u;
  std::uint32_t const fraction = x.bits & 0x3ffu;
  if (exponent == 31) return bits_float(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
  // 2^-24 times an integer below 2^10: a normal single, so the product is exact.
  float const magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return bits_float(sign | float_bits(magnitude));
}

}  // namespace tev
