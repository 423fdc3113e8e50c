// Natural logarithms of probabilities, by one fixed sequence of correctly rounded operations.
#pragma once

#include <bit>
#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/distribution/fixed_point.hpp"
#include "tev/distribution/logit_key.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/distribution/softmax_rows.hpp"

namespace tev {

/// ln(x) for a normal x > 0, to about 2 units in the last place; the same bits everywhere.
[[nodiscard]] TEV_HOST_DEVICE inline double natural_log(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh((m - 1) / (m + 1)).
  auto const bits = std::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcdu;
  std::uint64_t const above = bits - sqrt_half;
  auto const exponent = static_cast<std::int32_t>(static_cast<std::int64_t>(above) >> 52);
  double const m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));
  double const s = detail::pinned((m - 1.0) / (m + 1.0));
  double const square = detail::product(s, s);
  double series = 1.0 / 23;
  for (std::int32_t odd = 21; odd >= 1; odd -= 2)
    series = detail::sum(detail::product(series, square), 1.0 / odd);
  constexpr double ln_2 = 0.693147180559945309417;
  return detail::sum(detail::product(static_cast<double>(exponent), ln_2),
                     detail::product(2.0 * s, series));
}

/// ln of token x's probability after node v, mass(v, x) / total(v): what the draws follow.
/// -infinity for a token without mass. Row v has to be prepared.
template <distribution Distribution>
[[nodiscard]] TEV_HOST_DEVICE float log_probability(Distribution const& rows, node_id v,
                                                    token_id x) {
  auto const mass = rows.mass(v, x);
  if (mass == 0) return bits_float(0xff800000u);
  return static_cast<float>(
      natural_log(static_cast<double>(mass) / static_cast<double>(rows.total(v))));
}

/// ln of token x's softmax probability at temperature 1 under the logits as they are, however far
/// below the maximum; NaN when the row is not `ok`. `rows` has the default parameters, neither
/// bitmask nor bias, and row v prepared.
template <logit Logit>
[[nodiscard]] TEV_HOST_DEVICE float raw_log_probability(softmax_rows<Logit> const& rows, node_id v,
                                                        token_id x) {
  if (rows.row_status(v) != status::ok) return bits_float(0x7fc00000u);
  logit_key const maximum = rows.summaries[v].masses.maximum;
  double const below =
      static_cast<double>(to_float(rows.source.logits[rows.source.element(v, x)])) -
      static_cast<double>(logit_of(maximum));
  return static_cast<float>(below - natural_log(static_cast<double>(rows.total(v)) * 0x1p-40));
}

}  // namespace tev
