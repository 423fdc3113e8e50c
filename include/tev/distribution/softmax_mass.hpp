// Mass as a function of a logit's key, for a row whose maximum is known.
#pragma once

#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"
#include "tev/distribution/fixed_point.hpp"
#include "tev/distribution/logit_key.hpp"

namespace tev {

/// Key -> mass: floor(2^40 * 2^-d), d = (maximum - logit) log2(e) / T, and 2^40 at the maximum.
/// Monotone in the key. Not for temperature 0.
struct softmax_mass {
  logit_key maximum = forbidden_key;  ///< Of the row; neither of the special keys.
  octave_scale scale{};

  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t operator()(logit_key key) const {
    if (key == maximum) return top_mass;
    if (key == forbidden_key) return 0;
    return mass_of_octaves(octaves_below(logit_of(maximum), logit_of(key), scale));
  }

  /// The lowest key of at least this mass, mass in [1, 2^40]. 32 masses are computed.
  [[nodiscard]] TEV_HOST_DEVICE logit_key lowest_key(std::uint64_t mass) const {
    logit_key first = key_of(bits_float(0xff7fffffu)), last = maximum;
    while (first < last) {
      logit_key const middle = first + (last - first) / 2;
      if ((*this)(middle) < mass)
        first = middle + 1;
      else
        last = middle;
    }
    return last;
  }
};

}  // namespace tev
