// The chain verifiers: laws over every draft and every number, as fractions, compared with `==`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/chain_instance.hpp"
#include "support/enumerating_source.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/hierarchical.hpp"
#include "tev/verify/speculative_sampling.hpp"

namespace {

using namespace tev_test;

auto const make_sampling = [](std::uint64_t unit) { return tev::speculative_sampling{unit}; };
auto const make_block = [](std::uint64_t unit) { return tev::block{unit}; };
auto const make_hierarchical = [](std::uint64_t unit) { return tev::hierarchical{unit}; };

template <class Visit>
void for_each_chain_verifier(Visit&& visit) {
  visit("speculative_sampling", make_sampling);
  visit("block", make_block);
  visit("hierarchical", make_hierarchical);
}

void add_rows(chain_world& world, rows_after& rows, std::int32_t longest, std::uint64_t largest) {
  std::vector<text> open{{}};
  for (std::size_t k = 0; k < open.size(); ++k) {
    auto row = *rc::gen::container<std::vector<std::uint64_t>>(
        static_cast<std::size_t>(world.vocab), rc::gen::inRange<std::uint64_t>(0, largest + 1));
    if (std::ranges::count(row, 0u) == world.vocab) row.back() = 1;
    rows[open[k]] = row;
    auto const before = open[k];
    for (tev::token_id x = 0; x < world.vocab; ++x)
      if (static_cast<std::int32_t>(before.size()) < longest) open.push_back(extended(before, x));
  }
}

// Rows of masses up to `largest`, some of target and draft equal, some without common tokens.
rc::Gen<chain_world> worlds(std::uint64_t largest = 3, std::int32_t longest = 3) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([largest, longest] {
                           chain_world world;
                           world.vocab = *rc::gen::inRange(1, 4);
                           world.length = *rc::gen::inRange(0, longest + (world.vocab < 3 ? 2 : 1));
                           add_rows(world, world.target, world.length, largest);
                           if (world.length > 0)
                             add_rows(world, world.draft, world.length - 1, largest);
                           for (auto& [before, row] : world.draft)
                             if (*rc::gen::inRange(0, 4) == 0) row = world.target.at(before);
                           return world;
                         }));
}

std::uint64_t exact_unit_of(chain_world const& world, text const& drafted) {
  auto const unit = exact_chain_unit(world, drafted);
  RC_ASSERT(unit.has_value());
  return *unit;
}

template <class Make>
text_law exact_law(chain_world const& world, Make const& make) {
  return block_law(world, make, [&](text const& drafted) { return exact_unit_of(world, drafted); });
}

// The published rules, from probabilities.

using row_of_rationals = std::vector<rational>;

// max(0, ratio target - draft) for each token, and the sums of these and of max(0, the opposite).
struct difference {
  row_of_rationals above;
  rational plus = 0, minus = 0;

  difference(chain_world const& world, text const& before, rational const& target_scale,
             rational const& draft_scale) {
    for (tev::token_id x = 0; x < world.vocab; ++x) {
      rational const d = target_scale * probability(world.target.at(before), x) -
                         draft_scale * probability(world.draft.at(before), x);
      above.push_back(d > 0 ? d : rational(0));
      (d > 0 ? plus : minus) += d > 0 ? d : rational(-d);
    }
  }
};

void add_bonus(text_law& law, text const& accepted, row_of_rationals const& weights,
               rational const& weight) {
  rational sum = 0;
  for (auto const& w : weights) sum += w;
  for (tev::token_id x = 0; x < static_cast<tev::token_id>(weights.size()); ++x)
    if (weight != 0 && weights[x] != 0) law[extended(accepted, x)] += weight * weights[x] / sum;
}

void add_target_bonus(text_law& law, chain_world const& world, text const& accepted,
                      rational const& weight) {
  row_of_rationals row;
  for (tev::token_id x = 0; x < world.vocab; ++x)
    row.push_back(probability(world.target.at(accepted), x));
  add_bonus(law, accepted, row, weight);
}

