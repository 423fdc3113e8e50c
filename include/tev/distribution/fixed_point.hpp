// Logit differences -> 64-bit masses, by one fixed sequence of correctly rounded operations.
//
// The same bits come from every compiler, optimisation level, instruction set and device, because
// each operation whose result feeds another is pinned: it can be neither contracted into a fused
// multiply-add nor reassociated.
#pragma once

#include <cstdint>

#include "tev/core/bits.hpp"
#include "tev/core/host_device.hpp"

// What of -ffast-math and its parts a compiler tells of; g++ tells of every part that could matter.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0)
#error "tev: masses need IEEE arithmetic; compile the files that include tev without -ffast-math"
#endif

namespace tev {

/// Mass of a row's largest logit: 2^40.
inline constexpr std::uint64_t top_mass = std::uint64_t{1} << 40;

namespace detail {

// The empty asm makes the value opaque: the compiler must round it, and can't merge it.
template <class Real>
TEV_HOST_DEVICE inline Real pinned(Real x) {
#if defined(__CUDA_ARCH__)
  return x;
#elif defined(__x86_64__)
  asm("" : "+x"(x));
  return x;
#elif defined(__aarch64__)
  asm("" : "+w"(x));
  return x;
#else
  Real volatile kept = x;
  return kept;
#endif
}

TEV_HOST_DEVICE inline float product(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return pinned(a * b);
#endif
}

TEV_HOST_DEVICE inline float sum(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(a, b);
#else
  return pinned(a + b);
#endif
}

TEV_HOST_DEVICE inline double product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return pinned(a * b);
#endif
}

TEV_HOST_DEVICE inline double sum(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
  return pinned(a + b);
#endif
}

}  // namespace detail

/// floor(2^40 * 2^-octaves) to a relative error of at most 2^-20 before the floor; exactly 2^40 at
/// 0, monotone over all floats, 0 from 41 octaves on and for NaN. octaves: >= 0, or +infinity.
[[nodiscard]] TEV_HOST_DEVICE inline std::uint64_t mass_of_octaves(float octaves) {
  if (!(octaves < 41.0f)) return 0;
  auto const whole = static_cast<std::int32_t>(octaves);
  float f = detail::sum(octaves, -static_cast<float>(whole));
  // With the lowest bit cleared f * c5 rounds the same way for neighbours; without it Horner's
  // scheme in single precision is not monotone.
  f = bits_float(float_bits(f) & ~1u);
  // 2^-f on [0, 1): value 1 at 0 and 1/2 at 1, so that octaves join without a step.
  constexpr float c1 = -0x1.62e3b2p-1f, c2 = 0x1.ebe20ap-3f, c3 = -0x1.c4eb2cp-5f,
                  c4 = 0x1.2d4322p-7f, c5 = -0x1.eca6fp-11f;
  float value = detail::sum(detail::product(f, c5), c4);
  value = detail::sum(detail::product(value, f), c3);
  value = detail::sum(detail::product(value, f), c2);
  value = detail::sum(detail::product(value, f), c1);
  value = detail::sum(detail::product(value, f), 1.0f);
  // Scaled by 2^(40 - whole) in the exponent, which is exact.
  std::uint32_t const shift = static_cast<std::uint32_t>(40 - whole) << 23;
  return static_cast<std::uint64_t>(bits_float(float_bits(value) + shift));
}

/// How differences of logits become octaves at a temperature: two factors, applied in turn. The
/// first is a power of two; below 1 it is applied to the logits, so that even the difference of the
/// largest and the least float stays finite.
struct octave_scale {
  float before = 1.0f;
  float after = 0.0f;
};

/// The scale log2(e) / T for a finite T > 0. Outside [2^-100, 2^100] it is split by a power of two,
/// so that neither factor is denormal or infinite.
[[nodiscard]] TEV_HOST_DEVICE inline octave_scale octave_scale_of(float temperature) {
  constexpr double log2_e = 1.4426950408889634074;
  std::uint32_t const bits = magnitude_bits(temperature);
  // A denormal is rebuilt from its bits, in case the processor would read it as zero.
  double const t = bits >> 23 != 0 ? static_cast<double>(temperature) : bits * 0x1p-149;
  if (t < 0x1p-100) return {0x1p60f, static_cast<float>(log2_e / (t * 0x1p60))};
  if (t > 0x1p100) return {0x1p-60f, static_cast<float>(log2_e / (t * 0x1p-60))};
  return {1.0f, static_cast<float>(log2_e / t)};
}

/// Octaves between a row's maximum and a logit not above it: in [0, +infinity].
[[nodiscard]] TEV_HOST_DEVICE inline float octaves_below(float maximum, float logit,
                                                         octave_scale scale) {
  float const difference = scale.before < 1.0f
                               ? detail::sum(detail::product(maximum, scale.before),
                                             -detail::product(logit, scale.before))
                               : detail::product(detail::sum(maximum, -logit), scale.before);
  return detail::product(difference, scale.after);
}

}  // namespace tev
