// What the probes share: checks, a generator of small numbers, exact fractions. No framework, so
// that a probe compiles in a second or two without optimisation, once for every mutant.
#pragma once

#include <cstdint>
#include <cstdio>
#include <utility>

#include "tev/core/wide.hpp"

namespace probe {

using tev::uint128;

inline bool failed = false;

// Prints the first check that fails.
inline void check(bool held, char const* what) {
  if (!held && !failed) std::printf("failed: %s\n", what);
  failed |= !held;
}

// Exit status of a probe.
inline int finish() {
  if (!failed) std::printf("passed\n");
  return failed ? 1 : 0;
}

struct generator {
  std::uint64_t state = 5;
  int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(n));
  }
};

// Fractions of 128-bit integers, always in lowest terms.
struct fraction {
  uint128 over = 0, under = 1;

  fraction() = default;
  fraction(uint128 a, uint128 b = 1) {
    uint128 x = a, y = b;
    while (y != 0) std::swap(x %= y, y);
    over = a / x;
    under = b / x;
  }
  friend fraction operator+(fraction a, fraction b) {
    fraction const scale(a.under, b.under);
    return {a.over * scale.under + b.over * scale.over, a.under * scale.under};
  }
  friend fraction operator-(fraction a, fraction b) {
    fraction const scale(a.under, b.under);
    return {a.over * scale.under - b.over * scale.over, a.under * scale.under};
  }
  friend fraction operator*(fraction a, fraction b) {
    fraction const c(a.over, b.under), d(b.over, a.under);
    return {c.over * d.over, c.under * d.under};
  }
  friend bool operator<(fraction a, fraction b) { return a.over * b.under < b.over * a.under; }
  friend bool operator==(fraction const&, fraction const&) = default;
  fraction& operator+=(fraction b) { return *this = *this + b; }
};

}  // namespace probe
