// Laws, flows and questions of the verifiers, by enumeration over small rows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "probe.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/concept.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/sequential_residual.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

using namespace probe;
using tev::node_id;
using tev::token_id;

// Enumerates every value of every `below`. Equal decisions are one number, which is refined.
struct every_number {
  struct choice {
    tev::decision what;
    std::uint64_t n, value, last;
    int before;
    fraction low, high;
  };
  mutable std::vector<choice> choices;
  mutable std::size_t asked = 0;

  void narrow(choice& c) const {
    c.low = fraction(c.value, c.n);
    c.high = fraction(c.value + 1, c.n);
    if (c.before < 0) return;
    if (c.low < choices[c.before].low) c.low = choices[c.before].low;
    if (choices[c.before].high < c.high) c.high = choices[c.before].high;
  }
  std::uint64_t below(tev::decision d, std::uint64_t n) const {
    check(n > 0, "a number below 0 was asked for");
    if (n == 0) return 0;
    if (asked == choices.size()) {
      choice c{d, n, 0, n - 1, static_cast<int>(choices.size()) - 1, {}, {}};
      while (c.before >= 0 && !(choices[c.before].what == d)) --c.before;
      if (c.before >= 0) {
        fraction const low = choices[c.before].low * n, high = choices[c.before].high * n;
        c.value = static_cast<std::uint64_t>(low.over / low.under);
        c.last = static_cast<std::uint64_t>((high.over + high.under - 1) / high.under) - 1;
      }
      narrow(c);
      choices.push_back(c);
    }
    return choices[asked++].value;
  }
  [[nodiscard]] fraction weight() const {
    fraction w(1);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      bool latest = true;
      for (auto const& c : choices) latest &= c.before != static_cast<int>(i);
      if (latest) w = w * (choices[i].high - choices[i].low);
    }
    return w;
  }
  bool next() {
    asked = 0;
    while (!choices.empty()) {
      choice& c = choices.back();
      if (c.value < c.last) {
        ++c.value;
        narrow(c);
        return true;
      }
      choices.pop_back();
    }
    return false;
  }
};

// Answers with a chosen number for the exit, an end of the range otherwise, and keeps a record.
struct chosen_numbers {
  std::uint64_t exit = 0;
  bool high = false;
  mutable std::vector<tev::decision> asked{};

  std::uint64_t below(tev::decision d, std::uint64_t n) const {
    asked.push_back(d);
    return d.what == tev::purpose::exit ? exit : high ? n - 1 : 0;
  }
};

using rows = tev::mass_rows<std::uint64_t>;
using problem = tev::problem<tev::tree_view, rows>;
using law = std::map<std::pair<node_id, token_id>, fraction>;

struct scene {
  tev::draft_tree tree;
  int vocab = 1;
  std::vector<std::uint64_t> masses;
  tev::mass_storage<std::uint64_t> storage;

