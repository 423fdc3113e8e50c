// Each verifier on one tree that can be followed by hand: outcomes, the numbers asked for, the rows
// touched, and the status of every way in which a walk can end without a token.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/all_verifiers.hpp"
#include "support/fixed_sources.hpp"
#include "support/instance.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/greedy.hpp"

namespace {

using namespace tev_test;
using tev::purpose;
using tev::status;

// Answers by decision; 0 for one that is not in the list.
struct scripted_source {
  std::map<std::pair<purpose, std::uint32_t>, std::uint64_t> answers;  // By purpose and position.

  [[nodiscard]] std::uint64_t below(tev::decision d, std::uint64_t n) const {
    auto const found = answers.find({d.what, d.position});
    std::uint64_t const answer = found == answers.end() ? 0 : found->second;
    return answer < n ? answer : n - 1;
  }
};

// Root: a 2, b 1, c 1. Below a: b 2, c 1. Below b: all on c. Nodes 1 = a, 2 = b, 3 = ab, 4 = bc.
integer_scene worked_example() {
  return integer_scene(
      {{-1, 0, 0, 1, 2}, {-1, 0, 1, 1, 2}, 3, {2, 1, 1, 0, 2, 1, 0, 0, 5, 1, 1, 1, 1, 0, 0}});
}

template <class Verifier>
tev::outcome run(Verifier const& verifier, scripted_source const& source) {
  auto scene = worked_example();
  return verifier(tev::serial_team{}, scene.unprepared(1, 100), source);
}

// Questions as (purpose, position, index, n).
using question = std::tuple<purpose, std::uint32_t, std::uint32_t, std::uint64_t>;

template <class Verifier>
std::vector<question> questions(Verifier const& verifier, scripted_source const& script) {
  auto scene = worked_example();
  recording_source<scripted_source> const source{script};
  (void)verifier(tev::serial_team{}, scene.unprepared(1, 100), source);
  std::vector<question> list;
  for (auto const& q : source.asked) {
    EXPECT_EQ(q.what.request, 1u);
    list.emplace_back(q.what.what, q.what.position, q.what.index, q.n);
  }
  return list;
}

TEST(TreeExit, NamesTheExitNodeByTheIntervalOfItsNumber) {
  // With a unit of 12: ab [0, 4), a [4, 6), bc [6, 9), root [9, 12); b has no residual.
  tev::tree_exit const verifier{12};
  tev::node_id const expected[] = {3, 3, 3, 3, 1, 1, 4, 4, 4, 0, 0, 0};
  for (std::uint64_t r = 0; r < 12; ++r)
    EXPECT_EQ(run(verifier, {{{{purpose::exit, 100}, r}}}).exit_node, expected[r]) << r;
}

TEST(TreeExit, DrawsTheBonusFromTheResidualOfTheExitNode) {
  tev::tree_exit const verifier{12};
  auto const root = run(verifier, {{{{purpose::exit, 100}, 9}}});
  EXPECT_EQ(root, (tev::outcome{0, 2, 0, status::ok})) << "a and b have nodes";
  auto const leaf = run(verifier, {{{{purpose::exit, 100}, 0}, {{purpose::residual, 103}, 2}}});
  EXPECT_EQ(leaf, (tev::outcome{3, 2, 2, status::ok}));
}

TEST(TreeExit, AsksForTwoNumbers) {
  std::vector<question> const expected{{purpose::exit, 100, 0, 12}, {purpose::residual, 102, 0, 1}};
  EXPECT_EQ(questions(tev::tree_exit{12}, {{{{purpose::exit, 100}, 5}}}), expected);
}

TEST(Predraw, FollowsTheDrawnTokens) {
  EXPECT_EQ(run(tev::predraw{}, {{{{purpose::token, 101}, 3}}}),
            (tev::outcome{0, 2, 0, status::ok}));
  EXPECT_EQ(run(tev::predraw{}, {{{{purpose::token, 101}, 1}, {{purpose::token, 102}, 2}}}),
            (tev::outcome{1, 2, 1, status::ok}));
  EXPECT_EQ(run(tev::predraw{}, {{{{purpose::token, 101}, 2}}}),
            (tev::outcome{4, 0, 2, status::ok}));
}

TEST(Predraw, AsksForOneNumberPerPosition) {
  std::vector<question> const expected{
      {purpose::token, 101, 0, 4}, {purpose::token, 102, 0, 5}, {purpose::token, 103, 0, 1}};
  EXPECT_EQ(questions(tev::predraw{}, {{{{purpose::token, 101}, 2}}}), expected);
}

TEST(PredrawEager, AsksForOneNumberPerNode) {
  verifier_workspace space(5);
  std::vector<question> const expected{{purpose::token, 101, 0, 4},
                                       {purpose::token, 102, 0, 3},
                                       {purpose::token, 102, 0, 5},
                                       {purpose::token, 103, 0, 3},
                                       {purpose::token, 103, 0, 1}};
  EXPECT_EQ(questions(tev::predraw_eager{space.drawn.data(), space.depth.data()}, {}), expected);
}

TEST(SequentialResidual, TakesARejectedChildsMassAway) {
  // a is rejected by 2 of 4, b by 1 of 2, and one unit of c is left.
  struct by_index {
    [[nodiscard]] std::uint64_t below(tev::decision d, std::uint64_t) const {
      return d.what == purpose::sibling ? 2 - d.index : 0;
    }
  };
  auto scene = worked_example();
  recording_source<by_index> const source;
  auto const o = tev::sequential_residual{}(tev::serial_team{}, scene.unprepared(1, 100), source);
  EXPECT_EQ(o, (tev::outcome{0, 2, 0, status::ok}));
  std::vector<std::uint64_t> ranges;
  for (auto const& q : source.asked) ranges.push_back(q.n);
  EXPECT_EQ(ranges, (std::vector<std::uint64_t>{4, 2, 1}));
}

TEST(SequentialResidual, AsksForOneNumberPerChildTestedAndOneForTheBonus) {
  std::vector<question> const expected{
      {purpose::sibling, 101, 0, 4}, {purpose::sibling, 102, 0, 3}, {purpose::residual, 103, 0, 3}};
  EXPECT_EQ(questions(tev::sequential_residual{}, {}), expected);
}

TEST(SequentialResidual, AsksNothingAboutAChildWithoutMass) {
  integer_scene scene({{-1, 0, 0}, {-1, 1, 0}, 2, {1, 0, 1, 1, 1, 1}});
  recording_source<end_source> const source{{end::high}};
  auto const o = tev::sequential_residual{}(tev::serial_team{}, scene.unprepared(1, 100), source);
  EXPECT_EQ(o.exit_node, 2);
  ASSERT_EQ(source.asked.size(), 2u);
  EXPECT_EQ(source.asked[0].what.index, 1u);
}

TEST(Greedy, FollowsTheLowestTokenOfMaximalMassAndAsksForNothing) {
  auto scene = worked_example();
  recording_source<end_source> const source;
  auto const o = tev::greedy{}(tev::serial_team{}, scene.unprepared(), source);
  EXPECT_EQ(o, (tev::outcome{3, 0, 2, status::ok}));
  EXPECT_TRUE(source.asked.empty());
}

TEST(Verifiers, PrepareOnlyTheRowsOfThePath) {
  auto const lazy = [](auto const& verifier, std::vector<bool> const& expected) {
    auto const tree = tev::draft_tree::from_parents({-1, 0, 0, 1, 2}, {-1, 0, 1, 1, 2});
    std::vector<std::uint64_t> const masses{2, 1, 1, 0, 2, 1, 0, 0, 5, 1, 1, 1, 1, 0, 0};
    std::vector<tev::mass_summary<std::uint64_t>> summaries(5);
    integer_problem const p{tree.view(), {masses.data(), 3, 3, summaries.data(), nullptr}, 1, 100};
    (void)verifier(tev::serial_team{}, p, end_source{});
    for (std::size_t v = 0; v < 5; ++v) EXPECT_EQ(summaries[v].ready, expected[v]) << v;
  };
  lazy(tev::predraw{}, {true, true, false, true, false});
  lazy(tev::tree_exit{}, {true, true, false, true, false});
  lazy(tev::sequential_residual{}, {true, true, false, true, false});
  lazy(tev::greedy{}, {true, true, false, true, false});
}

template <class Visit>
void for_each_with_greedy(std::int32_t size, Visit&& visit) {
  verifier_workspace space(size);
  for_each_verifier([&](std::string const& name, auto const& make) {
    visit(name, make(tev::default_flow_unit, space));
  });
  visit("greedy", tev::greedy{});
}

TEST(Verifiers, StopWithTheStatusOfARowThatIsNotOk) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  integer_scene empty({{-1, 0}, {-1, 0}, 2, {1, 0, 0, 0}});
  integer_scene overflowing({{-1, 0}, {-1, 0}, 2, {1, 0, huge, huge}});
  for_each_with_greedy(2, [&](std::string const& name, auto const& verifier) {
    EXPECT_EQ(verifier(tev::serial_team{}, empty.unprepared(), end_source{}),
              (tev::outcome{1, tev::no_token, 1, status::no_mass}))
        << name;
    EXPECT_EQ(verifier(tev::serial_team{}, overflowing.unprepared(), end_source{}),
              (tev::outcome{1, tev::no_token, 1, status::not_finite}))
        << name;
  });
}

