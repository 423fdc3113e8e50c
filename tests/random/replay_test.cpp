// The caller's numbers: which one answers what, what happens outside [0, 1) and past their end; and
// how many numbers every verifier asks for.
#include "tev/random/replay.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/all_verifiers.hpp"
#include "support/chain_instance.hpp"
#include "support/fixed_sources.hpp"
#include "support/generators.hpp"
#include "support/instance.hpp"
#include "tev/random/concept.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/hierarchical.hpp"
#include "tev/verify/speculative_sampling.hpp"

namespace {

using namespace tev_test;
using tev::decision;
using tev::purpose;
using tev::replay;
using tev::to_unit_fraction;
using tev::unit_fraction;

constexpr std::uint32_t root = 9;  // The position that `instance.hpp` gives problems.
constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

// All 128 bits of the number that Philox gives a decision.
unit_fraction philox_number(tev::philox const& source, decision d) {
  auto const u = tev::philox::rounds(
      {static_cast<std::uint32_t>(d.request), static_cast<std::uint32_t>(d.request >> 32),
       d.position, static_cast<std::uint32_t>(d.what) << 24 | d.index},
      static_cast<std::uint32_t>(source.seed), static_cast<std::uint32_t>(source.seed >> 32));
  return {std::uint64_t{u[3]} << 32 | u[2], std::uint64_t{u[1]} << 32 | u[0]};
}

template <class Number>
std::uint64_t below(Number u, std::uint64_t n) {
  return replay<Number>{.numbers = &u, .count = 1}.below({0, 1, purpose::token, 0}, n);
}

template <class Float>
void expect_exact_floor() {
  auto const bits = rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, top));
  Float const u = std::ldexp(static_cast<Float>(*bits % (std::uint64_t{1} << 24)),
                             -24 - static_cast<int>(*bits % 90));
  std::uint64_t const n = *bits >> *bits % 64;
  big_integer const scaled = numerator(rational(u)) * n / denominator(rational(u));
  RC_ASSERT(big_integer(below(u, n)) == scaled);
}

RC_GTEST_PROP(Replay, OfAFloatIsTheFloorOfItsExactProduct, ()) {
  for (int k = 0; k < 20; ++k) expect_exact_floor<float>();
}

RC_GTEST_PROP(Replay, OfADoubleIsTheFloorOfItsExactProduct, ()) {
  for (int k = 0; k < 20; ++k) expect_exact_floor<double>();
}

template <class Float>
void expect_ends_inside() {
  using limits = std::numeric_limits<Float>;
  Float const last = std::nextafter(Float(1), Float(0));
  for (Float const low : {Float(0), -Float(0), -limits::denorm_min(), Float(-1), limits::lowest(),
                          -limits::infinity(), limits::quiet_NaN(), -limits::quiet_NaN()}) {
    EXPECT_EQ(to_unit_fraction(low), unit_fraction{}) << low;
    EXPECT_EQ(below(low, top), 0u) << low;
  }
  for (Float const high : {Float(1), Float(1.5), limits::max(), limits::infinity()}) {
    EXPECT_EQ(to_unit_fraction(high), tev::below_one()) << high;
    EXPECT_NE(to_unit_fraction(high), (unit_fraction{tev::below_one().high, 0})) << high;
    EXPECT_NE(to_unit_fraction(high), (unit_fraction{0, tev::below_one().low})) << high;
    EXPECT_EQ(below(high, top), top - 1) << high;
    EXPECT_EQ(below(high, 1), 0u) << high;
  }
  EXPECT_EQ(below(last, std::uint64_t{1} << limits::digits),
            (std::uint64_t{1} << limits::digits) - 1);
  EXPECT_EQ(below(limits::denorm_min(), top), 0u);
  EXPECT_EQ(below(limits::min(), top), 0u);
  EXPECT_EQ(below(Float(0.5), top), top / 2);
}

TEST(Replay, MovesFloatsFromOutsideInside) { expect_ends_inside<float>(); }
TEST(Replay, MovesDoublesFromOutsideInside) { expect_ends_inside<double>(); }

TEST(Replay, TakesSixtyFourBitsAsAFixedPoint) {
  EXPECT_EQ(below(std::uint64_t{0}, top), 0u);
  EXPECT_EQ(below(top, top), top - 1);
  EXPECT_EQ(below(top, 7), 6u);
  EXPECT_EQ(below(std::uint64_t{1} << 63, 7), 3u);
  EXPECT_EQ(below(tev::below_one(), top), top - 1);
  EXPECT_EQ(below(top, 0), 0u);
}

