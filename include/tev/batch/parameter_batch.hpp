// What each request of a batch asks for.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/sampling_parameters.hpp"
#include "tev/verify/finish.hpp"

namespace tev {

/// Parameters in caller-owned arrays [requests]. A null array stands for the default everywhere.
///
/// A request's randomness is named by (seed, request, position): two requests that share all three
/// draw the same numbers. The slot in the batch plays no part.
struct parameter_batch {
  float const* temperature = nullptr;       ///< Default 1.
  std::int32_t const* top_k = nullptr;      ///< Default 0: off.
  float const* top_p = nullptr;             ///< Default 1: off.
  float const* min_p = nullptr;             ///< Default 0: off.
  std::uint64_t const* seed = nullptr;      ///< Required.
  std::uint64_t const* request = nullptr;   ///< Default 0.
  std::uint32_t const* position = nullptr;  ///< Sequence position of the root; required.

  /// Tokens that may still be emitted; default: no limit. Below 0 counts as 0.
  std::int64_t const* remaining = nullptr;

  /// Stop ids of request b: stop[stop_offset[b] .. stop_offset[b + 1]); ids below 0 are padding.
  std::int32_t const* stop_offset = nullptr;  ///< [requests + 1]
  token_id const* stop = nullptr;             ///< [stop_offset[requests]]

  /// Temperature and filters of request b.
  [[nodiscard]] TEV_HOST_DEVICE constexpr sampling_parameters sampling(std::int32_t b) const {
    sampling_parameters s;
    if (temperature != nullptr) s.temperature = temperature[b];
    if (top_k != nullptr) s.top_k = top_k[b];
    if (top_p != nullptr) s.top_p = top_p[b];
    if (min_p != nullptr) s.min_p = min_p[b];
    return s;
  }

  /// When request b ends.
  [[nodiscard]] TEV_HOST_DEVICE constexpr stop_rule rule(std::int32_t b) const {
    stop_rule r;
    if (remaining != nullptr) r.remaining = remaining[b];
    if (stop_offset != nullptr) {
      r.stop = stop + stop_offset[b];
      r.stop_count = stop_offset[b + 1] - stop_offset[b];
    }
    return r;
  }
};

}  // namespace tev