TEST(Verifiers, GiveNoTokenWhereARowKeepsItsRestFromEveryToken) {
  // One of four units of mass belongs to no token: a number that falls there yields none.
  std::vector<std::uint64_t> const masses{1, 2}, totals{4};
  tev::mass_storage<std::uint64_t> storage;
  tev::draft_tree const tree;
  integer_problem const p{tree.view(), storage.rows(masses.data(), 1, 2, 2, totals.data()), 1, 2};
  verifier_workspace space(1);
  for_each_verifier([&](std::string const& name, auto const& make) {
    auto const verifier = make(tev::default_flow_unit, space);
    EXPECT_EQ(verifier(tev::serial_team{}, p, end_source{end::high}),
              (tev::outcome{0, tev::no_token, 0, status::no_mass}))
        << name;
    EXPECT_EQ(verifier(tev::serial_team{}, p, end_source{end::low}),
              (tev::outcome{0, 0, 0, status::ok}))
        << name;
  });
}

TEST(Verifiers, EndWithoutATokenWhenTheSourceAnswersWithItsBound) {
  // Children hold all of the root's mass: only a number outside its range exits there.
  integer_scene scene({{-1, 0, 0}, {-1, 0, 1}, 2, {1, 1, 1, 1, 1, 1}});
  struct beyond_source {
    [[nodiscard]] std::uint64_t below(tev::decision, std::uint64_t n) const { return n; }
  };
  tev::outcome const nothing{0, tev::no_token, 0, status::no_mass};
  auto const exit = tev::tree_exit{}(tev::serial_team{}, scene.unprepared(), beyond_source{});
  EXPECT_EQ(exit, nothing);
  EXPECT_NE(exit, (tev::outcome{0, tev::no_token, 0, status::ok})) << "the status counts";
  EXPECT_EQ(tev::sequential_residual{}(tev::serial_team{}, scene.unprepared(), beyond_source{}),
            nothing);
}

