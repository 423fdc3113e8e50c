// The loops of attention.hpp.

#include "attention.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "lanes.hpp"
#include "math.hpp"

namespace llm {

namespace {

/// Query heads that share one pass over their key/value head.
constexpr int most_heads = 4;
/// Multiply-adds that are worth waking a thread for.
constexpr std::int64_t work_grain = std::int64_t{1} << 19;

constexpr std::int64_t rounded_up(std::int64_t count) {
  return (count + lane_count - 1) / lane_count * lane_count;
}

/// One row and up to most_heads query heads of one key/value head.
struct item {
  float const* query;  // [heads, d]
  float const* keys;   // [blocks, d, 8]
  float const* values;
  std::int64_t value_stride;
  std::int64_t head_dim;
  float* scores;              // [heads, score_stride]
  std::int64_t score_stride;  // multiple of 8
  std::int64_t base;          // slots [0, base) are visible
  std::uint32_t const* mask;  // the row's words; null: new rows [0, last) are visible
  std::int64_t last;          // one past the last new row that is visible
  std::int64_t count;         // visible slots
  float* out;                 // [heads, d]
};

/// Calls `body(u)` for every visible new row u, ascending.
template <class Body>
inline void for_each_new(item const& t, Body&& body) {
  if (t.mask == nullptr) {
    for (std::int64_t u = 0; u < t.last; ++u) body(u);
    return;
  }
  for (std::int64_t word = 0; word * 32 < t.last; ++word) {
    for (std::uint32_t bits = t.mask[word]; bits != 0; bits &= bits - 1) {
      std::int64_t const u = word * 32 + std::countr_zero(bits);
      if (u < t.last) body(u);
    }
  }
}

/// Scores of all slots in `Blocks` blocks of eight from `block` on.
template <int Heads, int Blocks>
void score_blocks(item const& t, std::int64_t block) {
  lanes sums[Heads][Blocks] = {};
  std::int64_t const d = t.head_dim;
  float const* const keys = t.keys + block * d * lane_count;
  for (std::int64_t i = 0; i < d; ++i) {
    lanes k[Blocks];
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) k[b] = load(keys + (b * d + i) * lane_count);
#pragma GCC unroll 8
    for (int h = 0; h < Heads; ++h) {
      lanes const q = splat(t.query[h * d + i]);
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) sums[h][b] = fma(q, k[b], sums[h][b]);
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < Heads; ++h) {
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      store(t.scores + h * t.score_stride + (block + b) * lane_count, sums[h][b]);
    }
  }
}

/// Scores of slots [0, base) and of the visible new rows, moved together behind them.
template <int Heads>
void score(item const& t) {
  constexpr int wide = Heads == 1 ? 8 : Heads == 4 ? 2 : 4;
  std::int64_t const blocks = rounded_up(t.base + t.last) / lane_count;
  std::int64_t block = 0;
  for (; blocks - block >= wide; block += wide) score_blocks<Heads, wide>(t, block);
  for (; block < blocks; ++block) score_blocks<Heads, 1>(t, block);
  if (t.mask == nullptr) return;
  std::int64_t to = t.base;
  for_each_new(t, [&](std::int64_t u) {
    for (int h = 0; h < Heads; ++h) {
      float* const row = t.scores + h * t.score_stride;
      row[to] = row[t.base + u];
    }
    ++to;
  });
}

/// Replaces `count` scores by exp(score - maximum). The row has room up to a multiple of eight.
void exponentials(float* scores, std::int64_t count) {
  std::int64_t const padded = rounded_up(count);
  std::fill(scores + count, scores + padded, -std::numeric_limits<float>::infinity());
  lanes greatest = load(scores);
  for (std::int64_t i = lane_count; i < padded; i += lane_count) {
    greatest = maximum(greatest, load(scores + i));
  }
  lanes const shift = splat(maximum(greatest));
  for (std::int64_t i = 0; i < padded; i += lane_count) {
    store(scores + i, exp(load(scores + i) - shift));
  }
}

