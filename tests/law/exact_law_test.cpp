// Exactness by enumeration: every value of every random number, laws as fractions, compared with
// `==`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "support/all_verifiers.hpp"
#include "support/enumerating_source.hpp"
#include "support/expected_law.hpp"
#include "support/generators.hpp"
#include "support/instance.hpp"
#include "support/law_tally.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/attention.hpp"
#include "tev/verify/greedy.hpp"

namespace {

using namespace tev_test;

// Trees tried in each case of a property, and outcomes after which a law counts as too large.
constexpr int trees_per_case = 4;
constexpr std::size_t outcome_limit = 100'000;

TEST(ExactLaw, OfEveryVerifierIsTheExitLawOnGeneratedTrees) {
  law_tally t;
  bool const held = rc::check("the enumerated law equals the exit law", [&t] {
    for (int k = 0; k < trees_per_case; ++k) {
      auto const i = *instances();
      integer_scene scene(i);
      auto const p = scene.prepared();
      expect_laws(p, expected_law(p), exact_unit(p), outcome_limit, t);
    }
  });
  EXPECT_TRUE(held);
  std::cout << t.laws << " laws over " << t.outcomes << " outcomes, " << t.too_large
            << " too large\n";
  EXPECT_GE(t.laws, 1500u);
  EXPECT_LE(t.too_large * 20, t.laws) << "too many laws are too large to enumerate";
}

RC_GTEST_PROP(ExpectedLaw, IsThatOfTargetContinuations, ()) {
  auto const i = *instances();
  integer_scene scene(i);
  auto const p = scene.prepared();
  outcome_law continuations;
  add_continuations(p, 0, rational(1), continuations);
  RC_ASSERT(expected_law(p) == continuations);
}

RC_GTEST_PROP(ExitLaw, SumsToOneAndItsMeanDepthIsTheCoverage, ()) {
  auto const i = *instances();
  integer_scene scene(i);
  auto const p = scene.prepared();
  auto const law = tev::exit_law_of<rational>(p.tree, p.target);
  auto const depth = tev::depths(p.tree);
  rational sum = 0, mean = 0, squares = 0;
  for (tev::node_id v = 0; v < p.tree.size(); ++v) {
    sum += law.exit[v];
    mean += law.exit[v] * depth[v];
    squares += law.exit[v] * depth[v] * depth[v];
  }
  RC_ASSERT(sum == 1);
  RC_ASSERT(law.coverage == mean);
  RC_ASSERT(tev::accepted_length_variance(p.tree, law) == rational(squares - mean * mean));
}

// No generated row sums past 64 bits, so the other kind of bad row is planted.
TEST(ExactLaw, EndsWithoutABonusTokenAtARowThatIsNotOk) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  integer_scene scene({{-1, 0, 0, 1}, {-1, 0, 1, 1}, 2, {1, 2, huge, huge, 0, 0, 1, 1}});
  auto const p = scene.prepared();
  outcome_law const expected{{{1, -1}, rational(1, 3)}, {{2, -1}, rational(2, 3)}};
  EXPECT_EQ(expected_law(p), expected);
  verifier_workspace space(p.tree.size());
  std::size_t count = 0;
  for_each_verifier([&](std::string const& name, auto const& make) {
    auto const verifier = make(exact_unit(p), space);
    EXPECT_EQ(enumerated_law(verifier, p, outcome_limit, count), expected) << name;
    enumerating_source source;
    do {
      auto const o = verifier(tev::serial_team{}, p, source);
      auto const state = o.exit_node == 1 ? tev::status::not_finite : tev::status::no_mass;
      EXPECT_EQ(o.state, state) << name;
      EXPECT_EQ(o.accepted_length, 1) << name;
    } while (source.next());
  });
}

RC_GTEST_PROP(ExactLaw, AcceptsTheDepthOfTheExitNode, ()) {
  auto const i = *instances({.nodes = 5, .vocab = 3, .mass = 2});
  integer_scene scene(i);
  auto const p = scene.prepared();
  auto const depth = tev::depths(p.tree);
  verifier_workspace space(p.tree.size());
  for_each_verifier([&](std::string const&, auto const& make) {
    auto const verifier = make(exact_unit(p), space);
    enumerating_source source;
    do {
      auto const o = verifier(tev::serial_team{}, p, source);
      RC_ASSERT(o.accepted_length == depth[o.exit_node]);
      RC_ASSERT((o.bonus_token == tev::no_token) == (o.state != tev::status::ok));
    } while (source.next());
  });
}

// At temperature 0 every total is 2^40 and all of it lies on one token: the law is a point.
TEST(ExactLaw, OfSoftmaxRowsAtTemperatureZeroIsTheGreedyPath) {
  std::vector<float> const logits{1, 3, 3, 0, 2, 1, 5, 4, 5};
  auto const tree = tev::draft_tree::from_parents({-1, 0, 0}, {-1, 1, 2});
  tev::softmax_storage storage;
  tev::problem<tev::tree_view, tev::softmax_rows<float>> const p{
      tree.view(), storage.rows(logits.data(), 3, 3, 3, 0.0f), 1, 2};
  for (tev::node_id v = 0; v < 3; ++v) p.target.prepare(tev::serial_team{}, v);
  outcome_law const expected{{{1, 1}, rational(1)}};
  EXPECT_EQ(expected_law(p), expected);
  enumerating_source source;
  auto const o = tev::greedy{}(tev::serial_team{}, p, source);
  EXPECT_EQ(o, (tev::outcome{1, 1, 1, tev::status::ok}));
  EXPECT_EQ(source.asked(), 0u);
}

}  // namespace
