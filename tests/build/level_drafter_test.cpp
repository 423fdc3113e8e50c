// The builders that grow level by level, over marginals and over rows that depend on the path.
#include "tev/build/level_drafter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "build/draft_rows.hpp"
#include "build/level_reference.hpp"
#include "support/refusal.hpp"
#include "tev/build/concept.hpp"
#include "tev/build/expand_rerank.hpp"
#include "tev/build/level_growth.hpp"
#include "tev/core/error.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/distribution/softmax_rows.hpp"

namespace {

using boost::multiprecision::cpp_rational;
using testing::ElementsAre;
using testing::HasSubstr;
using tev_test::best_of;
using tev_test::candidate;
using tev_test::children_of;
using tev_test::draft_rows;
using tev_test::drafts;
using tev_test::levels_of;
using tev_test::masses;
using tev_test::path;
using tev_test::path_drafter;
using tev_test::paths_of;
using tev_test::refusal;
using tev_test::row_of_path;
using tev_test::scattered_rows;
using tev_test::sum_of;
using tev_test::tokens_of;
using integer_rows = tev::mass_rows<std::uint64_t>;

constexpr auto most = std::numeric_limits<std::int32_t>::max();

static_assert(tev::builder<tev::expand_rerank, integer_rows>);
static_assert(tev::builder<tev::expand_rerank, tev::softmax_rows<float>>);
static_assert(tev::builder<tev::level_growth, integer_rows>);
static_assert(tev::level_drafter<tev::marginal_drafter<integer_rows>>);
static_assert(!tev::level_drafter<integer_rows> && !tev::drafts_levels<int>);

// Marginals, or rows that depend on the path; both as rows and as a drafter.
struct drafting {
  draft_rows marginals;
  row_of_path row_of;
  bool by_path;

