// The loops of rotary.hpp.

#include "rotary.hpp"

#include "lanes.hpp"
#include "math.hpp"

namespace llm {

std::vector<float> rotary_frequencies(double theta, std::int64_t head_dim) {
  std::vector<float> frequencies;
  for (std::int64_t i = 0; i < head_dim; i += 2) {
    float const exponent = static_cast<float>(i) / static_cast<float>(head_dim);
    frequencies.push_back(1.0F / static_cast<float>(power(theta, exponent)));
  }
  return frequencies;
}

void fill_rotary(std::span<float const> frequencies, std::span<std::int32_t const> positions,
                 float* cosines, float* sines) {
  for (std::int32_t const position : positions) {
    for (float const frequency : frequencies) {
      sine_cosine const value = sin_cos(static_cast<float>(position) * frequency);
      *cosines++ = value.cosine;
      *sines++ = value.sine;
    }
  }
}

void rotate(float* x, float const* cosines, float const* sines, std::int64_t half) {
  float* const second = x + half;
  for (std::int64_t i = 0; i < half; ++i) {
    float const a = x[i], b = second[i];
    x[i] = fma(a, cosines[i], -(b * sines[i]));
    second[i] = fma(b, cosines[i], a * sines[i]);
  }
}

}  // namespace llm
