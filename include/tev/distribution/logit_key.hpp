// Logits as integers in their order.
#pragma once

#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"

namespace tev {

/// An unsigned integer in the order of the logits. `forbidden_key` for -infinity, `invalid_key` for
/// NaN and +infinity, so that the largest key of a row tells its status. Both zeros share a key.
using logit_key = std::uint32_t;

inline constexpr logit_key forbidden_key = 0;
inline constexpr logit_key invalid_key = 0xffffffffu;

/// The key of a logit.
[[nodiscard]] TEV_HOST_DEVICE constexpr logit_key key_of(float logit) {
  std::uint32_t const bits = float_bits(logit);
  if (bits == 0xff800000u) return forbidden_key;
  if (!is_finite(logit)) return invalid_key;
  if (magnitude_bits(logit) == 0) return 0x80000000u;
  // All bits of a negative number are turned, of another only the sign: no branch on the sign.
  return bits ^ (static_cast<std::uint32_t>(-static_cast<std::int32_t>(bits >> 31)) | 0x80000000u);
}

/// The logit of a key other than the two special ones; +0.0 for either zero.
[[nodiscard]] TEV_HOST_DEVICE constexpr float logit_of(logit_key key) {
  return bits_float(key ^ (((key >> 31) - 1u) | 0x80000000u));
}

}  // namespace tev