  template <class Build>
  auto operator()(Build const& build) const {
    path_drafter drafter{row_of, marginals.vocab};
    tev::mass_storage<std::uint64_t> storage;
    auto const rows =
        storage.rows(marginals.all.data(), marginals.horizon, marginals.vocab, marginals.vocab);
    return by_path ? build(drafter) : build(rows);
  }
};

drafting any_drafting() {
  auto const marginals = *drafts(4, 4);
  auto const vocab = marginals.vocab;
  if (*rc::gen::arbitrary<bool>())
    return {marginals,
            scattered_rows(vocab, *rc::gen::inRange<std::uint64_t>(1, 5),
                           *rc::gen::arbitrary<std::uint64_t>()),
            true};
  auto const row_of = [marginals](path const& p) {
    auto const row = marginals.all.begin() + std::ssize(p) * marginals.vocab;
    return masses(row, row + marginals.vocab);
  };
  return {marginals, row_of, false};
}

RC_GTEST_PROP(ExpandRerank, FollowsItsDefinition, ()) {
  auto const draft = any_drafting();
  auto const horizon = draft.marginals.horizon;
  auto const top_k = *rc::gen::inRange(1, 6);
  auto const budget = *rc::gen::inRange(0, 20);
  auto const levels = levels_of(draft.row_of, horizon, static_cast<std::size_t>(top_k));
  auto const expected = best_of(levels, levels.size(), static_cast<std::size_t>(budget));
  auto const built = draft([&](auto& d) { return tev::expand_rerank{top_k}(d, horizon, budget); });
  RC_ASSERT(paths_of(built) == tokens_of(expected));
  for (std::size_t i = 0; i < expected.size(); ++i)
    RC_ASSERT(std::abs(built.score[i + 1] - static_cast<double>(expected[i].score)) < 1e-14);
}

RC_GTEST_PROP(LevelGrowth, FollowsItsDefinition, ()) {
  auto const draft = any_drafting();
  auto const horizon = draft.marginals.horizon;
  auto const budget = *rc::gen::inRange(1, 20);
  auto const delta = *rc::gen::inRange(-1, 20) / 16.0;
  auto const most_nodes = static_cast<std::size_t>(budget);
  auto const levels = levels_of(draft.row_of, horizon, most_nodes);
  std::size_t count = 0;
  while (count < levels.size() && (count == 0 || !levels[count - 1].empty())) {
    cpp_rational const before = sum_of(best_of(levels, count, most_nodes));
    if (sum_of(best_of(levels, ++count, most_nodes)) - before <= cpp_rational(delta)) break;
  }
  auto const grown =
      draft([&](auto& d) { return tev::level_growth{delta}.grow(d, horizon, budget); });
  RC_ASSERT(grown.levels == static_cast<std::int32_t>(count));
  RC_ASSERT(paths_of(grown.built) == tokens_of(best_of(levels, count, most_nodes)));
}

RC_GTEST_PROP(LevelGrowth, CoversAsMuchAsTheBestOfAllTrees, ()) {
  auto const row_of = scattered_rows(2, 3, *rc::gen::arbitrary<std::uint64_t>());
  auto const budget = *rc::gen::inRange(0, 6);
  std::vector<path> paths;
  std::vector<candidate> level{{{}, {}, 1}}, all;
  for (std::int32_t d = 0; d < 3; ++d) {
    std::vector<candidate> next;
    for (auto const& node : level)
      for (auto const& child : children_of(node, row_of)) next.push_back(child);
    all.insert(all.end(), next.begin(), next.end());
    level = std::move(next);
  }
  auto const score = [&](path const& p) {
    return std::ranges::find(all, p, &candidate::tokens)->score;
  };
  auto const built = tev::level_growth{}(path_drafter{row_of, 2}, 3, budget);
  cpp_rational found = 0;
  for (auto const& p : paths_of(built)) found += score(p);
  RC_ASSERT(found == tev_test::best_sum<cpp_rational>(tokens_of(all), budget, score));
}

RC_GTEST_PROP(LevelBuilders, EqualBestFirstWhereTheyAreWideEnough, ()) {
  auto const draft = *drafts(4, 1000);
  auto const budget = *rc::gen::inRange(0, 30);
  auto const best = draft.best(budget);
  for (auto const top_k :
       {std::max(draft.vocab * draft.vocab * draft.vocab, 1), std::max(budget, 1), most}) {
    auto const built = draft.built_by(tev::expand_rerank{top_k}, budget);
    RC_ASSERT(built.tree == best.tree);
    RC_ASSERT(built.score == best.score);
  }
  for (auto const delta : {0.0, -1.0}) {
    auto const built = draft.built_by(tev::level_growth{delta}, budget);
    RC_ASSERT(built.tree == best.tree);
    RC_ASSERT(built.score == best.score);
  }
}

// Rows whose sum of the best eight is 1 after one level, 42/25 after two and 87/50 after three.
draft_rows const example{3, 4, {50, 30, 15, 5, 10, 60, 20, 10, 25, 25, 40, 10}};

std::int32_t levels_grown(double delta, std::int32_t budget) {
  return tev::level_growth{delta}
      .grow(path_drafter{[](path const& p) {
                           auto const row = example.all.begin() + std::ssize(p) * 4;
                           return masses(row, row + 4);
                         },
                         4},
            3, budget)
      .levels;
}

TEST(LevelGrowth, StopsAtAGainOfExactlyDelta) {
  EXPECT_EQ(levels_grown(0.68, 8), 2) << "the second level's gain is 17/25";
  EXPECT_EQ(levels_grown(0.679, 8), 3);
  EXPECT_EQ(levels_grown(1.0, 8), 1);
  EXPECT_EQ(levels_grown(std::numeric_limits<double>::infinity(), 8), 1);
  EXPECT_EQ(levels_grown(0.0, 1), 2) << "the second level adds nothing to the best node";
  EXPECT_EQ(levels_grown(-1.0, 1), 3);
  EXPECT_EQ(levels_grown(-1.0, 0), 0);
}

TEST(LevelGrowth, NoticesTheLeastGain) {
  // Beside nodes worth 1 each, a gain that rounding of their sum would swallow.
  std::uint64_t const top = std::uint64_t{1} << 60;
  draft_rows const draft{3, 2, {top, 0, top, 1, top, 1}};
  EXPECT_EQ(draft.built_by(tev::level_growth{}, 6).tree, draft.best(6).tree);
}

TEST(LevelBuilders, AskOnlyForWhatCanMatter) {
  auto const row_of = [](path const&) { return masses{3, 2, 1}; };
  path_drafter drafter{row_of, 3};
  (void)tev::expand_rerank{2}(drafter, 4, 20);
  EXPECT_THAT(drafter.sizes, ElementsAre(1, 2, 2, 2));
  path_drafter narrow{row_of, 3};
  (void)tev::expand_rerank{100}(narrow, 3, 2);
  EXPECT_THAT(narrow.sizes, ElementsAre(1, 2, 2));
  path_drafter unused{row_of, 3};
  (void)tev::expand_rerank{2}(unused, 4, 0);
  (void)tev::expand_rerank{2}(unused, 0, 4);
  (void)tev::level_growth{}(unused, 4, 0);
  EXPECT_THAT(unused.sizes, ElementsAre());
}

TEST(LevelBuilders, LeaveANodeWhoseRowIsNotOkALeaf) {
  auto const row_of = [](path const& p) {
    return p == path{0} ? masses{0, 0} : p.size() < 2 ? masses{2, 1} : masses{0, 0};
  };
  path_drafter drafter{row_of, 2};
  EXPECT_THAT(paths_of(tev::expand_rerank{}(drafter, 9, 9)),
              ElementsAre(path{0}, path{1}, path{1, 0}, path{1, 1}));
  EXPECT_THAT(drafter.sizes, ElementsAre(1, 2, 2)) << "nothing is asked below the last level";
  EXPECT_EQ(tev::level_growth{-1.0}.grow(path_drafter{row_of, 2}, 9, 9).levels, 3);
}

TEST(LevelBuilders, ReadOneRowForAllNodesOfADepth) {
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(example.all.data(), 3, 4, 4);
  int calls = 0;
  auto const drafter = [&](tev::frontier const& level) -> integer_rows const& {
    ++calls;
    return tev::marginal_drafter<integer_rows>{rows}(level);
  };
  EXPECT_EQ(tev::expand_rerank{3}(drafter, 3, 9).tree, tev::expand_rerank{3}(rows, 3, 9).tree);
  EXPECT_EQ(calls, 3);
}

TEST(LevelBuilders, TakeAnEnormousWidthAndBudget) {
  EXPECT_EQ(example.built_by(tev::expand_rerank{most}, most).tree.size(), 1 + 4 + 16 + 64);
  EXPECT_EQ(example.built_by(tev::level_growth{}, most).tree.size(), 1 + 4 + 16 + 64);
}

TEST(LevelBuilders, NameABadArgument) {
  auto const expand = [](std::int32_t top_k, std::int32_t budget) {
    return refusal([=] { (void)example.built_by(tev::expand_rerank{top_k}, budget); });
  };
  EXPECT_THAT(expand(0, 4), HasSubstr("expand_rerank: top_k is 0, needs >= 1"));
  EXPECT_THAT(expand(2, -4), HasSubstr("expand_rerank: budget is -4"));
  auto const grow = [](double delta, std::int32_t budget) {
    return refusal([=] { (void)example.built_by(tev::level_growth{delta}, budget); });
  };
  EXPECT_THAT(grow(std::nan(""), 4), HasSubstr("level_growth: delta is NaN"));
  EXPECT_THAT(grow(0.0, -1), HasSubstr("level_growth: budget is -1"));
}

}  // namespace