  scene(generator& g, int largest, int shift = 0) : vocab(1 + g.below(4)) {
    std::vector<node_id> parents{-1};
    std::vector<token_id> tokens{-1};
    for (int k = g.below(6); k > 0; --k) {
      int const p = g.below(static_cast<int>(parents.size())), x = g.below(vocab);
      bool taken = false;
      for (std::size_t v = 1; v < parents.size(); ++v) taken |= parents[v] == p && tokens[v] == x;
      if (taken) continue;
      parents.push_back(p);
      tokens.push_back(x);
    }
    for (std::size_t k = 0; k < parents.size() * static_cast<std::size_t>(vocab); ++k)
      masses.push_back(static_cast<std::uint64_t>(g.below(largest)) << shift);
    tree = tev::draft_tree::from_parents(parents, tokens);
  }
  problem lend() {
    problem p{tree.view(), storage.rows(masses.data(), tree.size(), vocab, vocab), 1, 2};
    for (node_id v = 0; v < tree.size(); ++v) p.target.prepare(tev::serial_team{}, v);
    return p;
  }
  [[nodiscard]] std::uint64_t mass(node_id v, token_id x) const { return masses[v * vocab + x]; }
  [[nodiscard]] std::uint64_t total(node_id v) const {
    std::uint64_t sum = 0;
    for (int x = 0; x < vocab; ++x) sum += mass(v, x);
    return sum;
  }
  [[nodiscard]] node_id child(node_id v, token_id x) const {
    for (node_id u = 1; u < tree.size(); ++u)
      if (tree.parent(u) == v && tree.token(u) == x) return u;
    return -1;
  }
  // From the definition, without anything of tev's but the arrays.
  void follow(node_id v, fraction reach, law& expected) const {
    if (total(v) == 0) {
      expected[{v, -1}] += reach;
      return;
    }
    for (int x = 0; x < vocab; ++x) {
      if (mass(v, x) == 0) continue;
      fraction const passed = reach * fraction(mass(v, x), total(v));
      if (child(v, x) < 0)
        expected[{v, x}] += passed;
      else
        follow(child(v, x), passed, expected);
    }
  }
  [[nodiscard]] std::uint64_t exact_unit() const {
    std::vector<std::uint64_t> product;
    std::uint64_t unit = 1;
    for (node_id v = 0; v < tree.size(); ++v) {
      product.push_back((v == 0 ? 1 : product[tree.parent(v)]) *
                        std::max<std::uint64_t>(total(v), 1));
      unit *= static_cast<std::uint64_t>(fraction(product[v], unit).over);
    }
    return unit;
  }
};

template <class Verifier>
void check_law(Verifier const& verifier, problem const& p, law const& expected, char const* what) {
  law seen;
  every_number source;
  int outcomes = 0;
  do {
    if (++outcomes > 4000 || failed) return;
    tev::outcome const o = verifier(tev::serial_team{}, p, source);
    seen[{o.exit_node, o.bonus_token}] += source.weight();
  } while (source.next());
  check(seen == expected, what);
}

void check_laws() {
  generator g;
  for (int k = 0; k < 60 && !failed; ++k) {
    scene s(g, 4);
    problem const p = s.lend();
    law expected;
    s.follow(0, fraction(1), expected);
    std::vector<token_id> drawn(p.tree.size());
    std::vector<std::int32_t> depth(p.tree.size());
    check_law(tev::tree_exit{s.exact_unit()}, p, expected, "law of tree_exit");
    check_law(tev::predraw{}, p, expected, "law of predraw");
    check_law(tev::predraw_eager{drawn.data(), depth.data()}, p, expected, "law of predraw_eager");
    check_law(tev::sequential_residual{}, p, expected, "law of sequential_residual");

    auto const exits = tev::exit_law_of<double>(p.tree, p.target);
    std::vector<double> exit(p.tree.size());
    double coverage = 0;
    auto const depths = tev::depths(p.tree);
    for (auto const& [at, weight] : expected) {
      double const w = static_cast<double>(weight.over) / static_cast<double>(weight.under);
      exit[at.first] += w;
      coverage += w * depths[at.first];
    }
    for (node_id v = 0; v < p.tree.size(); ++v)
      check(std::max(exit[v], exits.exit[v]) - std::min(exit[v], exits.exit[v]) < 1e-9, "exit law");
    check(std::max(coverage, exits.coverage) - std::min(coverage, exits.coverage) < 1e-9,
          "coverage");
  }
}