// Leviathan et al., Algorithm 1.
text_law published_sampling(chain_world const& world) {
  text_law law;
  for_each_text(world.draft, world.length, [&](text const& drafted, rational weight) {
    for (std::size_t i = 0; i < drafted.size(); ++i) {
      auto const before = prefix(drafted, i);
      rational const accept =
          std::min(rational(1), rational(probability(world.target.at(before), drafted[i]) /
                                         probability(world.draft.at(before), drafted[i])));
      add_bonus(law, before, difference(world, before, 1, 1).above, weight * (1 - accept));
      weight *= accept;
    }
    add_target_bonus(law, world, drafted, weight);
  });
  return law;
}

// Sun et al., Algorithm 2: forwards, the last test that passes counts.
text_law published_block(chain_world const& world) {
  text_law law;
  for_each_text(world.draft, world.length, [&](text const& drafted, rational const& weight) {
    std::vector<rational> stop_at{1};  // Probability that i is the last one so far.
    std::vector<rational> ratio{1};
    for (std::size_t i = 1; i <= drafted.size(); ++i) {
      auto const before = prefix(drafted, i - 1);
      ratio.push_back(
          std::min(rational(1),
                   rational(ratio.back() * probability(world.target.at(before), drafted[i - 1]) /
                            probability(world.draft.at(before), drafted[i - 1]))));
      rational pass = ratio[i];
      if (i < drafted.size()) {
        rational const plus = difference(world, prefix(drafted, i), ratio[i], 1).plus;
        rational const whole = plus + 1 - ratio[i];
        pass = whole == 0 ? rational(1) : rational(plus / whole);
      }
      for (auto& s : stop_at) s *= 1 - pass;
      stop_at.push_back(pass);
    }
    for (std::size_t i = 0; i < drafted.size(); ++i) {
      auto const before = prefix(drafted, i);
      add_bonus(law, before, difference(world, before, ratio[i], 1).above, weight * stop_at[i]);
    }
    add_target_bonus(law, world, drafted, weight * stop_at.back());
  });
  return law;
}

// The hierarchical rule by joint probabilities, with the capped or the plain joint ratio for the
// whole chain: backwards, the first test that passes counts.
text_law published_hierarchical(chain_world const& world, bool capped) {
  text_law law;
  for_each_text(world.draft, world.length, [&](text const& drafted, rational weight) {
    auto const length = drafted.size();
    std::vector<rational> target{1}, draft{1}, joint;
    rational cap = 1;
    for (std::size_t i = 0; i <= length; ++i) {
      if (target[i] / draft[i] > cap) cap = target[i] / draft[i];
      joint.push_back(target[i] / cap);
      if (i == length) break;
      auto const before = prefix(drafted, i);
      target.push_back(target[i] * probability(world.target.at(before), drafted[i]));
      draft.push_back(draft[i] * probability(world.draft.at(before), drafted[i]));
    }
    rational accept = target[length] / draft[length];
    if (capped && length > 0)
      accept =
          joint[length - 1] / draft[length] *
          (target[length - 1] == 0 ? rational(0) : rational(target[length] / target[length - 1]));
    if (accept > 1) accept = 1;
    add_target_bonus(law, world, drafted, weight * accept);
    weight *= 1 - accept;
    for (std::size_t i = length; i-- > 0;) {
      auto const before = prefix(drafted, i);
      difference const d(world, before, joint[i], draft[i]);
      rational const larger = std::max(d.plus, d.minus);
      rational const stop = i == 0 || larger == 0 ? rational(1) : rational(d.plus / larger);
      add_bonus(law, before, d.above, weight * stop);
      weight *= 1 - stop;
    }
  });
  return law;
}

RC_GTEST_PROP(ChainLaw, OfEveryVerifierIsThePublishedOne, ()) {
  auto const world = *worlds();
  RC_ASSERT(exact_law(world, make_sampling) == published_sampling(world));
  auto const block = published_block(world);
  RC_ASSERT(exact_law(world, make_block) == block);
  RC_ASSERT(exact_law(world, make_hierarchical) == block);
}

RC_GTEST_PROP(ChainLaw, OfTheHierarchicalRuleIsThatOfTheBlockRule, ()) {
  auto const world = *worlds();
  RC_ASSERT(published_hierarchical(world, true) == published_block(world));
}

