// The flow of 2^62 can't be enumerated, so it is probed: at both ends and both sides of every
// boundary, where an error of one would show.
#include "tev/exit_law/flow.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "support/expected_law.hpp"
#include "support/fixed_sources.hpp"
#include "support/generators.hpp"
#include "support/instance.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

using namespace tev_test;

constexpr std::uint64_t unit = tev::default_flow_unit;

// Mass that a row leaves to no child.
template <class Problem>
std::uint64_t residual_mass(Problem const& p, tev::node_id v) {
  std::uint64_t left = p.target.total(v);
  tev::for_each_child(p.tree, v,
                      [&](tev::node_id c) { left -= p.target.mass(v, p.tree.token(c)); });
  return left;
}

// The node whose exit interval holds r; every r has exactly one.
template <class Problem>
tev::node_id node_of(Problem const& p, std::vector<tev::flow_interval> const& flow,
                     std::uint64_t r) {
  tev::node_id found = tev::no_node;
  for (tev::node_id v = 0; v < p.tree.size(); ++v) {
    std::uint64_t const end = flow[v].begin + flow[v].flow;
    if (r < end - flow[v].exit || r >= end) continue;
    RC_ASSERT(found == tev::no_node);
    found = v;
  }
  RC_ASSERT(found != tev::no_node);
  return found;
}

// Every end of every interval, the numbers on its two sides, and both ends of the unit.
std::set<std::uint64_t> probes(std::vector<tev::flow_interval> const& flow) {
  std::set<std::uint64_t> numbers{0, unit - 1};
  for (auto const& f : flow)
    for (auto const boundary : {f.begin, f.begin + f.flow - f.exit, f.begin + f.flow}) {
      if (boundary < unit) numbers.insert(boundary);
      if (boundary > 0) numbers.insert(boundary - 1);
    }
  return numbers;
}

template <class Problem>
void expect_flow_follows_the_law(Problem const& p) {
  std::vector<tev::flow_interval> flow(static_cast<std::size_t>(p.tree.size()));
  tev::split_flow(p.tree, p.target, unit, flow.data());
  auto const law = tev::exit_law_of<rational>(p.tree, p.target);

  std::uint64_t sum = 0;
  rational distance = 0;
  for (tev::node_id v = 0; v < p.tree.size(); ++v) {
    sum += flow[v].exit;
    if (p.target.row_status(v) == tev::status::ok && residual_mass(p, v) == 0)
      RC_ASSERT(flow[v].exit == 0u);
    rational const off = rational(flow[v].exit) / unit - law.exit[v];
    distance += off < 0 ? rational(-off) : off;
  }
  RC_ASSERT(sum == unit);
  RC_ASSERT(distance / 2 <= rational(p.tree.size()) / unit);

  for (auto const r : probes(flow)) {
    auto const expected = node_of(p, flow, r);
    for (auto const others : {end::low, end::high}) {
      auto const o = tev::tree_exit{}(tev::serial_team{}, p, probing_source{r, others});
      RC_ASSERT(o.exit_node == expected);
      RC_ASSERT(o.state == p.target.row_status(expected));
      RC_ASSERT(law.exit[o.exit_node] > 0);
      if (o.state != tev::status::ok) continue;
      RC_ASSERT(p.target.mass(o.exit_node, o.bonus_token) > 0u);
      tev::child_tokens<tev::tree_view> const children{p.tree, o.exit_node};
      RC_ASSERT(!tev::contains(children, o.bonus_token));
    }
  }
}

template <class Rows>
void prepare_all(tev::problem<tev::tree_view, Rows> const& p) {
  for (tev::node_id v = 0; v < p.tree.size(); ++v) p.target.prepare(tev::serial_team{}, v);
}

RC_GTEST_PROP(Flow, FollowsTheLawOnSmallRows, ()) {
  auto const i = *instances();
  integer_scene scene(i);
  expect_flow_follows_the_law(scene.prepared());
}

RC_GTEST_PROP(Flow, FollowsTheLawOnLargeRows, ()) {
  auto i = *instances({.nodes = 12, .vocab = 5, .mass = 4});
  auto const shift = *rc::gen::inRange(2, 62);
  for (auto& mass : i.masses) {
    if (mass == 0) continue;
    // Up to 5 of them stay below 2^64.
    auto const low = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
    mass = (low >> 3 >> (62 - shift)) + 1;
  }
  integer_scene scene(i);
  expect_flow_follows_the_law(scene.prepared());
}

RC_GTEST_PROP(Flow, FollowsTheLawOnSoftmaxRows, ()) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto const i = *instances({.nodes = 12, .vocab = 6, .mass = 40});
  std::vector<float> logits;
  for (auto const mass : i.masses)
    logits.push_back(mass == 0 ? -infinity : static_cast<float>(mass) - 20.25f);
  auto const temperature = *rc::gen::element(0.0f, 0.3f, 0.6f, 1.0f, 4.0f, 1e30f);
  auto const tree = tev::draft_tree::from_parents(i.parents, i.tokens);
  tev::softmax_storage storage;
  tev::problem<tev::tree_view, tev::softmax_rows<float>> const p{
      tree.view(), storage.rows(logits.data(), tree.size(), i.vocab, i.vocab, temperature), 3, 4};
  prepare_all(p);
  expect_flow_follows_the_law(p);
}

RC_GTEST_PROP(Flow, IsExactWhenTheUnitDivides, ()) {
  auto const i = *instances();
  integer_scene scene(i);
  auto const p = scene.prepared();
  auto const exact = exact_unit(p);
  std::vector<tev::flow_interval> flow(static_cast<std::size_t>(p.tree.size()));
  tev::split_flow(p.tree, p.target, exact, flow.data());
  auto const law = tev::exit_law_of<rational>(p.tree, p.target);
  for (tev::node_id v = 0; v < p.tree.size(); ++v) {
    RC_ASSERT(rational(flow[v].exit) / exact == law.exit[v]);
    RC_ASSERT(rational(flow[v].flow) / exact == law.reach[v]);
  }
}

// A long chain is where rounding adds up: 400 levels, each passing two thirds.
TEST(Flow, StaysWithinItsBoundOnALongChain) {
  constexpr std::int32_t size = 400;
  instance i{{}, {}, 2, {}};
  for (std::int32_t v = 0; v < size; ++v) {
    i.parents.push_back(v - 1);
    i.tokens.push_back(v == 0 ? tev::no_token : 0);
    i.masses.insert(i.masses.end(), {2, 1});
  }
  integer_scene scene(i);
  auto const p = scene.prepared();
  std::vector<tev::flow_interval> flow(size);
  tev::split_flow(p.tree, p.target, unit, flow.data());
  auto const law = tev::exit_law_of<rational>(p.tree, p.target);
  std::uint64_t sum = 0;
  rational distance = 0;
  for (tev::node_id v = 0; v < size; ++v) {
    sum += flow[v].exit;
    distance += abs(rational(flow[v].exit) / unit - law.exit[v]);
  }
  EXPECT_EQ(sum, unit);
  EXPECT_LE(distance / 2, rational(size) / unit);
}

}  // namespace
