// Attention over cached and new keys in position order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kv_cache.hpp"
#include "layer_shape.hpp"
#include "thread_pool.hpp"

namespace llm {

/// Which new rows a new row sees, beside all cached ones.
struct visibility {
  enum class kind { causal, all, masked };
  kind which = kind::causal;
  /// [n, ceil(n / 32)] words, lowest bit first, when masked: bit u of row v says that v sees new
  /// row u. Every row sees itself; bits from n on are ignored.
  std::span<std::uint32_t const> mask;
};

/// Floats that one thread needs for attend() when the last visible slot is below `slots`.
[[nodiscard]] std::size_t score_floats(std::int64_t slots);

/// out [n, Hq d] = softmax(q k) v for new rows whose keys are at slots [base, base + n). query [n,
/// Hq d] is already rotated and scaled by d^-1/2; query head g reads key/value head g / (Hq / Hk).
///
/// Per row and head: a score is one chain over d in ascending order; the maximum of the visible
/// scores is taken first; then the sum of exponentials and the sum of values are each one chain
/// over the visible keys in ascending slot order. A key that is not visible takes no part, so the
/// bits are those of a call in which it is absent. `scores` [threads, score_floats(base + n)].
/// O(n (base + n) Hq d).
void attend(layer_shape const& shape, float const* query, std::int64_t n, kv_cache const& cache,
            int layer, std::int64_t base, visibility const& visible, float* scores, float* out,
            thread_pool& pool);

}  // namespace llm