void check_flow() {
  generator g{7};
  constexpr std::uint64_t unit = tev::default_flow_unit;
  for (int k = 0; k < 60 && !failed; ++k) {
    scene s(g, 5, k % 3 * 20);
    problem const p = s.lend();
    std::vector<tev::flow_interval> flow(p.tree.size());
    tev::split_flow(p.tree, p.target, unit, flow.data());
    std::uint64_t sum = 0;
    std::vector<std::uint64_t> probes{0, unit - 1};
    for (node_id v = 0; v < p.tree.size(); ++v) {
      std::uint64_t covered = 0;
      for (int x = 0; x < s.vocab; ++x)
        if (s.child(v, x) > 0) covered += s.mass(v, x);
      if (s.total(v) > 0 && covered == s.total(v)) check(flow[v].exit == 0, "empty exit");
      sum += flow[v].exit;
      for (auto const b : {flow[v].begin, flow[v].begin + flow[v].flow - flow[v].exit})
        for (auto const r : {b, b - 1})
          if (r < unit) probes.push_back(r);
    }
    check(sum == unit, "flows sum to the unit");
    for (auto const r : probes)
      for (bool const high : {false, true}) {
        if (failed) return;
        node_id expected = -1;
        for (node_id v = 0; v < p.tree.size(); ++v)
          if (r - flow[v].begin < flow[v].flow && r - flow[v].begin >= flow[v].flow - flow[v].exit)
            expected = v;
        auto const o = tev::tree_exit{}(tev::serial_team{}, p, chosen_numbers{r, high});
        check(o.exit_node == expected, "descending and level-parallel flow agree");
        check(o.bonus_token < 0 ? s.total(o.exit_node) == 0
                                : s.mass(o.exit_node, o.bonus_token) > 0 &&
                                      s.child(o.exit_node, o.bonus_token) < 0,
              "bonus token has mass and no node");
      }
  }
  check(tev::flow_share(7, 1, 2) == 3, "flow is rounded down");
}

void check_questions() {
  // A chain of two, then a pair of siblings; all rows flat.
  auto const tree = tev::draft_tree::from_parents({-1, 0, 1, 2, 2}, {-1, 0, 0, 1, 0});
  std::vector<std::uint64_t> const masses(15, 1);
  tev::mass_storage<std::uint64_t> storage;
  problem const p{tree.view(), storage.rows(masses.data(), 5, 3, 3), 77, 40};
  auto const asked = [&](auto const& verifier, bool high, tev::outcome expected) {
    chosen_numbers source{tev::default_flow_unit - 1, high};
    check(verifier(tev::serial_team{}, p, source) == expected, "known outcome");
    return source.asked;
  };
  using tev::purpose;
  using questions = std::vector<tev::decision>;
  constexpr auto ok = tev::status::ok;
  check(asked(tev::predraw{}, false, {4, 0, 3, ok}) == questions{{77, 41, purpose::token, 0},
                                                                 {77, 42, purpose::token, 0},
                                                                 {77, 43, purpose::token, 0},
                                                                 {77, 44, purpose::token, 0}},
        "numbers of predraw");
  std::vector<token_id> drawn(5);
  std::vector<std::int32_t> depth(5);
  check(asked(tev::predraw_eager{drawn.data(), depth.data()}, false, {4, 0, 3, ok}) ==
            questions{{77, 41, purpose::token, 0},
                      {77, 42, purpose::token, 0},
                      {77, 43, purpose::token, 0},
                      {77, 44, purpose::token, 0},
                      {77, 44, purpose::token, 0}},
        "numbers of predraw_eager");
  check(asked(tev::tree_exit{}, true, {0, 2, 0, ok}) ==
            questions{{77, 40, purpose::exit, 0}, {77, 41, purpose::residual, 0}},
        "numbers of tree_exit");
  // Low numbers accept every first child: the tests at depths 0, 1 and 2, then a leaf.
  check(asked(tev::sequential_residual{}, false, {3, 0, 3, ok}) ==
            questions{{77, 41, purpose::sibling, 0},
                      {77, 42, purpose::sibling, 0},
                      {77, 43, purpose::sibling, 0},
                      {77, 44, purpose::residual, 0}},
        "numbers of sequential_residual");
  check(asked(tev::greedy{}, false, {4, 0, 3, ok}).empty(), "greedy asks for nothing");
}

}  // namespace

int main() {
  check_questions();
  check_laws();
  check_flow();
  return finish();
}
