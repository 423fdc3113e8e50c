// The one statistical test: softmax rows over several chunks and the real generator, at a size that
// can't be enumerated. Seeds are fixed, so it passes always or never.
// ctest-optimised
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/all_verifiers.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"

namespace {

constexpr std::int32_t vocab = 3000;
constexpr int samples = 24'000;

// A tree with children in different chunks, over rows with a few likely tokens and a long tail.
struct large_scene {
  large_scene()
      : tree(tev::draft_tree::from_parents({-1, 0, 0, 1, 3}, {-1, 17, 2050, 1023, 1024})) {
    tev::philox const noise{99};
    for (std::uint32_t v = 0; v < 5; ++v)
      for (std::uint32_t x = 0; x < vocab; ++x) {
        auto const u = noise.below({v, x, tev::purpose::drafter, 0}, 1'000'000);
        logits.push_back(static_cast<float>(u) * 4e-6f + (x % 331 == 17 ? 2.0f : 0.0f));
      }
    for (tev::node_id v = 1; v < 5; ++v)
      logits[static_cast<std::size_t>(tree.parent(v) * vocab + tree.token(v))] = 11.0f;
    problem = {tree.view(), storage.rows(logits.data(), 5, vocab, vocab, 1.0f), 0, 50};
    for (tev::node_id v = 0; v < 5; ++v) problem.target.prepare(tev::serial_team{}, v);
  }

  tev::draft_tree tree;
  std::vector<float> logits;
  tev::softmax_storage storage;
  tev::problem<tev::tree_view, tev::softmax_rows<float>> problem{};
};

// Probability of each (node, token), at node * vocab + token.
std::vector<double> expected_cells(large_scene const& s) {
  auto const law = tev::exit_law_of(s.problem.tree, s.problem.target);
  std::vector<double> cells(5 * vocab);
  for (tev::node_id v = 0; v < 5; ++v) {
    tev::child_tokens<tev::tree_view> const children{s.problem.tree, v};
    for (tev::token_id x = 0; x < vocab; ++x)
      if (!tev::contains(children, x))
        cells[static_cast<std::size_t>(v * vocab + x)] =
            law.reach[v] * static_cast<double>(s.problem.target.mass(v, x)) /
            static_cast<double>(s.problem.target.total(v));
  }
  return cells;
}

// p-value of counts under probabilities; neighbouring cells are pooled until 100 are expected.
double p_value(std::vector<int> const& counts, std::vector<double> const& probability) {
  double statistic = 0, expected = 0, observed = 0;
  int cells = 0;
  auto const close = [&] {
    statistic += (observed - expected) * (observed - expected) / expected;
    ++cells;
    expected = observed = 0;
  };
  for (std::size_t k = 0; k < counts.size(); ++k) {
    // What can't happen must not, or no pooled cell would show it.
    if (probability[k] == 0 && counts[k] > 0) return 0;
    expected += probability[k] * samples;
    observed += counts[k];
    if (expected >= 100) close();
  }
  if (expected > 0) close();
  return boost::math::cdf(
      boost::math::complement(boost::math::chi_squared(std::max(cells - 1, 1)), statistic));
}

template <class Verifier>
std::vector<int> sampled_cells(large_scene const& s, Verifier const& verifier) {
  std::vector<int> counts(5 * vocab);
  auto p = s.problem;
  for (int n = 0; n < samples; ++n) {
    p.request = static_cast<std::uint64_t>(n);
    auto const o = verifier(tev::serial_team{}, p, tev::philox{20260101});
    ++counts[static_cast<std::size_t>(o.exit_node * vocab + o.bonus_token)];
  }
  return counts;
}

TEST(SampledLaw, OfEveryVerifierFollowsTheExitLawOverSeveralChunks) {
  large_scene const s;
  auto const expected = expected_cells(s);
  tev_test::verifier_workspace space(5);
  tev_test::for_each_verifier([&](std::string const& name, auto const& make) {
    auto const counts = sampled_cells(s, make(tev::default_flow_unit, space));
    EXPECT_GT(p_value(counts, expected), 1e-6) << name;
  });
}

// The same test with as many samples sees an exit at the root that is a fifth too likely.
TEST(SampledLaw, HasThePowerToRejectAPlantedBias) {
  large_scene const s;
  auto expected = expected_cells(s);
  auto const counts = sampled_cells(s, tev::predraw{});
  for (std::size_t k = 0; k < vocab; ++k) expected[k] *= 1.2;
  double sum = 0;
  for (double const w : expected) sum += w;
  for (double& w : expected) w /= sum;
  EXPECT_LT(p_value(counts, expected), 1e-6);
}

// Pooling can't hide a token that should never come.
TEST(SampledLaw, RejectsATokenThatCantHappen) {
  large_scene const s;
  auto expected = expected_cells(s);
  auto const counts = sampled_cells(s, tev::predraw{});
  expected[17 + 331] = 0;
  EXPECT_EQ(p_value(counts, expected), 0);
}

}  // namespace
