// Attention against double arithmetic for many shapes, and invisible keys against absent ones.

#include "llm/attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "llm/kv_cache.hpp"
#include "llm/layer_shape.hpp"
#include "llm/thread_pool.hpp"
#include "model_support.hpp"

namespace {

using llm_test::floats;

/// Queries, keys and values of base + n slots, and attend() over them.
struct problem {
  problem(std::mt19937& source, std::int64_t heads, std::int64_t kv_heads, std::int64_t d,
          std::int64_t base, std::int64_t n)
      : base(base),
        n(n),
        query(llm_test::random_floats(source, static_cast<std::size_t>(n * heads * d), 2)),
        keys(llm_test::random_floats(source, static_cast<std::size_t>((base + n) * kv_heads * d))),
        values(llm_test::random_floats(source, keys.size())) {
    shape.heads = heads;
    shape.kv_heads = kv_heads;
    shape.head_dim = d;
  }

  /// A cache with the slots `kept`, in that order.
  [[nodiscard]] llm::kv_cache cache(std::vector<std::int64_t> const& kept) const {
    llm::kv_cache made(1, static_cast<int>(shape.kv_heads), static_cast<int>(shape.head_dim),
                       static_cast<std::int64_t>(kept.size()));
    for (std::size_t slot = 0; slot < kept.size(); ++slot) {
      for (std::int64_t head = 0; head < shape.kv_heads; ++head) {
        auto const at =
            static_cast<std::size_t>((kept[slot] * shape.kv_heads + head) * shape.head_dim);
        made.put(0, static_cast<int>(head), static_cast<std::int64_t>(slot), &keys[at],
                 &values[at]);
      }
    }
    return made;
  }

  [[nodiscard]] llm::kv_cache cache() const {
    std::vector<std::int64_t> all;
    for (std::int64_t slot = 0; slot < base + n; ++slot) all.push_back(slot);
    return cache(all);
  }

  [[nodiscard]] floats attend(llm::visibility const& visible, int threads = 1) const {
    llm::thread_pool pool(threads);
    floats out(query.size());
    auto const scores =
        pool.scratch(llm::score_floats(base + n) * static_cast<std::size_t>(threads));
    std::fill(scores.begin(), scores.end(), std::numeric_limits<float>::quiet_NaN());
    llm::attend(shape, query.data(), n, cache(), 0, base, visible, scores.data(), out.data(), pool);
    return out;
  }

