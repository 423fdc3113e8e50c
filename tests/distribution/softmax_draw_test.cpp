// Draws from rows of logits: both sides of every boundary of the running mass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/distribution/softmax_rows.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/team/serial_team.hpp"

namespace {

using tev::token_id;

constexpr tev::serial_team alone;
constexpr std::int32_t vocab = 3 * tev::chunk_size + 17;

struct skipped {
  std::vector<token_id> tokens;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (auto const x : tokens) visit(x);
  }
};

// Logits with a forbidden chunk, many tokens without mass, and mass at the chunks' edges.
std::vector<float> sparse_logits() {
  std::mt19937 random(11);
  float const inf = std::numeric_limits<float>::infinity();
  std::vector<float> row(vocab);
  for (token_id x = 0; x < vocab; ++x) {
    auto const word = random();
    row[x] = x / tev::chunk_size == 1 ? -inf
             : word % 3 == 0          ? -inf
             : word % 3 == 1          ? -200.0f
                                      : static_cast<float>(word >> 8 & 1023u) * 0.02f;
  }
  row[0] = row[1023] = row[2048] = row[3071] = row[vocab - 1] = 5.0f;
  return row;
}

void expect_every_boundary(skipped const& skip) {
  auto const row = sparse_logits();
  tev::softmax_storage storage;
  auto const rows = storage.rows(row.data(), 1, vocab, vocab, 0.9f);
  rows.prepare(alone, 0);
  std::uint64_t running = 0;
  std::int32_t drawn = 0;
  for (token_id x = 0; x < vocab; ++x) {
    std::uint64_t const m = rows.mass(0, x);
    if (m == 0 || tev::contains(skip, x)) continue;
    ASSERT_EQ(rows.draw(alone, 0, running, skip), x);
    ASSERT_EQ(rows.draw(alone, 0, running + m - 1, skip), x);
    ASSERT_EQ(rows.draw(alone, 0, running + m / 2, skip), x);
    running += m;
    ++drawn;
  }
  EXPECT_GT(drawn, 300);
  EXPECT_EQ(rows.draw(alone, 0, running, skip), tev::no_token);
  EXPECT_EQ(rows.draw(alone, 0, std::numeric_limits<std::uint64_t>::max(), skip), tev::no_token);
  if (skip.tokens.empty()) {
    EXPECT_EQ(running, rows.total(0));
  }
}

TEST(SoftmaxDraw, IsHalfOpenAtEveryBoundaryOfTheRow) { expect_every_boundary({}); }

TEST(SoftmaxDraw, LeavesSkippedTokensOutInEveryChunk) {
  expect_every_boundary({{0, 1, 2, 1023, 1024, 2048, 2500, 3071, 3072, vocab - 1}});
}

TEST(SoftmaxDraw, IgnoresForeignTokensAmongTheSkipped) {
  expect_every_boundary({{-1, vocab, vocab + 5000, std::numeric_limits<token_id>::max(), 7}});
}

TEST(SoftmaxDraw, MayLeaveOutAWholeChunk) {
  skipped skip;
  for (token_id x = 0; x < tev::chunk_size; ++x) skip.tokens.push_back(x);
  expect_every_boundary(skip);
}

TEST(SoftmaxDraw, GivesNothingWhenEverythingIsLeftOut) {
  std::vector<float> const row{1.0f, 2.0f, 1.5f};
  for (float const t : {0.0f, 1.0f}) {
    tev::softmax_storage storage;
    auto const rows = storage.rows(row.data(), 1, 3, 3, t);
    rows.prepare(alone, 0);
    EXPECT_EQ(rows.draw(alone, 0, 0, skipped{{0, 1, 2}}), tev::no_token) << t;
  }
}

TEST(SoftmaxDraw, AtTemperatureZeroGivesTheMaximumUnlessItIsLeftOut) {
  std::vector<float> const row{1.0f, 2.0f, 2.0f};
  tev::softmax_storage storage;
  auto const rows = storage.rows(row.data(), 1, 3, 3, 0.0f);
  rows.prepare(alone, 0);
  EXPECT_EQ(rows.draw(alone, 0, tev::top_mass - 1, skipped{{0, 2}}), 1);
  EXPECT_EQ(rows.draw(alone, 0, 0, skipped{{1}}), tev::no_token);
}

TEST(SoftmaxDraw, ReadsNoMassFromAFaultyRow) {
  std::vector<float> const row{1.0f, std::numeric_limits<float>::quiet_NaN()};
  tev::softmax_storage storage;
  auto const rows = storage.rows(row.data(), 1, 2, 2, 1.0f);
  rows.prepare(alone, 0);
  EXPECT_EQ(rows.draw(alone, 0, 0, tev::no_tokens{}), tev::no_token);
}

}  // namespace
