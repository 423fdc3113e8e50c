// *Exact* and *saturated* are two properties, and take two tests.
//
// Exact: what a verifier commits, extended by target samples, is a text of the target, also over
// two rounds whose trees and rows depend on what the first committed (arXiv 2610.11750, A.1).
// Saturated: its exit node follows the exit law, so that it accepts as much as any exact one can.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/all_verifiers.hpp"
#include "support/enumerating_source.hpp"
#include "support/instance.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

using namespace tev_test;

using text = std::vector<tev::token_id>;
using text_law = std::map<text, rational>;

constexpr std::int32_t vocab = 2;
constexpr std::size_t text_length = 5;
constexpr std::uint64_t worlds = 40;

// A number that depends on a text, on what it is for and on the world; splitmix64 at every step.
std::uint64_t hashed(text const& context, std::uint64_t use, std::uint64_t world) {
  auto const mix = [](std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
  };
  std::uint64_t h = mix(mix(world) ^ use);
  for (auto const token : context) h = mix(h ^ static_cast<std::uint64_t>(token + 1));
  return h;
}

// The target's row after a text: masses 0 to 2, never both 0.
std::vector<std::uint64_t> row_after(text const& context, std::uint64_t world) {
  std::vector<std::uint64_t> row;
  for (std::int32_t x = 0; x < vocab; ++x)
    row.push_back(hashed(context, static_cast<std::uint64_t>(x), world) % 3);
  if (row[0] + row[1] == 0) row[0] = 1;
  return row;
}

// What a verifier meets after one text.
struct cycle {
  cycle(text const& start, std::uint64_t world) : scene(instance_after(start, world)) {
    problem = scene.prepared(0, static_cast<std::uint32_t>(start.size()));
    unit = exact_unit(problem);
  }

  [[nodiscard]] instance instance_after(text const& start, std::uint64_t world) {
    instance i{{tev::no_node}, {tev::no_token}, vocab, {}};
    contexts = {start};
    for (std::uint64_t k = 0; k < 4; ++k) {
      std::uint64_t const h = hashed(start, 100 + k, world);
      auto const parent = static_cast<tev::node_id>(h % i.parents.size());
      auto const token = static_cast<tev::token_id>(h >> 40 & 1);
      text context = contexts[parent];
      context.push_back(token);
      if (std::ranges::find(contexts, context) != contexts.end()) continue;
      i.parents.push_back(parent);
      i.tokens.push_back(token);
      contexts.push_back(context);
    }
    for (auto const& context : contexts) {
      auto const row = row_after(context, world);
      i.masses.insert(i.masses.end(), row.begin(), row.end());
    }
    return i;
  }

  std::vector<text> contexts;  // [size] the text that ends at each node.
  integer_scene scene;
  integer_problem problem{};
  std::uint64_t unit = 1;
  verifier_workspace space{8};
};

using verify_cycle = std::function<tev::outcome(cycle&, enumerating_source const&)>;

class world {
 public:
  explicit world(std::uint64_t number) : number_(number) {}

  cycle& after(text const& context) {
    auto& kept = cycles_[context];
    if (!kept) kept = std::make_unique<cycle>(context, number_);
    return *kept;
  }

  // Adds the law of a text that goes on with target samples.
  void extend(text context, rational const& weight, text_law& law) const {
    if (context.size() >= text_length) {
      context.resize(text_length);
      law[context] += weight;
      return;
    }
    auto const row = row_after(context, number_);
    for (tev::token_id x = 0; x < vocab; ++x) {
      if (row[x] == 0) continue;
      context.push_back(x);
      extend(context, weight * rational(row[x], row[0] + row[1]), law);
      context.pop_back();
    }
  }

  text_law target_law() const {
    text_law law;
    extend({}, 1, law);
    return law;
  }

  text_law two_round_law(verify_cycle const& verify) {
    text_law law;
    enumerating_source source;
    do {
      text committed;
      for (int round = 0; round < 2 && committed.size() < text_length; ++round) {
        cycle& c = after(committed);
        auto const o = verify(c, source);
        committed = c.contexts[o.exit_node];
        committed.push_back(o.bonus_token);
      }
      extend(committed, source.weight(), law);
    } while (source.next());
    return law;
  }

  // Law of the exit node of the first round [size].
  std::vector<rational> first_round_exits(verify_cycle const& verify) {
    cycle& c = after({});
    std::vector<rational> exits(c.contexts.size());
    enumerating_source source;
    do {
      auto const o = verify(c, source);
      exits[o.exit_node] += source.weight();
    } while (source.next());
    return exits;
  }

