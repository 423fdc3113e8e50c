// 128-bit products of 64-bit numbers: the two divisions that every decision of tev comes down to.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"

namespace tev {

/// An unsigned 128-bit integer; a compiler extension that g++, clang and nvcc share.
__extension__ using uint128 = unsigned __int128;

/// floor(a * b / c), for b <= c and c > 0, so that the result is at most `a`.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t multiply_divide(std::uint64_t a,
                                                                      std::uint64_t b,
                                                                      std::uint64_t c) {
  return static_cast<std::uint64_t>(static_cast<uint128>(a) * b / c);
}

/// floor(u * n) for the fraction u = (high * 2^64 + low) / 2^128 in [0, 1); the result is below n.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t scale_fraction(std::uint64_t high,
                                                                     std::uint64_t low,
                                                                     std::uint64_t n) {
  uint128 const carried = (static_cast<uint128>(low) * n) >> 64;
  return static_cast<std::uint64_t>((static_cast<uint128>(high) * n + carried) >> 64);
}

}  // namespace tev
