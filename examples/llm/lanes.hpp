// Eight fp32 numbers side by side, in the compiler's vector extension.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__FMA__) && defined(__AVX__)
#include <immintrin.h>
#endif

namespace llm {

/// Eight fp32 numbers; arithmetic acts on each.
using lanes = float __attribute__((vector_size(32)));
/// Eight 32-bit words, the bits of `lanes`.
using word_lanes = std::uint32_t __attribute__((vector_size(32)));

inline constexpr std::int64_t lane_count = 8;

/// `value` in every lane.
[[nodiscard]] inline lanes splat(float value) noexcept {
  return lanes{value, value, value, value, value, value, value, value};
}

/// Eight consecutive floats, of any alignment.
[[nodiscard]] inline lanes load(float const* from) noexcept {
  lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline void store(float* to, lanes value) noexcept { std::memcpy(to, &value, sizeof value); }

/// a * b + c with one rounding.
[[nodiscard]] inline float fma(float a, float b, float c) noexcept {
  return __builtin_fmaf(a, b, c);
}
[[nodiscard]] inline double fma(double a, double b, double c) noexcept {
  return __builtin_fma(a, b, c);
}
[[nodiscard]] inline lanes fma(lanes a, lanes b, lanes c) noexcept {
#if defined(__FMA__) && defined(__AVX__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__clang__)
  return __builtin_elementwise_fma(a, b, c);
#else
  lanes value;
  for (int i = 0; i < 8; ++i) value[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return value;
#endif
}

/// Sum of the lanes in a fixed order: halves, quarters, pairs.
[[nodiscard]] inline float sum(lanes v) noexcept {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/// Greatest lane; meant for numbers, not for NaN.
[[nodiscard]] inline float maximum(lanes v) noexcept {
  float greatest = v[0];
  for (int i = 1; i < 8; ++i) greatest = v[i] > greatest ? v[i] : greatest;
  return greatest;
}

/// Lane by lane the greater of two numbers.
[[nodiscard]] inline lanes maximum(lanes a, lanes b) noexcept { return a > b ? a : b; }

}  // namespace llm