TEST(Replay, AnswersByDepthAndIndex) {
  std::vector<std::uint64_t> const numbers{10, 11, 12, 13, 14, 15};
  replay<std::uint64_t> const source{
      .numbers = numbers.data(), .count = 6, .bonus = 99, .root_position = 100, .per_position = 2};
  EXPECT_EQ(source.slot_of({7, 100, purpose::exit, 0}), 0);
  EXPECT_EQ(source.slot_of({7, 101, purpose::token, 0}), 0);
  EXPECT_EQ(source.slot_of({7, 101, purpose::sibling, 1}), 1);
  EXPECT_EQ(source.slot_of({7, 103, purpose::sibling, 0}), 4);
  EXPECT_EQ(source.slot_of({7, 103, purpose::sibling, 1}), 5);
  for (decision const none :
       {decision{7, 101, purpose::exit, 0}, decision{7, 100, purpose::exit, 1},
        decision{7, 100, purpose::token, 0}, decision{7, 101, purpose::sibling, 2},
        decision{7, 101, purpose::drafter, 0}})
    EXPECT_EQ(source.slot_of(none), -1);
  std::uint64_t const all = std::uint64_t{1} << 63;
  std::vector<std::uint64_t> const large{all, all + 2};
  replay<std::uint64_t> const two{.numbers = large.data(), .count = 2, .bonus = all + 4};
  EXPECT_EQ(two.below({0, 2, purpose::sibling, 0}, all), all / 2 + 1);
  EXPECT_EQ(two.below({0, 55, purpose::residual, 0}, all), all / 2 + 2);
}

TEST(Replay, LeavesToAGeneratorWhatItHasNoNumberFor) {
  std::vector<std::uint64_t> const numbers{1, 1};
  tev::philox const rest{77};
  for (std::int64_t const count : {-1, 0, 2})
    for (std::int32_t const per_position : {-1, 0, 1}) {
      replay<std::uint64_t> const source{
          count > 0 ? numbers.data() : nullptr, count, 5, 100, per_position, rest};
      for (decision const d :
           {decision{1, 103, purpose::token, 0}, decision{1, 99, purpose::token, 0},
            decision{1, 100, purpose::sibling, 0}, decision{1, 101, purpose::sibling, 1},
            decision{1, 101, purpose::sibling, top & 0xffffffu}, decision{1, 0, purpose::exit, 0},
            decision{1, 101, purpose::drafter, 0}})
        EXPECT_EQ(source.below(d, top), rest.below(d, top));
    }
}

// A replay of Philox's own numbers for up to `depths` positions of `width` tests each.
struct replayed {
  replayed(tev::philox const& source, std::uint64_t request, purpose what, std::int32_t depths,
           std::uint32_t width, std::uint32_t bonus_position) {
    for (std::int32_t k = 0; k < depths; ++k)
      for (std::uint32_t i = 0; i < width; ++i) {
        auto const position = root + static_cast<std::uint32_t>(k) + 1;
        numbers.push_back(philox_number(source, {request, position, what, i}));
      }
    if (what == purpose::exit) numbers = {philox_number(source, {request, root, what, 0})};
    view = {.numbers = numbers.data(),
            .count = static_cast<std::int64_t>(numbers.size()),
            .bonus = philox_number(source, {request, bonus_position, purpose::residual, 0}),
            .root_position = root,
            .per_position = static_cast<std::int32_t>(width),
            .rest = tev::philox{~source.seed}};
  }
  std::vector<unit_fraction> numbers;
  replay<unit_fraction> view;
};

RC_GTEST_PROP(Replay, OfPhiloxsOwnNumbersGivesPhiloxsOutcomes, ()) {
  integer_scene scene(*instances());
  auto const p = scene.prepared();
  tev::philox const source{*rc::gen::arbitrary<std::uint64_t>()};
  verifier_workspace space(p.tree.size());
  for_each_verifier([&](std::string const& name, auto const& make) {
    auto const verifier = make(tev::default_flow_unit, space);
    auto const expected = verifier(tev::serial_team{}, p, source);
    auto const what = name == "tree_exit"             ? purpose::exit
                      : name == "sequential_residual" ? purpose::sibling
                                                      : purpose::token;
    auto const width =
        name == "sequential_residual" ? static_cast<std::uint32_t>(p.tree.size()) : 1;
    replayed const numbers(source, p.request, what, p.tree.size(), width,
                           root + static_cast<std::uint32_t>(expected.accepted_length) + 1);
    RC_ASSERT(verifier(tev::serial_team{}, p, numbers.view) == expected);
  });
}

