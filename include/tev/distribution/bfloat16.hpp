// The storage type of most checkpoints and logits.
#pragma once

#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"

namespace tev {

/// The upper half of a single-precision number. Only storage: arithmetic happens in float.
struct bfloat16 {
  std::uint16_t bits = 0;

  friend bool operator==(bfloat16, bfloat16) = default;
};

/// The exact single-precision value of a logit, whatever it is stored as.
[[nodiscard]] TEV_HOST_DEVICE constexpr float to_float(float x) { return x; }
[[nodiscard]] TEV_HOST_DEVICE constexpr float to_float(bfloat16 x) {
  return bits_float(std::uint32_t{x.bits} << 16);
}

}  // namespace tev