RC_GTEST_PROP(ChainLaw, ExtendedByTargetSamplesIsTheTargets, ()) {
  auto const world = *worlds();
  auto const expected = target_law(world);
  for_each_chain_verifier([&](char const* name, auto const& make) {
    RC_LOG() << name << '\n';
    RC_ASSERT(extended_law(world, exact_law(world, make)) == expected);
  });
}

RC_GTEST_PROP(ChainLaw, OfTheBlockRuleNeverAcceptsFewer, ()) {
  auto const world = *worlds();
  RC_ASSERT(mean_accepted(exact_law(world, make_block)) >=
            mean_accepted(exact_law(world, make_sampling)));
}

// Lengths and rows at which the rules differ, so that the properties above tell them apart.
chain_world worked_world() {
  return {2,
          2,
          {{{}, {1, 2}},
           {{0}, {1, 2}},
           {{1}, {1, 2}},
           {{0, 0}, {1, 1}},
           {{0, 1}, {1, 1}},
           {{1, 0}, {1, 1}},
           {{1, 1}, {1, 1}}},
          {{{}, {2, 1}}, {{0}, {2, 1}}, {{1}, {2, 1}}}};
}

// The two-token example of Sun et al.: 10 / 9 tokens by token, 11 / 9 by block.
TEST(ChainLaw, OfTheWorkedExampleAcceptsMoreByBlock) {
  auto const world = worked_world();
  EXPECT_EQ(mean_accepted(exact_law(world, make_sampling)), rational(10, 9));
  EXPECT_EQ(mean_accepted(exact_law(world, make_block)), rational(11, 9));
}

TEST(ChainLaw, OfTheHierarchicalRuleWithThePlainRatioIsNotExact) {
  auto const world = worked_world();
  EXPECT_EQ(extended_law(world, published_hierarchical(world, true)), target_law(world));
  EXPECT_NE(extended_law(world, published_hierarchical(world, false)), target_law(world));
}

// The intervals stand for every number: on what can be enumerated, they give the same law.
RC_GTEST_PROP(ChainLaw, ByIntervalsIsThatByEveryNumber, ()) {
  auto const world = *worlds(2, 2);
  for_each_chain_verifier([&](char const*, auto const& make) {
    text_law law;
    std::size_t outcomes = 0;
    for_each_text(world.draft, world.length, [&](text const& drafted, rational const& weight) {
      chain_scene scene(world, drafted);
      auto const p = scene.problem();
      auto const verifier = make(exact_unit_of(world, drafted));
      enumerating_source source;
      do {
        auto const o = verifier(tev::serial_team{}, p, source);
        auto const accepted = prefix(drafted, static_cast<std::size_t>(o.accepted_length));
        law[extended(accepted, o.bonus_token)] += weight * source.weight();
      } while (++outcomes < 20'000 && source.next());
    });
    RC_CLASSIFY(outcomes >= 20'000, "too large");
    if (outcomes < 20'000) RC_ASSERT(exact_law(world, make) == law);
  });
}

rational total_variation(text_law const& left, text_law const& right) {
  text_law off = left;
  for (auto const& [key, weight] : right) off[key] -= weight;
  rational sum = 0;
  for (auto const& [key, weight] : off) sum += weight > 0 ? weight : rational(-weight);
  return sum / 2;
}

RC_GTEST_PROP(ChainLaw, StaysWithinItsBoundForAnyUnit, ()) {
  auto const world = *worlds(40);
  auto const expected = target_law(world);
  auto const unit = *rc::gen::element<std::uint64_t>(1, 2, 7, 100, 9'999, tev::default_flow_unit,
                                                     ~std::uint64_t{0});
  for_each_chain_verifier([&](char const* name, auto const& make) {
    RC_LOG() << name << '\n';
    auto const law = extended_law(world, block_law(world, make, [&](text const&) { return unit; }));
    for (auto const& [emitted, weight] : law) RC_ASSERT(expected.contains(emitted));
    bool const by_token = name == std::string_view("speculative_sampling");
    rational const parts = by_token ? 2 * world.length : world.length * (world.length + 3);
    RC_ASSERT(total_variation(law, expected) <= parts * world.vocab / rational(unit));
  });
}

}  // namespace