TEST(TreeExit, RefusesAUnitOfZero) {
  EXPECT_EQ(run(tev::tree_exit{0}, {}), (tev::outcome{0, tev::no_token, 0, status::bad_parameter}));
}

TEST(PredrawEager, StaysInItsWorkspaceWhereParentsStandBehindTheirChildren) {
  tev::node_id const parents[] = {-1, 7}, first[] = {1, -1}, next[] = {-1, -1};
  tev::token_id const tokens[] = {-1, 0};
  std::vector<std::uint64_t> const masses{1, 0, 0, 1};
  tev::mass_storage<std::uint64_t> storage;
  integer_problem const p{
      {2, parents, tokens, first, next}, storage.rows(masses.data(), 2, 2, 2), 1, 2};
  std::vector<tev::token_id> drawn(2, 77);
  std::vector<std::int32_t> depth(2, 77);
  auto const o =
      tev::predraw_eager{drawn.data(), depth.data()}(tev::serial_team{}, p, end_source{});
  EXPECT_EQ(drawn, (std::vector<tev::token_id>{0, 1}));
  EXPECT_EQ(depth, (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(o.state, status::ok);
  EXPECT_LT(o.exit_node, 2);
}

TEST(Verifiers, NoticeChildrenThatHoldMoreThanTheRow) {
  // Links that list one token twice: only verifiers that add children up can see it.
  tev::node_id const parents[] = {-1, 0, 0}, first[] = {1, -1, -1}, next[] = {-1, 2, -1};
  tev::token_id const tokens[] = {-1, 0, 0};
  std::vector<std::uint64_t> const masses{3, 1, 1, 1, 1, 1};
  tev::mass_storage<std::uint64_t> storage;
  integer_problem const p{
      {3, parents, tokens, first, next}, storage.rows(masses.data(), 3, 2, 2), 1, 2};
  EXPECT_EQ(tev::tree_exit{}(tev::serial_team{}, p, probing_source{tev::default_flow_unit - 1}),
            (tev::outcome{0, tev::no_token, 0, status::bad_tree}));
  EXPECT_EQ(tev::sequential_residual{}(tev::serial_team{}, p, end_source{end::high}),
            (tev::outcome{0, tev::no_token, 0, status::bad_tree}));
}

}  // namespace
