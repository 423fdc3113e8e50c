// The loops of norm.hpp.

#include "norm.hpp"

#include <algorithm>
#include <cmath>

#include "lanes.hpp"

namespace llm {

namespace {

constexpr std::int64_t chains = 4;

/// Sum of squares of x [width]: element i is added to chain i mod 32.
float sum_of_squares(float const* x, std::int64_t width) {
  lanes sums[chains] = {};
  std::int64_t i = 0;
  for (; width - i >= chains * lane_count; i += chains * lane_count) {
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c) {
      lanes const v = load(x + i + c * lane_count);
      sums[c] = fma(v, v, sums[c]);
    }
  }
  if (i < width) {
    float rest[chains * lane_count] = {};
    std::copy(x + i, x + width, rest);
    for (int c = 0; c < chains; ++c) {
      lanes const v = load(rest + c * lane_count);
      sums[c] = fma(v, v, sums[c]);
    }
  }
  return sum((sums[0] + sums[2]) + (sums[1] + sums[3]));
}

}  // namespace

void rms_norm(float const* x, float const* weight, std::int64_t width, float eps, float* y) {
  float const mean = sum_of_squares(x, width) / static_cast<float>(width);
  float const scale = 1.0F / std::sqrt(mean + eps);
  for (std::int64_t i = 0; i < width; ++i) y[i] = x[i] * scale * weight[i];
}

void rms_norm_rows(float const* x, float const* weight, std::int64_t n, std::int64_t width,
                   float eps, float* y, thread_pool& pool) {
  std::int64_t const grain = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / width);
  pool.parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      rms_norm(x + row * width, weight, width, eps, y + row * width);
    }
  });
}

}  // namespace llm
