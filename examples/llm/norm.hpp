// Root-mean-square normalisation of rows.
#pragma once

#include <cstdint>

#include "thread_pool.hpp"

namespace llm {

/// y [width] = x / sqrt(mean(x^2) + eps) * weight. The squares are summed in 32 interleaved chains
/// that are added in a fixed order. x and y may be equal. O(width).
void rms_norm(float const* x, float const* weight, std::int64_t width, float eps, float* y);

/// rms_norm of every row of x [n, width].
void rms_norm_rows(float const* x, float const* weight, std::int64_t n, std::int64_t width,
                   float eps, float* y, thread_pool& pool);

}  // namespace llm
