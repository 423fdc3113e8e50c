// One small program that any fault in the core has to fail: no framework, so that it compiles in a
// second without optimisation, once for every mutant. Prints the first failed check; exit status 1.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "tev/build/best_first.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/commit.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/path.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/sequential_residual.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

using tev::node_id;
using tev::token_id;
using tev::uint128;

bool failed = false;

void check(bool held, char const* what) {
  if (!held && !failed) std::printf("failed: %s\n", what);
  failed |= !held;
}

// Fractions of 128-bit integers, always in lowest terms.
struct fraction {
  uint128 over = 0, under = 1;

  fraction() = default;
  fraction(uint128 a, uint128 b = 1) {
    uint128 x = a, y = b;
    while (y != 0) std::swap(x %= y, y);
    over = a / x;
    under = b / x;
  }
  friend fraction operator+(fraction a, fraction b) {
    fraction const scale(a.under, b.under);
    return {a.over * scale.under + b.over * scale.over, a.under * scale.under};
  }
  friend fraction operator-(fraction a, fraction b) {
    fraction const scale(a.under, b.under);
    return {a.over * scale.under - b.over * scale.over, a.under * scale.under};
  }
  friend fraction operator*(fraction a, fraction b) {
    fraction const c(a.over, b.under), d(b.over, a.under);
    return {c.over * d.over, c.under * d.under};
  }
  friend bool operator<(fraction a, fraction b) { return a.over * b.under < b.over * a.under; }
  friend bool operator==(fraction const&, fraction const&) = default;
  fraction& operator+=(fraction b) { return *this = *this + b; }
};

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

struct generator {
  std::uint64_t state = 5;
  int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(n));
  }
};

// Stable, and quicker to compile than the library's.
template <class Values, class Before>
void sort(Values& values, Before const& before) {
  for (std::size_t i = 1; i < values.size(); ++i)
    for (std::size_t k = i; k > 0 && before(values[k], values[k - 1]); --k)
      std::swap(values[k], values[k - 1]);
}

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

