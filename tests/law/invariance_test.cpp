// What an outcome may depend on: seed, request, position, rows and tree. Nothing else, and no
// input, however damaged, makes a verifier run on or emit a token without mass.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/all_verifiers.hpp"
#include "support/fixed_sources.hpp"
#include "support/generators.hpp"
#include "support/instance.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/path.hpp"
#include "tev/verify/greedy.hpp"

namespace {

using namespace tev_test;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr instance_bounds bounds{.nodes = 10, .vocab = 5, .mass = 6};

using softmax_problem = tev::problem<tev::tree_view, tev::softmax_rows<float>>;

template <class Problem>
std::vector<tev::token_id> emitted(Problem const& p, tev::outcome const& o) {
  auto tokens = tev::tokens_to(p.tree, o.exit_node);
  if (o.bonus_token != tev::no_token) tokens.push_back(o.bonus_token);
  return tokens;
}

RC_GTEST_PROP(Invariance, OutcomesIgnoreWhichRowsArePreparedAndInWhatOrder, ()) {
  integer_scene scene(*instances(bounds));
  auto const seed = *rc::gen::arbitrary<std::uint64_t>();
  verifier_workspace space(scene.tree().size());
  std::vector<tev::node_id> order(static_cast<std::size_t>(scene.tree().size()));
  std::iota(order.begin(), order.end(), 0);
  auto const rotated = *rc::gen::inRange<std::size_t>(0, order.size());
  std::ranges::rotate(order, order.begin() + static_cast<std::ptrdiff_t>(rotated));
  std::ranges::reverse(order);
  for_each_verifier([&](std::string const&, auto const& make) {
    auto const verifier = make(tev::default_flow_unit, space);
    auto const lazy = verifier(tev::serial_team{}, scene.unprepared(), tev::philox{seed});
    auto const p = scene.unprepared();
    for (auto const v : order) p.target.prepare(tev::serial_team{}, v);
    RC_ASSERT(verifier(tev::serial_team{}, p, tev::philox{seed}) == lazy);
  });
}

RC_GTEST_PROP(Invariance, OutcomesIgnoreCallsForOtherRequests, ()) {
  integer_scene scene(*instances(bounds)), other(*instances(bounds));
  tev::philox const source{*rc::gen::arbitrary<std::uint64_t>()};
  // The workspace is shared, and left full of what the other request wrote.
  verifier_workspace space(bounds.nodes);
  for_each_verifier([&](std::string const&, auto const& make) {
    auto const verifier = make(tev::default_flow_unit, space);
    auto const alone = verifier(tev::serial_team{}, scene.unprepared(1, 7), source);
    for (std::uint64_t request = 0; request < 5; ++request)
      (void)verifier(tev::serial_team{}, other.unprepared(request, 7), source);
    RC_ASSERT(verifier(tev::serial_team{}, scene.unprepared(1, 7), source) == alone);
  });
}

TEST(Invariance, SeedRequestAndPositionEachChangeTheOutcome) {
  instance i{{tev::no_node}, {tev::no_token}, 64, std::vector<std::uint64_t>(64, 1)};
  for (tev::token_id x = 0; x < 16; ++x) {
    i.parents.push_back(0);
    i.tokens.push_back(x * 4);
    i.masses.insert(i.masses.end(), 64, 1);
  }
  integer_scene scene(i);
  verifier_workspace space(scene.tree().size());
  for_each_verifier([&](std::string const& name, auto const& make) {
    auto const verifier = make(tev::default_flow_unit, space);
    auto const outcome = [&](std::uint64_t seed, std::uint64_t request, std::uint32_t position) {
      return verifier(tev::serial_team{}, scene.unprepared(request, position), tev::philox{seed});
    };
    int seeds = 0, requests = 0, positions = 0;
    for (std::uint32_t n = 1; n <= 20; ++n) {
      seeds += outcome(n, 3, 4) != outcome(0, 3, 4);
      requests += outcome(3, n, 4) != outcome(3, 0, 4);
      requests += outcome(3, std::uint64_t{n} << 32, 4) != outcome(3, 0, 4);
      positions += outcome(3, 4, n) != outcome(3, 4, 0);
    }
    EXPECT_GE(seeds, 15) << name;
    EXPECT_GE(requests, 30) << name;
    EXPECT_GE(positions, 15) << name;
  });
}

RC_GTEST_PROP(Invariance, PredrawnTextIsTheOneOfTheEagerForm, ()) {
  integer_scene scene(*instances(bounds));
  tev::philox const source{*rc::gen::arbitrary<std::uint64_t>()};
  verifier_workspace space(scene.tree().size());
  for (std::uint32_t position = 0; position < 20; ++position) {
    auto const lazy = tev::predraw{}(tev::serial_team{}, scene.unprepared(2, position), source);
    tev::predraw_eager const eager{space.drawn.data(), space.depth.data()};
    RC_ASSERT(eager(tev::serial_team{}, scene.unprepared(2, position), source) == lazy);
  }
}

// Rows that depend on the text that ends at a node, as a model's do.
std::vector<float> logits_after(std::vector<tev::token_id> const& text, std::int32_t vocab) {
  std::vector<float> row;
  std::uint32_t h = 2166136261u;
  for (auto const token : text) h = (h ^ static_cast<std::uint32_t>(token + 1)) * 16777619u;
  for (std::int32_t x = 0; x < vocab; ++x) {
    h = (h ^ 0x55u) * 16777619u;
    row.push_back(static_cast<float>(h >> 24) / 64.0f);
  }
  return row;
}

// Owns a softmax problem over a tree whose rows follow `logits_after(prefix + path)`.
struct model_scene {
  model_scene(tev::draft_tree t, std::vector<tev::token_id> const& prefix, std::int32_t vocab,
              float temperature)
      : tree(std::move(t)) {
    for (tev::node_id v = 0; v < tree.size(); ++v) {
      auto text = prefix;
      for (auto const token : tev::tokens_to(tree, v)) text.push_back(token);
      auto const row = logits_after(text, vocab);
      logits.insert(logits.end(), row.begin(), row.end());
    }
    problem = {tree.view(), storage.rows(logits.data(), tree.size(), vocab, vocab, temperature), 11,
               static_cast<std::uint32_t>(prefix.size())};
  }