 private:
  std::uint64_t number_;
  std::map<text, std::unique_ptr<cycle>> cycles_;
};

struct verdict {
  int exact = 0, saturated = 0;
};

// In how many of the worlds a verifier is exact and saturated.
verdict judge(verify_cycle const& verify) {
  verdict v;
  for (std::uint64_t number = 0; number < worlds; ++number) {
    world w(number);
    cycle& first = w.after({});
    auto const law = tev::exit_law_of<rational>(first.problem.tree, first.problem.target);
    v.exact += w.two_round_law(verify) == w.target_law();
    v.saturated += w.first_round_exits(verify) == law.exit;
  }
  return v;
}

// Samples the target and follows the tree, but tosses a coin whether to go on: it stops with what
// it has, which is a target sample.
tev::outcome stopping(cycle& c, enumerating_source const& source) {
  auto const& p = c.problem;
  tev::node_id v = 0;
  for (std::int32_t depth = 0;; ++depth) {
    auto const token = tev::predrawn_token(tev::serial_team{}, p, source, v, depth);
    auto const child =
        tev::find_child(p.tree, v, [&](tev::node_id u) { return p.tree.token(u) == token; });
    auto const coin = tev::decision_after(p, depth, static_cast<tev::purpose>(9));
    if (child == tev::no_node || source.below(coin, 2) == 0)
      return {v, token, depth, tev::status::ok};
    v = child;
  }
}

// Withdraws its last step when it doesn't like the token that would follow.
tev::outcome peeking(cycle& c, enumerating_source const& source) {
  auto const o = tev::tree_exit{c.unit}(tev::serial_team{}, c.problem, source);
  if (o.exit_node == 0 || o.bonus_token != 0) return o;
  return {c.problem.tree.parent(o.exit_node), c.problem.tree.token(o.exit_node),
          o.accepted_length - 1, tev::status::ok};
}

template <class Visit>
void for_each_library_verifier(Visit&& visit) {
  for_each_verifier([&](std::string const& name, auto const& make) {
    visit(name, [make](cycle& c, enumerating_source const& source) {
      return make(c.unit, c.space)(tev::serial_team{}, c.problem, source);
    });
  });
}

TEST(TwoRounds, EveryLibraryVerifierIsExact) {
  for_each_library_verifier([](std::string const& name, verify_cycle const& verify) {
    EXPECT_EQ(judge(verify).exact, static_cast<int>(worlds)) << name;
  });
}

TEST(TwoRounds, EveryLibraryVerifierIsSaturated) {
  for_each_library_verifier([](std::string const& name, verify_cycle const& verify) {
    EXPECT_EQ(judge(verify).saturated, static_cast<int>(worlds)) << name;
  });
}

TEST(TwoRounds, AVerifierThatStopsByItsOwnCoinIsExactButNotSaturated) {
  EXPECT_EQ(judge(stopping).exact, static_cast<int>(worlds));
  EXPECT_LT(judge(stopping).saturated, static_cast<int>(worlds) / 2);
}

TEST(TwoRounds, AVerifierThatStopsEarlyCommitsLessThanOnePlusTheCoverage) {
  int shorter = 0;
  for (std::uint64_t number = 0; number < worlds; ++number) {
    world w(number);
    cycle& first = w.after({});
    auto const law = tev::exit_law_of<rational>(first.problem.tree, first.problem.target);
    if (law.coverage == 0) continue;
    auto const exits = w.first_round_exits(stopping);
    rational length = 0;
    for (std::size_t v = 0; v < exits.size(); ++v)
      length += exits[v] * (first.contexts[v].size() + 1);
    EXPECT_LT(length, 1 + law.coverage);
    ++shorter;
  }
  EXPECT_GE(shorter, static_cast<int>(worlds) / 2);
}

TEST(TwoRounds, AVerifierThatPeeksIsNotExact) {
  EXPECT_LT(judge(peeking).exact, static_cast<int>(worlds) / 2);
}

TEST(TwoRounds, TheWorldsHaveBranchesAndTwoRealRounds) {
  int branching = 0, short_first = 0;
  for (std::uint64_t number = 0; number < worlds; ++number) {
    world w(number);
    branching += w.after({}).contexts.size() >= 4;
    for (auto const& context : w.after({}).contexts) short_first += context.size() < 3;
  }
  EXPECT_GE(branching, 20);
  EXPECT_GE(short_first, 80);
}

}  // namespace
