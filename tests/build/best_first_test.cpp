#include "tev/build/best_first.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/core/wide.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/distribution/softmax_rows.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/tree/path.hpp"

namespace {

using testing::ElementsAre;
using tev::built_tree;
using tev::node_id;
using tev::token_id;
using path = std::vector<token_id>;
using masses = std::vector<std::uint64_t>;

static_assert(tev::builder<tev::best_first, tev::mass_rows<std::uint64_t>>);
static_assert(tev::builder<tev::best_first, tev::softmax_rows<float>>);

// Draft rows [horizon, vocab] as one array.
struct draft_rows {
  std::int32_t horizon;
  std::int32_t vocab;
  masses all;

  [[nodiscard]] built_tree best(std::int32_t budget) const {
    tev::mass_storage<std::uint64_t> storage;
    return tev::best_first{}(storage.rows(all.data(), horizon, vocab, vocab), horizon, budget);
  }
  [[nodiscard]] std::uint64_t mass(std::size_t depth, token_id x) const {
    return all[depth * static_cast<std::size_t>(vocab) + static_cast<std::size_t>(x)];
  }
  [[nodiscard]] std::uint64_t total(std::size_t depth) const {
    std::uint64_t sum = 0;
    for (token_id x = 0; x < vocab; ++x) sum += mass(depth, x);
    return sum;
  }
  // Place of a token in its row: larger mass first, lower token on ties.
  [[nodiscard]] std::int32_t rank(std::size_t depth, token_id x) const {
    std::int32_t before = 0;
    for (token_id y = 0; y < vocab; ++y)
      before += mass(depth, y) > mass(depth, x) || (mass(depth, y) == mass(depth, x) && y < x);
    return before;
  }
  // Probability of a path times the product of all totals: an integer.
  [[nodiscard]] tev::uint128 weight(path const& p) const {
    tev::uint128 product = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(horizon); ++d)
      product *= d < p.size() ? mass(d, p[d]) : std::max<std::uint64_t>(total(d), 1);
    return product;
  }
};

std::vector<path> paths_of(built_tree const& built) {
  std::vector<path> paths;
  for (node_id v = 1; v < built.tree.size(); ++v) paths.push_back(tev::tokens_to(built.tree, v));
  return paths;
}

// Every path of positive probability, in the documented order, by exact arithmetic.
std::vector<path> all_paths_in_order(draft_rows const& draft) {
  std::vector<path> paths, level{path{}};
  for (std::int32_t d = 0; d < draft.horizon && draft.total(static_cast<std::size_t>(d)) > 0; ++d) {
    std::vector<path> next;
    for (auto const& p : level)
      for (token_id x = 0; x < draft.vocab; ++x)
        if (draft.mass(p.size(), x) > 0) {
          next.push_back(p);
          next.back().push_back(x);
        }
    paths.insert(paths.end(), next.begin(), next.end());
    level = std::move(next);
  }
  auto const ranks = [&](path const& p) {
    std::vector<std::int32_t> r;
    for (std::size_t d = 0; d < p.size(); ++d) r.push_back(draft.rank(d, p[d]));
    return r;
  };
  std::ranges::sort(paths, [&](path const& a, path const& b) {
    auto const wa = draft.weight(a), wb = draft.weight(b);
    if (wa != wb) return wa > wb;
    return a.size() != b.size() ? a.size() < b.size() : ranks(a) < ranks(b);
  });
  return paths;
}

rc::Gen<draft_rows> drafts(std::int32_t most_vocab, std::uint64_t largest) {
  return rc::gen::exec([=] {
    draft_rows d{*rc::gen::inRange(0, 4), *rc::gen::inRange(1, most_vocab + 1), {}};
    d.all = *rc::gen::container<masses>(static_cast<std::size_t>(d.horizon * d.vocab),
                                        rc::gen::inRange<std::uint64_t>(0, largest + 1));
    return d;
  });
}

// The published example of the rule: three rows over four tokens. [0, 1] and [1] tie at 0.3.
draft_rows const example{3, 4, {50, 30, 15, 5, 10, 60, 20, 10, 25, 25, 40, 10}};

