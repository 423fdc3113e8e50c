#include "tev/build/best_first.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "build/draft_rows.hpp"
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
using tev_test::all_paths_in_order;
using tev_test::draft_rows;
using tev_test::drafts;
using tev_test::masses;
using tev_test::path;
using tev_test::paths_of;

static_assert(tev::builder<tev::best_first, tev::mass_rows<std::uint64_t>>);
static_assert(tev::builder<tev::best_first, tev::softmax_rows<float>>);

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

RC_GTEST_PROP(BestFirst, CoversAsMuchAsTheBestOfAllTrees, ()) {
  auto const draft = *drafts(*rc::gen::inRange(1, 4) == 1 ? 4 : 2, 3);
  auto const budget = *rc::gen::inRange(0, draft.vocab > 2 ? 4 : 7);
  auto paths = all_paths_in_order(draft);
  std::ranges::sort(paths, {}, [](path const& p) { return p.size(); });  // Parents first.
  auto const largest = tev_test::best_sum<tev::uint128>(
      paths, budget, [&](path const& p) { return draft.weight(p); });
  tev::uint128 found = 0;
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
