// Numbers of the conformance format: exact fractions, or numbers with a tolerance.
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "support/enumerating_source.hpp"

namespace conformance {

using tev_test::big_integer;
using tev_test::rational;

/// The nearest double.
[[nodiscard]] inline double to_double(rational const& x) { return x.convert_to<double>(); }

/// What an expected number with a tolerance may be off by.
inline constexpr double tolerance = 1e-6;

/// Probabilities below this may be reported as none, where numbers have a tolerance.
inline constexpr double negligible = 1e-9;

/// An expected number: a fraction that has to be met, or a number with a tolerance.
struct quantity {
  std::optional<rational> exact;
  double rounded = 0.0;

  [[nodiscard]] bool agrees(rational const& got) const {
    if (exact) return *exact == got;
    return std::abs(rounded - to_double(got)) <= tolerance;
  }
};

/// "num/den", or a number with as many digits as tell it apart.
[[nodiscard]] inline std::string text(rational const& x) {
  return numerator(x).str() + "/" + denominator(x).str();
}
[[nodiscard]] inline std::string text(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", x);
  return buffer;
}
[[nodiscard]] inline std::string text(quantity const& x) {
  return x.exact ? text(*x.exact) : text(x.rounded);
}

/// What was computed, in the form of what was expected.
[[nodiscard]] inline std::string text_like(quantity const& expected, rational const& got) {
  return expected.exact ? text(got) : text(to_double(got));
}

/// The bits of the longer of numerator and denominator.
[[nodiscard]] inline std::int64_t bits(rational const& x) {
  auto const length = [](big_integer const& n) -> std::int64_t {
    return n == 0 ? 0 : static_cast<std::int64_t>(msb(abs(n))) + 1;
  };
  return std::max(length(numerator(x)), length(denominator(x)));
}

}  // namespace conformance
