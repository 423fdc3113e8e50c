// The team of one thread.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/team/concept.hpp"

namespace tev {

/// One thread on its own: every collective is the identity.
struct serial_team {
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t rank() const { return 0; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t size() const { return 1; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t sum(std::uint64_t w) const { return w; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t max(std::uint64_t w) const { return w; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr bool any(bool b) const { return b; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr picked pick(std::uint64_t w, std::uint64_t r) const {
    return r < w ? picked{0, r} : picked{1, r - w};
  }
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t broadcast(std::uint64_t w,
                                                                  std::int32_t) const {
    return w;
  }
  TEV_HOST_DEVICE constexpr void barrier() const {}
};

static_assert(team<serial_team>);

}  // namespace tev