TEST(BestFirst, BuildsThePublishedExample) {
  auto const built = example.best(8);
  EXPECT_THAT(paths_of(built), ElementsAre(path{0}, path{1}, path{0, 1}, path{1, 1}, path{2},
                                           path{0, 1, 2}, path{0, 2}, path{2, 1}));
  double sum = 0.0;
  for (node_id v = 1; v < built.tree.size(); ++v) sum += built.score[v];
  EXPECT_NEAR(sum, 1.74, 1e-12);
  EXPECT_EQ(built.score[2], built.score[3]) << "a real tie";
}

TEST(BestFirst, BuildsALoneRootWithoutBudgetOrRows) {
  EXPECT_EQ(example.best(0).tree.size(), 1);
  EXPECT_THAT(example.best(0).score, ElementsAre(1.0));
  EXPECT_EQ((draft_rows{0, 4, {}}.best(5).tree.size()), 1);
}

TEST(BestFirst, RefusesANegativeBudgetOrHorizon) {
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(example.all.data(), 3, 4, 4);
  EXPECT_THROW((void)tev::best_first{}(rows, -1, 4), tev::argument_error);
  EXPECT_THROW((void)tev::best_first{}(rows, 3, -1), tev::argument_error);
}

TEST(BestFirst, TakesAnEnormousBudgetForAllThereIs) {
  EXPECT_EQ(example.best(std::numeric_limits<std::int32_t>::max()).tree.size(),
            1 + 4 + 4 * 4 + 4 * 4 * 4);
}

TEST(BestFirst, NeverAddsATokenWithoutMass) {
  draft_rows const draft{2, 3, {0, 5, 0, 1, 0, 1}};
  EXPECT_THAT(paths_of(draft.best(100)), ElementsAre(path{1}, path{1, 0}, path{1, 2}));
}

TEST(BestFirst, EndsAboveARowThatIsNotOk) {
  std::uint64_t const top = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(paths_of(draft_rows{3, 2, {1, 1, 0, 0, 1, 1}}.best(9)),
              ElementsAre(path{0}, path{1}));
  EXPECT_THAT(paths_of(draft_rows{2, 2, {1, 1, top, 1}}.best(9)), ElementsAre(path{0}, path{1}));
  EXPECT_EQ((draft_rows{2, 2, {0, 0, 1, 1}}.best(9).tree.size()), 1);
}

TEST(BestFirst, BreaksTiesByDepthThenByRank) {
  draft_rows const even{2, 2, {1, 1, 1, 1}};
  EXPECT_THAT(paths_of(even.best(6)),
              ElementsAre(path{0}, path{1}, path{0, 0}, path{0, 1}, path{1, 0}, path{1, 1}));
  draft_rows const certain{3, 3, {0, 2, 2, 0, 7, 0, 0, 0, 3}};
  EXPECT_THAT(paths_of(certain.best(6)),
              ElementsAre(path{1}, path{2}, path{1, 1}, path{2, 1}, path{1, 1, 2}, path{2, 1, 2}));
}

TEST(BestFirst, KeepsTiesThatRoundedProbabilitiesWouldBreak) {
  // [1] and [0, 0] are both 1/6, but 5/6 times 1/5 in double is more.
  draft_rows const draft{2, 2, {5, 1, 1, 4}};
  auto const built = draft.best(6);
  EXPECT_THAT(paths_of(built),
              ElementsAre(path{0}, path{0, 1}, path{1}, path{0, 0}, path{1, 1}, path{1, 0}));
  EXPECT_EQ(built.score[3], built.score[4]);
}

TEST(BestFirst, IgnoresHowRowsAreScaled) {
  draft_rows scaled = example;
  std::uint64_t const factors[] = {std::uint64_t{1} << 55, 3, 1u << 20};
  for (std::size_t i = 0; i < scaled.all.size(); ++i) scaled.all[i] *= factors[i / 4];
  EXPECT_EQ(paths_of(scaled.best(20)), paths_of(example.best(20)));
}

TEST(BestFirst, ReadsPartOfARowAsThatPart) {
  masses const m{6, 2, 5, 5}, totals{10, 20};
  tev::mass_storage<std::uint64_t> storage;
  auto const built = tev::best_first{}(storage.rows(m.data(), 2, 2, 2, totals.data()), 2, 3);
  EXPECT_THAT(paths_of(built), ElementsAre(path{0}, path{1}, path{0, 0}));
  EXPECT_THAT(built.score, ElementsAre(1.0, 0.6, 0.2, 0.15));
}

