// Rotary position embedding, rotate-half convention: dimension i is paired with i + d / 2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace llm {

/// Positions are below this, so that fp32 holds them exactly.
inline constexpr std::int32_t most_positions = 1 << 24;

/// Rotary frequencies [d / 2]: 1 / theta^(2 i / d), rounded to fp32 after each step as Hugging Face
/// transformers does.
[[nodiscard]] std::vector<float> rotary_frequencies(double theta, std::int64_t head_dim);

/// Cosines and sines of n positions, each [n, d / 2].
struct rotary_table {
  float const* cosines;
  float const* sines;
};

/// Fills `cosines` and `sines` [n, d / 2] for `positions` [n] in [0, 2^24): an angle is the fp32
/// product of position and frequency.
void fill_rotary(std::span<float const> frequencies, std::span<std::int32_t const> positions,
                 float* cosines, float* sines);

/// Rotates one head x [2 half] in place by the angles whose cosines and sines [half] are given.
void rotate(float* x, float const* cosines, float const* sines, std::int64_t half);

}  // namespace llm
