// Elementary functions as fixed sequences of correctly rounded operations, the same bits
// everywhere.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "lanes.hpp"

namespace llm {

namespace detail {

template <class Number>
using words_of = std::conditional_t<std::is_same_v<Number, float>, std::uint32_t, word_lanes>;

/// `value` as a Number: itself, or in every lane.
template <class Number>
[[nodiscard]] inline Number constant(float value) noexcept {
  if constexpr (std::is_same_v<Number, float>) {
    return value;
  } else {
    return splat(value);
  }
}

/// pi / 2 as the sum of two doubles.
inline constexpr double half_pi_high = 0x1.921fb54442d18p+0;
inline constexpr double half_pi_low = 0x1.1a62633145c07p-54;
/// ln 2 as the sum of two doubles; the first has 32 trailing zeros, so small multiples are exact.
inline constexpr double ln2_high = 0x1.62e42feep-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;

/// Adding and subtracting 1.5 * 2^52 rounds a double of less than 2^51 to the nearest integer.
inline constexpr double round_double = 0x1.8p+52;

}  // namespace detail

/// e^x for `float` or `lanes`, with the same bits in either. Relative error below 2^-23 where the
/// result is a normal number; 0 below -87.33654 and infinity above 88.72283; NaN stays NaN.
template <class Number>
[[nodiscard]] inline Number exp(Number x) noexcept {
  using words = detail::words_of<Number>;
  auto const c = [](float value) { return detail::constant<Number>(value); };

  // x = n ln 2 + r with |r| <= ln(2) / 2; the low bits of `rounded` hold n.
  Number const rounded = fma(x, c(0x1.715476p+0F), c(0x1.8p+23F));
  Number const n = rounded - c(0x1.8p+23F);
  Number r = fma(n, c(-0x1.62e4p-1F), x);
  r = fma(n, c(-0x1.7f7d1cp-20F), r);

  // Taylor up to r^7 / 7!, 1 + r added last.
  Number tail = c(0x1.a01a02p-13F);
  tail = fma(tail, r, c(0x1.6c16c2p-10F));
  tail = fma(tail, r, c(0x1.111112p-7F));
  tail = fma(tail, r, c(0x1.555556p-5F));
  tail = fma(tail, r, c(0x1.555556p-3F));
  tail = fma(tail, r, c(0.5F));
  Number const mantissa = fma(r * r, tail, r) + c(1.0F);

  words const scaled = std::bit_cast<words>(mantissa) + (std::bit_cast<words>(rounded) << 23);
  Number result = std::bit_cast<Number>(scaled);
  result = x < c(-0x1.5d589ep+6F) ? c(0.0F) : result;
  result = x > c(0x1.62e42ep+6F) ? c(std::numeric_limits<float>::infinity()) : result;
  return x == x ? result : x;
}

/// x / (1 + e^-x), the activation of the feed-forward layer, for `float` or `lanes` with equal
/// bits.
template <class Number>
[[nodiscard]] inline Number silu(Number x) noexcept {
  return x / (detail::constant<Number>(1.0F) + exp(-x));
}

/// Sine and cosine of one angle.
struct sine_cosine {
  float sine;
  float cosine;
};

/// Sine and cosine of an angle in radians, |angle| <= 2^26, rounded from a result in double whose
/// error is below 2^-45.
[[nodiscard]] inline sine_cosine sin_cos(float angle) noexcept {
  double const x = angle;
  double const rounded = fma(x, 0x1.45f306dc9c883p-1, detail::round_double);
  double const n = rounded - detail::round_double;
  double r = fma(-n, detail::half_pi_high, x);
  r = fma(-n, detail::half_pi_low, r);
  double const square = r * r;

  double s = 1.0 / 6227020800.0;
  s = fma(s, square, -1.0 / 39916800.0);
  s = fma(s, square, 1.0 / 362880.0);
  s = fma(s, square, -1.0 / 5040.0);
  s = fma(s, square, 1.0 / 120.0);
  s = fma(s, square, -1.0 / 6.0);
  double const sine = fma(s * square, r, r);

  double t = -1.0 / 87178291200.0;
  t = fma(t, square, 1.0 / 479001600.0);
  t = fma(t, square, -1.0 / 3628800.0);
  t = fma(t, square, 1.0 / 40320.0);
  t = fma(t, square, -1.0 / 720.0);
  t = fma(t, square, 1.0 / 24.0);
  t = fma(t, square, -0.5);
  double const cosine = fma(t, square, 1.0);

  bool const swapped = (std::bit_cast<std::uint64_t>(rounded) & 1U) != 0;
  bool const negate_sine = (std::bit_cast<std::uint64_t>(rounded) & 2U) != 0;
  bool const negate_cosine = negate_sine != swapped;
  double const a = swapped ? cosine : sine;
  double const b = swapped ? sine : cosine;
  return {static_cast<float>(negate_sine ? -a : a), static_cast<float>(negate_cosine ? -b : b)};
}

/// Natural logarithm of a normal positive double, relative error below 2^-48 away from 1.
[[nodiscard]] inline double log(double x) noexcept {
  auto const bits = std::bit_cast<std::uint64_t>(x);
  // m in [0.7, 1.4): the exponent is counted from the bits of sqrt(1/2).
  std::uint64_t const shifted = bits - 0x3fe6a09e667f3bcdU;
  auto const exponent = static_cast<std::int64_t>(shifted) >> 52;
  double const m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));

  double const s = (m - 1.0) / (m + 1.0);
  double const square = s * s;
  double series = 1.0 / 23.0;
  for (int odd = 21; odd >= 1; odd -= 2) series = fma(series, square, 1.0 / odd);
  auto const e = static_cast<double>(exponent);
  return fma(e, detail::ln2_high, fma(e, detail::ln2_low, 2.0 * s * series));
}

/// base^exponent for a normal positive base and a result in the normal range, relative error below
/// 2^-44.
[[nodiscard]] inline double power(double base, double exponent) noexcept {
  double const y = exponent * log(base);
  double const rounded = fma(y, 0x1.71547652b82fep+0, detail::round_double);
  double const n = rounded - detail::round_double;
  double r = fma(-n, detail::ln2_high, y);
  r = fma(-n, detail::ln2_low, r);
  double series = 1.0;
  for (int i = 14; i >= 1; --i) series = fma(series, r / i, 1.0);
  auto const bits =
      std::bit_cast<std::uint64_t>(series) + (std::bit_cast<std::uint64_t>(rounded) << 52);
  return std::bit_cast<double>(bits);
}

}  // namespace llm