TEST(BestFirst, BuildsFromLogits) {
  std::vector<float> const logits{1.0f, 3.0f, 2.0f, 0.0f, -1.0f, 4.0f};
  tev::softmax_storage storage;
  auto const rows = storage.rows(logits.data(), 2, 3, 3, 1.0f);
  EXPECT_THAT(paths_of(tev::best_first{}(rows, 2, 4)),
              ElementsAre(path{1}, path{1, 2}, path{2}, path{2, 2}));
}

RC_GTEST_PROP(BestFirst, PutsEveryPathInTheDocumentedOrder, ()) {
  auto const draft = *drafts(4, 4);
  RC_ASSERT(paths_of(draft.best(200)) == all_paths_in_order(draft));
}

RC_GTEST_PROP(BestFirst, PutsPathsOfUnevenRowsInOrder, ()) {
  auto const draft = *drafts(3, 1000);
  RC_ASSERT(paths_of(draft.best(200)) == all_paths_in_order(draft));
}

// Sums over every prefix-closed set of paths, by adding or leaving out one path after the other.
void best_sum(draft_rows const& draft, std::vector<path> const& paths, std::size_t next,
              std::vector<path>& chosen, std::size_t budget, tev::uint128 sum,
              tev::uint128& largest) {
  largest = std::max(largest, sum);
  if (next == paths.size() || chosen.size() == budget) return;
  best_sum(draft, paths, next + 1, chosen, budget, sum, largest);
  auto const& p = paths[next];
  path const parent(p.begin(), p.end() - 1);
  if (!parent.empty() && std::ranges::find(chosen, parent) == chosen.end()) return;
  chosen.push_back(p);
  best_sum(draft, paths, next + 1, chosen, budget, sum + draft.weight(p), largest);
  chosen.pop_back();
}

RC_GTEST_PROP(BestFirst, CoversAsMuchAsTheBestOfAllTrees, ()) {
  auto const draft = *drafts(*rc::gen::inRange(1, 4) == 1 ? 4 : 2, 3);
  auto const budget = *rc::gen::inRange(0, draft.vocab > 2 ? 4 : 7);
  auto paths = all_paths_in_order(draft);
  std::ranges::stable_sort(paths, {}, [](path const& p) { return p.size(); });
  tev::uint128 largest = 0, found = 0;
  std::vector<path> chosen;
  best_sum(draft, paths, 0, chosen, static_cast<std::size_t>(budget), 0, largest);
  for (auto const& p : paths_of(draft.best(budget))) found += draft.weight(p);
  RC_ASSERT(bool(found == largest));
}

RC_GTEST_PROP(BestFirst, NestsItsBudgets, ()) {
  auto const draft = *drafts(4, 5);
  auto const large = draft.best(30);
  for (std::int32_t budget = 0; budget < 30; ++budget) {
    auto const small = draft.best(budget);
    RC_ASSERT(small.tree.size() == std::min(budget + 1, large.tree.size()));
    for (node_id v = 0; v < small.tree.size(); ++v) {
      RC_ASSERT(small.tree.parent(v) == large.tree.parent(v));
      RC_ASSERT(small.tree.token(v) == large.tree.token(v));
      RC_ASSERT(small.score[v] == large.score[v]);
    }
  }
}

RC_GTEST_PROP(BestFirst, ScoresByTheProductAndNeverAboveTheParent, ()) {
  auto const draft = *drafts(4, 1000000);
  auto const built = draft.best(40);
  auto const again = draft.best(40);
  RC_ASSERT(built.tree == again.tree);
  RC_ASSERT(built.score == again.score);
  RC_ASSERT(built.score.size() == static_cast<std::size_t>(built.tree.size()));
  for (node_id v = 1; v < built.tree.size(); ++v) {
    RC_ASSERT(built.score[v] > 0.0);
    RC_ASSERT(built.score[v] <= built.score[built.tree.parent(v)]);
    RC_ASSERT(v == 1 || built.score[v] <= built.score[v - 1]);
    auto const exact = static_cast<double>(draft.weight(tev::tokens_to(built.tree, v))) /
                       static_cast<double>(draft.weight({}));
    RC_ASSERT(std::abs(built.score[v] - exact) <= 1e-14 * exact);
  }
}

}  // namespace
