// Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011).
#pragma once

#include <array>
#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/wide.hpp"
#include "tev/random/concept.hpp"

namespace tev {

/// The stateless default source: key = seed (low word, high word), counter = request low, request
/// high, position, purpose << 24 | index; u is the 128-bit result, word 3 most significant.
struct philox {
  using block = std::array<std::uint32_t, 4>;

  std::uint64_t seed = 0;

  /// The ten rounds on one counter; `Random123`'s known answers hold.
  [[nodiscard]] TEV_HOST_DEVICE static constexpr block rounds(block c, std::uint32_t key0,
                                                              std::uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
      std::uint64_t const a = std::uint64_t{0xD2511F53u} * c[0];
      std::uint64_t const b = std::uint64_t{0xCD9E8D57u} * c[2];
      c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<std::uint32_t>(b),
           static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1, static_cast<std::uint32_t>(a)};
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    return c;
  }

  /// floor(u n) in [0, n), without a loop; the bias is below 2^-64 even at n = 2^62. 0 for n = 0.
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t below(decision d, std::uint64_t n) const {
    block const u =
        rounds({static_cast<std::uint32_t>(d.request), static_cast<std::uint32_t>(d.request >> 32),
                d.position, static_cast<std::uint32_t>(d.what) << 24 | (d.index & 0xffffffu)},
               static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    return scale_fraction(std::uint64_t{u[3]} << 32 | u[2], std::uint64_t{u[1]} << 32 | u[0], n);
  }
};

static_assert(uniform_source<philox>);

}  // namespace tev