// The documented counts. Every decision a verifier asks is its own and belongs to the verifiers.
template <class Verifier, class Problem>
std::size_t draws(Verifier const& verifier, Problem const& p, tev::outcome& o,
                  std::uint64_t seed = 3) {
  recording_source<tev::philox> const source{{seed}};
  o = verifier(tev::serial_team{}, p, source);
  for (auto const& q : source.asked) {
    RC_ASSERT(q.what.what < purpose::drafter);
    RC_ASSERT(q.what.request == p.request);
  }
  return source.asked.size();
}

RC_GTEST_PROP(Draws, OfEveryVerifierOfTreesAreAsDocumented, ()) {
  integer_scene scene(*instances());
  auto const p = scene.prepared();
  verifier_workspace space(p.tree.size());
  for_each_verifier([&](std::string const& name, auto const& make) {
    tev::outcome o;
    auto const count = draws(make(tev::default_flow_unit, space), p, o);
    auto const accepted = static_cast<std::size_t>(o.accepted_length);
    std::size_t const bonus = o.state == tev::status::ok ? 1 : 0;
    if (name == "tree_exit") RC_ASSERT(count == 1 + bonus);
    if (name == "predraw") RC_ASSERT(count == accepted + bonus);
    if (name == "predraw_eager") {
      std::size_t rows = 0;
      for (tev::node_id v = 0; v < p.tree.size(); ++v)
        rows += p.target.row_status(v) == tev::status::ok;
      RC_ASSERT(count == rows);
    }
    if (name == "sequential_residual")
      RC_ASSERT(accepted + bonus <= count &&
                count < static_cast<std::size_t>(p.tree.size()) + bonus);
  });
  tev::outcome o;
  RC_ASSERT(draws(tev::greedy{}, p, o) == 0u);
}

TEST(Draws, OfTheVerifiersOfChainsAreAsDocumented) {
  chain_world world{2, 3, {}, {}};
  std::vector<text> open{{}};
  for (std::size_t k = 0; k < open.size(); ++k) {
    auto const before = open[k];
    world.target[before] = {1, 2 + before.size()};
    if (before.size() == 3) continue;
    world.draft[before] = {3, 1};
    for (tev::token_id x = 0; x < 2; ++x) open.push_back(extended(before, x));
  }
  std::size_t most = 0;
  auto const judge = [&](auto const& verifier, text const& drafted) {
    chain_scene scene(world, drafted);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      recording_source<tev::philox> const source{{seed}};
      auto const p = scene.problem();
      auto const o = verifier(tev::serial_team{}, p, source);
      ASSERT_GE(source.asked.size(), 1u);
      ASSERT_LE(source.asked.size(), drafted.size() + 1);
      most = std::max(most, source.asked.size());
      for (std::size_t i = 0; i < source.asked.size(); ++i) {
        auto const& d = source.asked[i].what;
        bool const bonus = i + 1 == source.asked.size();
        EXPECT_EQ(d.what, bonus ? purpose::residual : purpose::sibling);
        EXPECT_TRUE(!bonus ||
                    d.position == root + static_cast<std::uint32_t>(o.accepted_length) + 1);
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(source.asked[j].what, d);
      }
      auto const length = static_cast<std::int32_t>(drafted.size());
      replayed const numbers(tev::philox{seed}, p.request, purpose::sibling, length, 1,
                             root + static_cast<std::uint32_t>(o.accepted_length) + 1);
      EXPECT_EQ(verifier(tev::serial_team{}, p, numbers.view), o);
    }
  };
  for_each_text(world.draft, 3, [&](text const& drafted, rational const&) {
    judge(tev::speculative_sampling{}, drafted);
    judge(tev::block{}, drafted);
    judge(tev::hierarchical{}, drafted);
  });
  EXPECT_EQ(most, 4u);
}

}  // namespace