/// Dimensions [first, first + 8 Parts) of the weighted values, before division by `totals`, which
/// the call for the first dimensions fills.
template <int Heads, int Parts>
void mix(item const& t, std::int64_t first, float (&totals)[Heads]) {
  lanes sums[Heads][Parts] = {};
  float running[Heads] = {};
  auto const add = [&](std::int64_t key, std::int64_t slot) {
    float const* const value = t.values + slot * t.value_stride + first;
    lanes v[Parts];
#pragma GCC unroll 8
    for (int j = 0; j < Parts; ++j) v[j] = load(value + j * lane_count);
#pragma GCC unroll 8
    for (int h = 0; h < Heads; ++h) {
      float const weight = t.scores[h * t.score_stride + key];
      running[h] += weight;
#pragma GCC unroll 8
      for (int j = 0; j < Parts; ++j) sums[h][j] = fma(splat(weight), v[j], sums[h][j]);
    }
  };
  for (std::int64_t slot = 0; slot < t.base; ++slot) add(slot, slot);
  std::int64_t key = t.base;
  for_each_new(t, [&](std::int64_t u) { add(key++, t.base + u); });

  for (int h = 0; h < Heads; ++h) {
    totals[h] = running[h];
    float* const out = t.out + h * t.head_dim + first;
    for (int j = 0; j < Parts; ++j) {
      lanes const scaled = sums[h][j] * splat(1.0F / running[h]);
      std::int64_t const width = std::min(lane_count, t.head_dim - first - j * lane_count);
      std::memcpy(out + j * lane_count, &scaled, static_cast<std::size_t>(width) * sizeof(float));
    }
  }
}

template <int Heads>
void attend_heads(item const& t) {
  score<Heads>(t);
  for (int h = 0; h < Heads; ++h) {
    exponentials(t.scores + h * t.score_stride, t.count);
  }
  constexpr int wide = Heads == 4 ? 2 : 4;
  std::int64_t const padded = rounded_up(t.head_dim);
  float totals[Heads];
  std::int64_t first = 0;
  for (; padded - first >= wide * lane_count; first += wide * lane_count) {
    mix<Heads, wide>(t, first, totals);
  }
  for (; first < padded; first += lane_count) mix<Heads, 1>(t, first, totals);
}

/// Fills what row v of n sees into `t`, whose base is set.
void set_visible(item& t, visibility const& visible, std::int64_t v, std::int64_t n) {
  t.mask = nullptr;
  t.last = visible.which == visibility::kind::causal ? v + 1 : n;
  if (visible.which == visibility::kind::masked) {
    t.mask = visible.mask.data() + v * ((n + 31) / 32);
    std::int64_t last = 0, count = 0;
    for_each_new(t, [&](std::int64_t u) {
      last = u + 1;
      ++count;
    });
    t.last = last;
    t.count = t.base + count;
  } else {
    t.count = t.base + t.last;
  }
}

void dispatch(item const& t, std::int64_t heads) {
  switch (heads) {
    case 1:
      return attend_heads<1>(t);
    case 2:
      return attend_heads<2>(t);
    case 3:
      return attend_heads<3>(t);
    default:
      return attend_heads<4>(t);
  }
}

}  // namespace

std::size_t score_floats(std::int64_t slots) {
  return static_cast<std::size_t>(most_heads * rounded_up(slots));
}

void attend(layer_shape const& shape, float const* query, std::int64_t n, kv_cache const& cache,
            int layer, std::int64_t base, visibility const& visible, float* scores, float* out,
            thread_pool& pool) {
  std::int64_t const per_kv = shape.heads / shape.kv_heads;
  std::int64_t const work = std::max<std::int64_t>(1, (base + n) * shape.head_dim * per_kv * 2);
  auto const part = [&](std::int64_t begin, std::int64_t end, int rank) {
    item t{};
    t.value_stride = cache.value_stride();
    t.head_dim = shape.head_dim;
    t.scores = scores + score_floats(base + n) * static_cast<std::size_t>(rank);
    t.score_stride = rounded_up(base + n);
    t.base = base;
    for (std::int64_t index = begin; index < end; ++index) {
      std::int64_t const row = index / shape.kv_heads, kv = index % shape.kv_heads;
      set_visible(t, visible, row, n);
      t.keys = cache.keys(layer, static_cast<int>(kv));
      t.values = cache.values(layer, static_cast<int>(kv));
      for (std::int64_t h = 0; h < per_kv; h += most_heads) {
        std::int64_t const offset = (row * shape.heads + kv * per_kv + h) * shape.head_dim;
        t.query = query + offset;
        t.out = out + offset;
        dispatch(t, std::min<std::int64_t>(most_heads, per_kv - h));
      }
    }
  };
  pool.parallel_for(n * shape.kv_heads, std::max<std::int64_t>(1, work_grain / work), part);
}

}  // namespace llm
