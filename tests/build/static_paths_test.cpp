// Static trees: rank paths filled in from rows, and the shapes that are best for given rates.
#include "tev/build/static_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "build/draft_rows.hpp"
#include "support/refusal.hpp"
#include "tev/build/concept.hpp"
#include "tev/build/ranked.hpp"
#include "tev/core/error.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/distribution/softmax_rows.hpp"

namespace {

using boost::multiprecision::cpp_rational;
using testing::ElementsAre;
using testing::HasSubstr;
using tev::rank_path;
using tev::ranked_table;
using tev::static_paths;
using tev_test::draft_rows;
using tev_test::drafts;
using tev_test::path;
using tev_test::paths_of;
using tev_test::refusal;

static_assert(tev::builder<static_paths, tev::mass_rows<std::uint64_t>>);
static_assert(tev::builder<static_paths, tev::softmax_rows<float>>);
static_assert(tev::builder<tev::ranked, tev::mass_rows<std::uint64_t>>);

constexpr auto most = std::numeric_limits<std::int32_t>::max();

static_paths fixed(std::vector<rank_path> const& paths) { return static_paths(paths); }

std::vector<rank_path> listed(static_paths const& builder) {
  return {builder.paths().begin(), builder.paths().end()};
}

// Ranks of the rows: 1 0 2, then 2 1 (token 0 has no mass).
draft_rows const draft{2, 3, {3, 5, 2, 0, 1, 4}};

TEST(StaticPaths, SortsItsPathsAndImpliesPrefixes) {
  EXPECT_THAT(listed(fixed({{1}, {}, {0, 2, 1}, {0}, {0, 1}, {1}})),
              ElementsAre(path{0}, path{1}, path{0, 1}, path{0, 2}, path{0, 2, 1}));
  EXPECT_TRUE(listed(static_paths{}).empty());
}

TEST(StaticPaths, FillsInTokensByRank) {
  auto const built = draft.built_by(fixed({{0, 1}, {1, 0}, {2}}), 10);
  EXPECT_THAT(paths_of(built), ElementsAre(path{1}, path{0}, path{2}, path{1, 1}, path{0, 2}));
  EXPECT_THAT(built.score, ElementsAre(1.0, 0.5, 0.3, 0.2, 0.1, 0.24));
}

TEST(StaticPaths, LeavesOutRanksThatARowLacksWithWhatIsBelow) {
  EXPECT_THAT(paths_of(draft.built_by(fixed({{3, 0}, {0, 2}, {2, 0}, {70000}}), 10)),
              ElementsAre(path{1}, path{2}, path{2, 2}));
  EXPECT_EQ(draft.built_by(fixed({{0, 0, 0}}), 10).tree.size(), 3) << "beyond the rows";
  EXPECT_EQ((draft_rows{2, 2, {0, 0, 1, 1}}.built_by(fixed({{0, 0}}), 10).tree.size()), 1);
  EXPECT_EQ((draft_rows{0, 2, {}}.built_by(fixed({{0, 0}}), 10).tree.size()), 1);
}

TEST(StaticPaths, GivesTheBudgetToNodesThatExist) {
  auto const builder = fixed({{0, 0}, {1}, {5}, {2}});
  EXPECT_EQ(draft.built_by(builder, 0).tree.size(), 1);
  EXPECT_THAT(paths_of(draft.built_by(builder, 2)), ElementsAre(path{1}, path{0}));
  EXPECT_THAT(paths_of(draft.built_by(builder, 4)),
              ElementsAre(path{1}, path{0}, path{2}, path{1, 2}));
}

TEST(StaticPaths, NamesABadArgument) {
  EXPECT_THAT(refusal([] { fixed({{0}, {1, -1}}); }),
              HasSubstr("a rank of paths[1] is -1, needs to be in [0, 2^24)"));
  EXPECT_THAT(refusal([] { fixed({{tev::vocab_limit}}); }), HasSubstr("paths[0] is 16777216"));
  EXPECT_THAT(refusal([] { (void)draft.built_by(fixed({}), -1); }),
              HasSubstr("static_paths: budget is -1"));
}

RC_GTEST_PROP(StaticPaths, KeepsThePathsWhoseTokensHaveMass, ()) {
  auto const rows = *drafts(3, 2);
  auto const paths = *rc::gen::container<std::vector<rank_path>>(
      rc::gen::container<rank_path>(rc::gen::inRange(0, 4)));
  auto const builder = fixed(paths);
  auto const budget = *rc::gen::inRange(0, 12);
  std::vector<path> expected;
  for (auto const& ranks : builder.paths()) {
    path tokens;
    for (std::size_t d = 0; d < ranks.size() && std::ssize(ranks) <= rows.horizon; ++d)
      for (std::int32_t x = 0; x < rows.vocab; ++x)
        if (rows.rank(d, x) == ranks[d] && rows.mass(d, x) > 0) tokens.push_back(x);
    if (tokens.size() == ranks.size() && std::ssize(expected) < budget) expected.push_back(tokens);
  }
  auto const built = rows.built_by(builder, budget);
  RC_ASSERT(paths_of(built) == expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    auto const exact =
        static_cast<double>(rows.weight(expected[i])) / static_cast<double>(rows.weight({}));
    RC_ASSERT(std::abs(built.score[i + 1] - exact) <= 1e-14);
  }
}

cpp_rational size_of(std::vector<rank_path> const& paths, std::vector<cpp_rational> const& rates) {
  cpp_rational size = 1;
  for (auto const& path : paths) {
    cpp_rational product = 1;
    for (auto const rank : path) product *= rates[rank];
    size += product;
  }
  return size;
}

TEST(Ranked, GivesTheWorkedValues) {
  std::vector<cpp_rational> const rates{{6, 10}, {2, 10}, {1, 10}};
  ranked_table<cpp_rational> const table(rates, 16, 6);
  EXPECT_EQ(table.value(1, 6), 1);
  EXPECT_EQ(table.value(2, 2), cpp_rational(8, 5));
  EXPECT_EQ(table.value(3, 2), cpp_rational(9, 5));
  EXPECT_EQ(table.value(3, 3), cpp_rational(49, 25));
  EXPECT_EQ(table.value(5, 6), cpp_rational(297, 125));
  EXPECT_EQ(table.value(8, 4), cpp_rational(679, 250));
  EXPECT_EQ(table.value(8, 6), cpp_rational(1716, 625));
  EXPECT_EQ(table.value(16, 1), 1);
  EXPECT_EQ(table.value(16, 2), cpp_rational(19, 10));
  EXPECT_EQ(table.value(16, 4), cpp_rational(3164, 1000));
  EXPECT_EQ(table.value(most, most), table.value(16, 6)) << "no larger than the table";
  EXPECT_THAT(table.paths(4, 3), ElementsAre(path{0}, path{1}, path{0, 0}));
  EXPECT_THAT(table.paths(4, 4), ElementsAre(path{0}, path{0, 0}, path{0, 0, 0}));
}

std::vector<cpp_rational> any_rates(std::int32_t largest_count) {
  std::vector<cpp_rational> rates;
  auto const count = *rc::gen::inRange(0, largest_count + 1);
  for (std::int32_t r = 0; r < count; ++r) rates.emplace_back(*rc::gen::inRange(0, 8), 7);
  return rates;
}

// Every path of ranks below `ranks` and at most `depth` long, parents first.
std::vector<path> full_tree(std::int32_t ranks, std::int32_t depth) {
  std::vector<path> all{path{}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::int32_t r = 0; r < ranks && std::ssize(all[i]) < depth; ++r) {
      all.push_back(all[i]);
      all.back().push_back(r);
    }
  all.erase(all.begin());
  return all;
}

RC_GTEST_PROP(Ranked, IsWorthAsMuchAsTheBestOfAllTrees, ()) {
  auto const rates = any_rates(3);
  auto const ranks = static_cast<std::int32_t>(rates.size());
  auto const nodes = *rc::gen::inRange(1, ranks > 2 ? 6 : 8);
  auto const levels = *rc::gen::inRange(1, ranks > 2 ? 4 : 5);
  auto const children = *rc::gen::inRange(0, 4);
  ranked_table<cpp_rational> const table(rates, 9, 5, children);
  auto const weight = [&](path const& p) { return size_of({p}, rates) - 1; };
  auto const all = full_tree(std::min(ranks, children), levels - 1);
  RC_ASSERT(table.value(nodes, levels) ==
            1 + tev_test::best_sum<cpp_rational>(all, nodes - 1, weight));
}

RC_GTEST_PROP(Ranked, ReadsBackATreeOfItsValue, ()) {
  auto const rates = any_rates(4);
  auto const children = *rc::gen::inRange(0, 5);
  ranked_table<cpp_rational> const table(rates, 20, 6, children);
  auto const nodes = *rc::gen::inRange(1, 30), levels = *rc::gen::inRange(1, 8);
  auto const paths = table.paths(nodes, levels);
  RC_ASSERT(size_of(paths, rates) == table.value(nodes, levels));
  RC_ASSERT(std::ssize(paths) < nodes);
  RC_ASSERT(std::ranges::is_sorted(paths, tev::shorter_then_smaller));
  std::set<rank_path> const seen(paths.begin(), paths.end());
  RC_ASSERT(seen.size() == paths.size());
  for (auto const& p : paths) {
    RC_ASSERT(std::ssize(p) < levels);
    RC_ASSERT(0 <= p.back() && p.back() < children);
    RC_ASSERT(p.size() == 1 || seen.contains(rank_path(p.begin(), p.end() - 1)));
    RC_ASSERT(rates[p.back()] > 0);
  }
  RC_ASSERT(paths == ranked_table<cpp_rational>(rates, 20, 6, children).paths(nodes, levels));
  RC_ASSERT(paths == listed(static_paths(paths)));
}

TEST(Ranked, NamesABadArgument) {
  auto const make = [](std::vector<double> const& rates, std::int32_t nodes, std::int32_t levels,
                       std::int32_t children = 9) {
    return refusal([&] { ranked_table<double>(rates, nodes, levels, children); });
  };
  EXPECT_THAT(make({0.5, 1.5}, 2, 2), HasSubstr("rates[1] is 1.5"));
  EXPECT_THAT(make({-0.25}, 2, 2), HasSubstr("rates[0] is -0.25"));
  EXPECT_THAT(make({std::nan("")}, 2, 2), HasSubstr("rates[0] is nan"));
  EXPECT_THAT(make({0.5}, 0, 2), HasSubstr("nodes is 0, needs >= 1"));
  EXPECT_THAT(make({0.5}, 2, 0), HasSubstr("levels is 0, needs >= 1"));
  EXPECT_THAT(make({0.5}, 2, 2, -1), HasSubstr("children is -1, needs >= 0"));
  EXPECT_THAT(make({0.5}, most, most), HasSubstr("nodes is 2147483647, needs <= 16384"));
  EXPECT_THAT(make({0.5}, 16384, 16384), HasSubstr("ranks is 268435456, needs <= 16777216"));
  EXPECT_EQ(make({1.0, 0.0}, 2, 2), "accepted");
  std::vector<cpp_rational> const above{{8, 7}}, below{{-1, 7}};
  EXPECT_THAT(refusal([&] { ranked_table<cpp_rational>(above, 2, 2); }), HasSubstr("above 1"));
  EXPECT_THAT(refusal([&] { ranked_table<cpp_rational>(below, 2, 2); }), HasSubstr("below 0"));
  ranked_table<double> const table(std::vector<double>{0.5}, 2, 2);
  EXPECT_THAT(refusal([&] { (void)table.value(0, 1); }), HasSubstr("nodes is 0"));
  EXPECT_THAT(refusal([&] { (void)table.paths(1, -3); }), HasSubstr("levels is -3"));
}

TEST(Ranked, BuildsTheBestShapeOverTheRows) {
  tev::ranked const builder{{0.6, 0.2, 0.1}};
  draft_rows const rows{3, 3, {5, 3, 2, 1, 7, 2, 4, 1, 1}};
  EXPECT_THAT(paths_of(rows.built_by(builder, 3)), ElementsAre(path{0}, path{0, 1}, path{0, 1, 0}));
  EXPECT_THAT(paths_of(rows.built_by(builder, 4)),
              ElementsAre(path{0}, path{1}, path{0, 1}, path{0, 1, 0}));
  EXPECT_EQ(rows.built_by(builder, 0).tree.size(), 1);
  EXPECT_EQ(rows.built_by(builder, most).tree.size(), 1 + 3 + 9 + 27) << "all there is";
  EXPECT_EQ(rows.built_by(tev::ranked{}, 5).tree.size(), 1);
  EXPECT_THAT(refusal([&] { (void)rows.built_by(builder, -1); }),
              HasSubstr("ranked: budget is -1"));
}

}  // namespace
