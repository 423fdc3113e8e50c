// How a request wants its tokens sampled.
#pragma once

#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/wide.hpp"

namespace tev {

/// Temperature and filters of one request; the defaults filter nothing.
///
/// The filters are applied in this order: temperature, top-k, top-p on the row renormalised after
/// top-k, min-p on what is left. Tokens are ranked by larger logit, then lower id, so each filter
/// keeps a prefix of that order and all of them together are one cut. At least one token stays.
struct sampling_parameters {
  float temperature = 1.0f;  ///< In [0, inf). 0 puts all mass on the lowest most probable token.
  std::int32_t top_k = 0;    ///< Tokens kept; below 1, or at least the vocabulary: all of them.
  float top_p = 1.0f;  ///< In [0, inf). Keeps the least prefix whose share reaches it; >= 1: all.
  float min_p = 0.0f;  ///< In [0, 1]. Keeps masses of at least this share of the largest.

  friend bool operator==(sampling_parameters const&, sampling_parameters const&) = default;
};

/// Whether every parameter lies in its range; a request for which this is false is
/// `bad_parameter`, whatever its mode.
[[nodiscard]] TEV_HOST_DEVICE constexpr bool is_valid(sampling_parameters const& s) {
  auto const usable = [](float x) { return is_finite(x) && !is_negative(x); };
  return usable(s.temperature) && usable(s.top_p) && usable(s.min_p) &&
         magnitude_bits(s.min_p) <= float_bits(1.0f);
}

/// Whether all mass goes to one token: temperature 0 or -0.0, and nothing else.
[[nodiscard]] TEV_HOST_DEVICE constexpr bool is_greedy(sampling_parameters const& s) {
  return magnitude_bits(s.temperature) == 0;
}

/// ceil(share * n) for a finite share in [0, 1], exactly, from the bits of the share.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t ceil_share(float share, std::uint64_t n) {
  std::uint32_t const bits = magnitude_bits(share);
  std::uint32_t const exponent = bits >> 23;
  std::uint64_t const fraction = (bits & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0u);
  // share = fraction * 2^-shift.
  std::uint32_t const shift = 150 - (exponent != 0 ? exponent : 1);
  uint128 const scaled = static_cast<uint128>(fraction) * n;
  if (shift >= 100) return scaled != 0 ? 1 : 0;  // below 2^88, so below 1 after the shift
  uint128 const unit = static_cast<uint128>(1) << shift;
  return static_cast<std::uint64_t>((scaled + (unit - 1)) >> shift);
}

}  // namespace tev