void check_random() {
  using block = tev::philox::block;
  check(tev::philox::rounds({0, 0, 0, 0}, 0, 0) ==
            block{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u},
        "Philox known answer, zeros");
  check(
      tev::philox::rounds({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u,
                          0x299f31d0u) == block{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u},
      "Philox known answer, pi");
  // The same number as the last, asked for by its decision; words 3 and 2 are its upper half.
  tev::decision const d{0x85a308d3243f6a88u, 0x13198a2eu, static_cast<tev::purpose>(3), 0x707344u};
  tev::philox const source{0x299f31d0a4093822u};
  check(source.below(d, std::uint64_t{1} << 62) == 0x24126ea15001e420u >> 2,
        "layout of a decision");
  check(source.below(d, 3) == 0, "floor(u n) of a small range");
  check(tev::scale_fraction(~0ull, ~0ull, 1000) == 999, "the largest fraction stays below n");
  check(tev::scale_fraction(0x5555555555555555u, 0x8000000000000000u, 3) == 1,
        "the lower half carries");
}

void check_softmax() {
  constexpr int vocab = 2 * tev::chunk_size + 300;
  constexpr float octave = 0.6931472f;
  std::vector<float> logits(2 * vocab, -80.0f);
  generator g{11};
  for (int x = 0; x < vocab; x += 1 + g.below(30))
    logits[x] = -0.25f * static_cast<float>(g.below(60));
  for (int const x : {0, 1023, 1024, 2047, 2048, vocab - 1}) logits[x] = -1.0f;
  // The second row's first chunk has nothing but tokens of mass 1, 40 octaves below the largest.
  for (int const x : {5, 70, 900}) logits[vocab + x] = -39.5f * octave;
  logits[vocab + 1500] = logits[vocab + 1600] = 0.0f;
  tev::softmax_storage storage;
  auto const target = storage.rows(logits.data(), 2, vocab, vocab, 1.0f);
  auto const tree = tev::draft_tree::from_parents({-1, 0, 0, 0, 0}, {-1, 1023, 1024, 3, vocab - 1});
  tev::child_tokens<tev::draft_tree> const children{tree, 0};
  tev::serial_team const team;
  for (node_id v = 0; v < 2; ++v) {
    target.prepare(team, v);
    std::uint64_t total = 0, left = 0;
    for (int x = 0; x < vocab; ++x) {
      std::uint64_t const m = target.mass(v, x);
      if (m > 0) {
        check(target.draw(team, v, total, tev::no_tokens{}) == x, "first number of a token");
        check(target.draw(team, v, total + m - 1, tev::no_tokens{}) == x, "last number of a token");
      }
      total += m;
      if (m == 0 || tev::contains(children, x)) continue;
      check(target.draw(team, v, left, children) == x, "first number of a token of a residual");
      check(target.draw(team, v, left + m - 1, children) == x,
            "last number of a token of a residual");
      left += m;
    }
    check(total == target.total(v), "total is the sum of masses");
    check(target.draw(team, v, total, tev::no_tokens{}) == -1, "nothing beyond the total");
    check(target.draw(team, v, left, children) == -1, "nothing beyond the residual");
  }
  check(target.mass(1, 70) == 1, "mass 1 forty octaves below");
  check(target.best(team, 1) == 1500, "lowest token of the largest logit");
  auto const cold = storage.rows(logits.data(), 2, vocab, vocab, 0.0f);
  cold.prepare(team, 1);
  check(cold.best(team, 1) == 1500 && cold.mass(1, 1500) == cold.total(1), "temperature 0");
  check(cold.draw(team, 1, cold.total(1) - 1, tev::no_tokens{}) == 1500, "draw at temperature 0");
}

void check_builder() {
  // Every prefix, sorted by the definition. Equal masses make ties in score and depth.
  std::vector<std::uint64_t> const masses{4, 1, 4, 3, 2, 1, 4, 1, 2, 2, 2, 2};
  constexpr int vocab = 4, horizon = 3;
  struct prefix {
    fraction score;
    std::vector<int> ranks;
    std::vector<token_id> tokens;
  };
  std::vector<std::vector<token_id>> ranked;
  for (int row = 0; row < horizon; ++row) {
    std::vector<token_id> order{0, 1, 2, 3};
    sort(order, [&](int a, int b) { return masses[row * vocab + a] > masses[row * vocab + b]; });
    ranked.push_back(order);
  }
  std::vector<prefix> all{{fraction(1), {}, {}}};
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto const depth = static_cast<int>(all[k].ranks.size());
    if (depth == horizon) continue;
    std::uint64_t total = 0;
    for (int x = 0; x < vocab; ++x) total += masses[depth * vocab + x];
    for (int r = 0; r < vocab; ++r) {
      prefix next = all[k];
      next.score = next.score * fraction(masses[depth * vocab + ranked[depth][r]], total);
      next.ranks.push_back(r);
      next.tokens.push_back(ranked[depth][r]);
      all.push_back(next);
    }
  }
  sort(all, [](prefix const& a, prefix const& b) {
    if (!(a.score == b.score)) return b.score < a.score;
    if (a.ranks.size() != b.ranks.size()) return a.ranks.size() < b.ranks.size();
    return a.ranks < b.ranks;
  });
  tev::mass_storage<std::uint64_t> storage;
  for (int budget = 0; budget <= 84; ++budget) {
    auto const draft = storage.rows(masses.data(), horizon, vocab, vocab);
    auto const built = tev::best_first{}(draft, horizon, budget);
    check(built.tree.size() == budget + 1, "size of the built tree");
    for (node_id v = 0; v < built.tree.size() && !failed; ++v)
      check(tev::tokens_to(built.tree, v) == all[v].tokens, "order of the built tree");
  }
}

void check_tree() {
  auto const tree = tev::draft_tree::from_parents({-1, 0, 0, 1, 1, 4}, {-1, 7, 8, 7, 9, 7});
  check(tev::path_to(tree, 5) == std::vector<node_id>{0, 1, 4, 5}, "path to a node");
  check(tev::tokens_to(tree, 5) == std::vector<token_id>{7, 9, 7}, "tokens to a node");
  check(tev::depths(tree) == std::vector<std::int32_t>{0, 1, 1, 2, 2, 3}, "depths");
  check(tev::ancestor_mask(tree) == std::vector<std::uint32_t>{1, 3, 5, 11, 19, 51},
        "ancestor mask");
  auto const moves = tev::commit_moves(tev::path_to(tree, 5), 100);
  check(moves.size() == 2 && moves[0].from == 104 && moves[0].to == 102 && moves[1].from == 105 &&
            moves[1].to == 103,
        "moves that commit a path");
  std::vector<node_id> children;
  tev::for_each_child(tree, 1, [&](node_id c) { children.push_back(c); });
  check(children == std::vector<node_id>{3, 4}, "children in order");

  // Links that run in a circle end where they stop to increase.
  node_id const parents[] = {-1, 0, 0}, first[] = {1, -1, -1}, next[] = {-1, 2, 1};
  node_id const itself[] = {-1, 1, 2};
  token_id const tokens[] = {-1, 0, 1};
  for (auto const* siblings : {next, itself}) {
    int visits = 0;
    tev::find_child(tev::tree_view{3, parents, tokens, first, siblings}, 0,
                    [&](node_id) { return ++visits > 10; });
    check(visits <= 2, "a circle of links ends");
  }
}

}  // namespace

int main() {
  check_tree();
  check_random();
  check_questions();
  check_laws();
  check_flow();
  check_softmax();
  check_builder();
  if (!failed) std::printf("passed\n");
  return failed ? 1 : 0;
}