  std::int64_t base;
  std::int64_t n;
  llm::layer_shape shape;
  floats query;
  floats keys;
  floats values;
};

/// Whether new row v sees new row u.
bool sees(llm::visibility const& visible, std::int64_t n, std::int64_t v, std::int64_t u) {
  if (visible.which == llm::visibility::kind::all) return true;
  if (visible.which == llm::visibility::kind::causal) return u <= v;
  return (visible.mask[static_cast<std::size_t>(v * ((n + 31) / 32) + u / 32)] >> (u % 32) & 1U) !=
         0;
}

/// The definition, in double.
floats by_definition(problem const& p, llm::visibility const& visible) {
  std::int64_t const d = p.shape.head_dim, group = p.shape.heads / p.shape.kv_heads;
  floats out;
  for (std::int64_t row = 0; row < p.n; ++row) {
    for (std::int64_t head = 0; head < p.shape.heads; ++head) {
      std::vector<double> weights(static_cast<std::size_t>(p.base + p.n));
      double total = 0;
      for (std::int64_t slot = 0; slot < p.base + p.n; ++slot) {
        if (slot >= p.base && !sees(visible, p.n, row, slot - p.base)) continue;
        double score = 0;
        for (std::int64_t i = 0; i < d; ++i) {
          score +=
              double{p.query[static_cast<std::size_t>((row * p.shape.heads + head) * d + i)]} *
              p.keys[static_cast<std::size_t>((slot * p.shape.kv_heads + head / group) * d + i)];
        }
        total += weights[static_cast<std::size_t>(slot)] = std::exp(score);
      }
      for (std::int64_t i = 0; i < d; ++i) {
        double sum = 0;
        for (std::int64_t slot = 0; slot < p.base + p.n; ++slot) {
          sum +=
              weights[static_cast<std::size_t>(slot)] *
              p.values[static_cast<std::size_t>((slot * p.shape.kv_heads + head / group) * d + i)];
        }
        out.push_back(static_cast<float>(sum / total));
      }
    }
  }
  return out;
}

/// A mask in which every row sees itself and a random half of the others.
std::vector<std::uint32_t> random_mask(std::mt19937& source, std::int64_t n) {
  std::int64_t const words = (n + 31) / 32;
  std::vector<std::uint32_t> mask(static_cast<std::size_t>(n * words));
  for (auto& word : mask) word = source();
  for (std::int64_t v = 0; v < n; ++v) {
    mask[static_cast<std::size_t>(v * words + v / 32)] |= 1U << (v % 32);
  }
  return mask;
}

TEST(Attention, FollowsItsDefinitionForManyShapes) {
  std::mt19937 source(1);
  for (std::int64_t group : {1, 2, 3, 4, 5, 8}) {
    for (std::int64_t d : {2, 6, 8, 10, 32, 40, 66}) {
      for (auto const& [base, n] :
           std::vector<std::pair<int, int>>{{0, 1}, {0, 9}, {5, 1}, {8, 3}, {70, 40}}) {
        problem const p(source, 2 * group, 2, d, base, n);
        auto const mask = random_mask(source, n);
        for (auto const& visible : {llm::visibility{llm::visibility::kind::causal, {}},
                                    llm::visibility{llm::visibility::kind::all, {}},
                                    llm::visibility{llm::visibility::kind::masked, mask}}) {
          ASSERT_LT(llm_test::largest_difference(p.attend(visible), by_definition(p, visible)),
                    5e-6)
              << "group " << group << " d " << d << " base " << base << " n " << n;
        }
      }
    }
  }
}

TEST(Attention, TreatsAnInvisibleKeyAsAbsent) {
  std::mt19937 source(2);
  constexpr std::int64_t base = 13, n = 37;
  problem p(source, 6, 2, 32, base, n);
  auto const mask = random_mask(source, n);
  llm::visibility const visible{llm::visibility::kind::masked, mask};
  floats const masked = p.attend(visible);
  std::size_t const width = 6 * 32;
  for (std::int64_t v = 0; v < n; ++v) {
    std::vector<std::int64_t> kept;
    for (std::int64_t slot = 0; slot < base; ++slot) kept.push_back(slot);
    for (std::int64_t u = 0; u < n; ++u) {
      if (sees(visible, n, v, u)) kept.push_back(base + u);
    }
    llm::thread_pool pool;
    floats out(width);
    auto const slots = static_cast<std::int64_t>(kept.size());
    auto const scores = pool.scratch(llm::score_floats(slots));
    llm::attend(p.shape, &p.query[static_cast<std::size_t>(v) * width], 1, p.cache(kept), 0,
                slots - 1, {}, scores.data(), out.data(), pool);
    ASSERT_TRUE(
        llm_test::same_bits(out, llm_test::row_of(masked, static_cast<std::size_t>(v), width)))
        << v;
  }
}

TEST(Attention, IsNotTouchedByAnInvisibleKeyThatIsNotANumber) {
  std::mt19937 source(3);
  problem p(source, 3, 1, 8, 2, 3);
  std::vector<std::uint32_t> const mask{0b001, 0b010, 0b101};
  llm::visibility const visible{llm::visibility::kind::masked, mask};
  floats const before = p.attend(visible);
  for (std::size_t i = 3 * 8; i < 4 * 8; ++i) {
    p.keys[i] = p.values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  floats const after = p.attend(visible);
  std::size_t const width = 3 * 8;
  EXPECT_TRUE(
      llm_test::same_bits(llm_test::row_of(before, 0, width), llm_test::row_of(after, 0, width)));
  EXPECT_TRUE(
      llm_test::same_bits(llm_test::row_of(before, 2, width), llm_test::row_of(after, 2, width)));
  EXPECT_TRUE(std::isnan(after[width]));
}

TEST(Attention, IgnoresMaskBitsBehindTheLastRow) {
  std::mt19937 source(4);
  problem const p(source, 2, 1, 8, 3, 3);
  std::vector<std::uint32_t> const clean{1, 3, 7}, dirty{0xfffffff9U, 0xfffffffbU, 0xffffffffU};
  EXPECT_TRUE(llm_test::same_bits(p.attend({llm::visibility::kind::masked, clean}),
                                  p.attend({llm::visibility::kind::masked, dirty})));
  EXPECT_TRUE(llm_test::same_bits(p.attend({llm::visibility::kind::masked, clean}), p.attend({})));
}

TEST(Attention, SurvivesScoresThatOverflowAPlainExponential) {
  std::mt19937 source(5);
  problem p(source, 2, 2, 8, 20, 4);
  for (float& q : p.query) q *= 60;
  floats const out = p.attend({});
  EXPECT_LT(llm_test::largest_difference(out, by_definition(p, {})), 1e-3);
}

TEST(Attention, DoesNotDependOnTheThreads) {
  std::mt19937 source(6);
  problem const p(source, 8, 2, 32, 200, 64);
  floats const one = p.attend({}, 1);
  EXPECT_TRUE(llm_test::same_bits(one, p.attend({}, 2)));
  EXPECT_TRUE(llm_test::same_bits(one, p.attend({}, 3)));
}

}  // namespace