  tev::draft_tree tree;
  std::vector<float> logits;
  tev::softmax_storage storage;
  softmax_problem problem;
};

// A text decoded with predraw: `tree_for(cycle)` is any tree, however bad.
template <class TreeFor>
std::vector<tev::token_id> decode(TreeFor&& tree_for, std::int32_t vocab, float temperature,
                                  tev::philox source, std::size_t length) {
  std::vector<tev::token_id> text;
  for (int cycle = 0; text.size() < length; ++cycle) {
    model_scene scene(tree_for(cycle), text, vocab, temperature);
    auto const o = tev::predraw{}(tev::serial_team{}, scene.problem, source);
    for (auto const token : emitted(scene.problem, o)) text.push_back(token);
  }
  text.resize(length);
  return text;
}

RC_GTEST_PROP(Invariance, PredrawnTextIsThatOfPlainSamplingUnderAnyTree, ()) {
  tev::philox const source{*rc::gen::arbitrary<std::uint64_t>()};
  auto const vocab = *rc::gen::inRange(1, 5);
  auto const temperature = *rc::gen::element(0.0f, 0.6f, 1.0f, 3.0f);
  auto const plain = decode([](int) { return tev::draft_tree(); }, vocab, temperature, source, 40);
  auto const drafted = decode(
      [&](int) {
        auto const i = *tree_instances({.nodes = 12, .vocab = vocab, .mass = 0});
        return tev::draft_tree::from_parents(i.parents, i.tokens);
      },
      vocab, temperature, source, 40);
  RC_ASSERT(drafted == plain);
}

TEST(Invariance, PlainSamplingWithALoneRootDrawsFromTheWholeRow) {
  integer_scene scene({{tev::no_node}, {tev::no_token}, 3, {2, 0, 3}});
  for (std::uint32_t position = 0; position < 50; ++position) {
    auto const p = scene.unprepared(4, position);
    auto const o = tev::predraw{}(tev::serial_team{}, p, tev::philox{6});
    auto const r =
        tev::philox{6}.below({4, position + 1, tev::purpose::token, 0}, p.target.total(0));
    EXPECT_EQ(o, (tev::outcome{0, r < 2 ? 0 : 2, 0, tev::status::ok}));
  }
}

// The same tree with its nodes in another valid order: where siblings keep theirs, every outcome
// names the same text.
RC_GTEST_PROP(Invariance, OutcomesNameTheSameTextUnderAnyNumberingThatKeepsSiblingOrder, ()) {
  auto const i = *instances(bounds);
  // Depth-first preorder keeps siblings in order and moves everything else.
  integer_scene scene(i);
  std::vector<tev::node_id> order, stack{0};
  while (!stack.empty()) {
    auto const v = stack.back();
    stack.pop_back();
    order.push_back(v);
    std::vector<tev::node_id> children;
    tev::for_each_child(scene.tree(), v, [&](tev::node_id c) { children.push_back(c); });
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  std::vector<tev::node_id> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<tev::node_id>(k);
  instance moved{{}, {}, i.vocab, {}};
  for (auto const v : order) {
    moved.parents.push_back(v == 0 ? tev::no_node : place[i.parents[v]]);
    moved.tokens.push_back(i.tokens[v]);
    for (std::int32_t x = 0; x < i.vocab; ++x)
      moved.masses.push_back(i.masses[static_cast<std::size_t>(v * i.vocab + x)]);
  }
  integer_scene other(moved);
  tev::philox const source{*rc::gen::arbitrary<std::uint64_t>()};
  verifier_workspace space(scene.tree().size());
  for_each_verifier([&](std::string const&, auto const& make) {
    auto const verifier = make(tev::default_flow_unit, space);
    for (std::uint32_t position = 0; position < 10; ++position) {
      auto const p = scene.unprepared(1, position), q = other.unprepared(1, position);
      RC_ASSERT(emitted(p, verifier(tev::serial_team{}, p, source)) ==
                emitted(q, verifier(tev::serial_team{}, q, source)));
    }
  });
}

RC_GTEST_PROP(Invariance, AtTemperatureZeroEveryVerifierIsGreedy, ()) {
  auto const i = *instances({.nodes = 12, .vocab = 4, .mass = 3});
  std::vector<float> logits;
  for (auto const mass : i.masses)
    logits.push_back(mass == 0 ? -infinity : static_cast<float>(mass) - 2.0f);
  auto const tree = tev::draft_tree::from_parents(i.parents, i.tokens);
  tev::softmax_storage storage;
  auto const fresh = [&] {
    return softmax_problem{tree.view(),
                           storage.rows(logits.data(), tree.size(), i.vocab, i.vocab, 0.0f), 1, 2};
  };
  tev::philox const source{*rc::gen::arbitrary<std::uint64_t>()};
  auto const greedy = tev::greedy{}(tev::serial_team{}, fresh(), source);
  verifier_workspace space(tree.size());
  for_each_verifier([&](std::string const&, auto const& make) {
    auto const verifier = make(tev::default_flow_unit, space);
    RC_ASSERT(verifier(tev::serial_team{}, fresh(), source) == greedy);
    RC_ASSERT(verifier(tev::serial_team{}, fresh(), end_source{end::low}) == greedy);
    RC_ASSERT(verifier(tev::serial_team{}, fresh(), end_source{end::high}) == greedy);
  });
}

// Arrays as a broken caller might hand them over.
struct damaged_tree {
  std::vector<tev::node_id> parents, first_child, next_sibling;
  std::vector<tev::token_id> tokens;

  [[nodiscard]] tev::tree_view view() const {
    return {static_cast<std::int32_t>(parents.size()), parents.data(), tokens.data(),
            first_child.data(), next_sibling.data()};
  }
};

damaged_tree any_damaged_tree(std::int32_t vocab) {
  auto const size = *rc::gen::inRange<std::size_t>(1, 9);
  auto const n = static_cast<std::int32_t>(size);
  auto const numbers = [size](std::int32_t low, std::int32_t high) {
    auto const one = rc::gen::weightedOneOf<std::int32_t>(
        {{8, rc::gen::inRange(low, high)},
         {1, rc::gen::element(std::numeric_limits<std::int32_t>::min(),
                              std::numeric_limits<std::int32_t>::max())}});
    return *rc::gen::container<std::vector<std::int32_t>>(size, one);
  };
  return {numbers(-2, n + 2), numbers(-2, n + 2), numbers(-2, n + 2), numbers(-2, vocab + 2)};
}

// Whether every verifier ends inside the tree, with a token that has mass or with a status, under
// sources that answer with the ends of the range and with numbers between.
template <class Problem>
bool ends_soundly(Problem const& p) {
  bool sound = true;
  auto const check = [&](auto const& verifier, auto const& source) {
    tev::outcome const o = verifier(tev::serial_team{}, p, source);
    sound &= o.exit_node >= 0 && o.exit_node < p.tree.size();
    if (!sound) return;
    sound &= o.state == tev::status::ok ? p.target.mass(o.exit_node, o.bonus_token) > 0
                                        : o.bonus_token == tev::no_token;
  };
  auto const check_all = [&](auto const& source) {
    verifier_workspace space(p.tree.size());
    for_each_verifier([&](std::string const&, auto const& make) {
      check(make(tev::default_flow_unit, space), source);
    });
    check(tev::greedy{}, source);
  };
  check_all(end_source{end::low});
  check_all(end_source{end::high});
  for (std::uint64_t seed = 0; seed < 4; ++seed) check_all(tev::philox{seed});
  return sound;
}

RC_GTEST_PROP(Damaged, TreesWithIntegerRowsEndWithAStatusAndNoMasslessToken, ()) {
  auto const vocab = *rc::gen::inRange(1, 4);
  auto const tree = any_damaged_tree(vocab);
  std::uint64_t constexpr huge = ~std::uint64_t{0};
  auto const masses = *rc::gen::container<std::vector<std::uint64_t>>(
      tree.parents.size() * static_cast<std::size_t>(vocab),
      rc::gen::weightedElement<std::uint64_t>({{6, 0}, {6, 1}, {6, 3}, {1, huge}}));
  tev::mass_storage<std::uint64_t> storage;
  integer_problem const p{tree.view(),
                          storage.rows(masses.data(), tree.view().size(), vocab, vocab), 1, 2};
  RC_ASSERT(ends_soundly(p));
}

RC_GTEST_PROP(Damaged, TreesWithSoftmaxRowsEndWithAStatusAndNoMasslessToken, ()) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  auto const vocab = *rc::gen::inRange(1, 4);
  auto const tree = any_damaged_tree(vocab);
  auto const logits = *rc::gen::container<std::vector<float>>(
      tree.parents.size() * static_cast<std::size_t>(vocab),
      rc::gen::weightedElement<float>(
          {{6, 0.0f}, {6, 1.5f}, {3, -60.0f}, {6, -infinity}, {1, infinity}, {1, nan}}));
  auto const temperature = *rc::gen::element(0.0f, 1.0f, 0.1f, -1.0f, infinity);
  tev::softmax_storage storage;
  softmax_problem const p{
      tree.view(), storage.rows(logits.data(), tree.view().size(), vocab, vocab, temperature), 1,
      2};
  RC_ASSERT(ends_soundly(p));
}

// Every duplicate of a token that holds all mass: whichever child is met first, nothing else can
// be emitted.
TEST(Damaged, DuplicateSiblingsNeverYieldATokenWithoutMass) {
  damaged_tree const tree{{-1, 0, 0, 0}, {1, -1, -1, -1}, {-1, 2, 3, -1}, {-1, 0, 0, 1}};
  std::vector<std::uint64_t> const masses{4, 1, 0, 0, 0, 7, 0, 7, 0, 0, 0, 7};
  tev::mass_storage<std::uint64_t> storage;
  integer_problem const p{tree.view(), storage.rows(masses.data(), 4, 3, 3), 1, 2};
  EXPECT_TRUE(ends_soundly(p));
  for (auto const which : {end::low, end::high}) {
    auto const o = tev::sequential_residual{}(tev::serial_team{}, p, end_source{which});
    EXPECT_EQ(o.state, which == end::low ? tev::status::ok : tev::status::bad_tree);
  }
}

}  // namespace
