// Random numbers that the caller has drawn, in place of a generator.
#pragma once

#include <bit>
#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/wide.hpp"
#include "tev/random/concept.hpp"
#include "tev/random/philox.hpp"

namespace tev {

/// A number u in [0, 1) in full: u = (high 2^64 + low) / 2^128.
struct unit_fraction {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend bool operator==(unit_fraction, unit_fraction) = default;
};

/// The largest number below 1.
[[nodiscard]] TEV_HOST_DEVICE constexpr unit_fraction below_one() {
  return {~std::uint64_t{0}, ~std::uint64_t{0}};
}

namespace detail {

// significand 2^(exponent - 128), rounded down, for a significand below 2^53.
[[nodiscard]] TEV_HOST_DEVICE constexpr unit_fraction scaled(std::uint64_t significand,
                                                             std::int32_t exponent) {
  if (exponent <= -64) return {};
  uint128 const wide = significand;
  uint128 const u = exponent < 0 ? wide >> -exponent : wide << exponent;
  return {static_cast<std::uint64_t>(u >> 64), static_cast<std::uint64_t>(u)};
}

}  // namespace detail

/// A caller's number as u. Numbers in [0, 1) are taken as they are, to 2^-128. What lies outside
/// is moved inside: NaN and everything below 0 is 0, everything from 1 on the largest below 1.
[[nodiscard]] TEV_HOST_DEVICE constexpr unit_fraction to_unit_fraction(float x) {
  std::uint32_t const bits = float_bits(x);
  if (bits > 0x7f800000u) return {};
  if (bits >= 0x3f800000u) return below_one();
  std::uint32_t const exponent = bits >> 23;
  std::uint32_t const significand = (bits & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0);
  auto const shift = static_cast<std::int32_t>(exponent != 0 ? exponent : 1) - 150;
  return detail::scaled(significand, 128 + shift);
}
/// The same for double precision.
[[nodiscard]] TEV_HOST_DEVICE constexpr unit_fraction to_unit_fraction(double x) {
  auto const bits = std::bit_cast<std::uint64_t>(x);
  if (bits > std::uint64_t{0x7ff} << 52) return {};
  if (bits >= std::uint64_t{0x3ff} << 52) return below_one();
  std::uint64_t const exponent = bits >> 52;
  std::uint64_t const significand =
      (bits & ((std::uint64_t{1} << 52) - 1)) | (exponent != 0 ? std::uint64_t{1} << 52 : 0);
  auto const shift = static_cast<std::int32_t>(exponent != 0 ? exponent : 1) - 1075;
  return detail::scaled(significand, 128 + shift);
}
/// A 64-bit number x as u = x / 2^64.
[[nodiscard]] TEV_HOST_DEVICE constexpr unit_fraction to_unit_fraction(std::uint64_t x) {
  return {x, 0};
}
/// A number that is given in full.
[[nodiscard]] TEV_HOST_DEVICE constexpr unit_fraction to_unit_fraction(unit_fraction x) {
  return x;
}

/// A source that answers one call of a verifier from the caller's numbers: float or double in
/// [0, 1), 64-bit fixed point, or `unit_fraction`.
///
/// The decision of `root_position` + k + 1, that is of the token after a node of depth k, is
/// numbers[k per_position + index] for the purposes `token` and `sibling`; the exit's is
/// numbers[0], and every residual's `bonus`. No verifier asks two of these for one number within a
/// call, so S1 to S3 hold for independent numbers, as finely as these are: 24 bits of a float
/// mean that probabilities below 2^-24 are not told apart. Whatever has no number of its own,
/// drafters' purposes included, is answered by `rest` and never out of range. The request of a
/// decision is not looked at: a batch has a source for each of its requests, and a next cycle
/// another one.
template <class Number>
struct replay {
  Number const* numbers = nullptr;  ///< [count]
  std::int64_t count = 0;
  Number bonus{};
  std::uint32_t root_position = 0;
  std::int32_t per_position = 1;  ///< Largest number of children, for `sequential_residual`.
  philox rest{};                  ///< For decisions that have no number here.

  /// floor(u n) in [0, n). 0 for n = 0.
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t below(decision d, std::uint64_t n) const {
    if (d.what == purpose::residual) return scaled(bonus, n);
    std::int64_t const slot = slot_of(d);
    return slot < 0 || slot >= count ? rest.below(d, n) : scaled(numbers[slot], n);
  }

  /// Where the number of a decision lies in `numbers`; -1 for one that is not answered from there.
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t slot_of(decision d) const {
    std::uint32_t const offset = d.position - root_position;
    if (d.what == purpose::exit) return offset == 0 && d.index == 0 ? 0 : -1;
    if (d.what != purpose::token && d.what != purpose::sibling) return -1;
    if (offset == 0 || per_position < 1 || d.index >= static_cast<std::uint32_t>(per_position))
      return -1;
    return static_cast<std::int64_t>(offset - 1) * per_position + d.index;
  }

 private:
  [[nodiscard]] TEV_HOST_DEVICE static constexpr std::uint64_t scaled(Number x, std::uint64_t n) {
    unit_fraction const u = to_unit_fraction(x);
    return scale_fraction(u.high, u.low, n);
  }
};

static_assert(uniform_source<replay<float>>);
static_assert(uniform_source<replay<std::uint64_t>>);

}  // namespace tev
