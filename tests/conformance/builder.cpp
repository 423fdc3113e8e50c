// builder.json: draft marginals and a budget -> best tree and relatives.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/kinds.hpp"
#include "tev/build/best_first.hpp"
#include "tev/build/expand_rerank.hpp"
#include "tev/build/level_growth.hpp"
#include "tev/build/ranked.hpp"
#include "tev/build/static_paths.hpp"
#include "tev/build/vocab_map.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/mass_rows.hpp"

namespace conformance {

namespace {

// Marginals as integer masses under a common denominator, so that equal products are ties. Rows
// that no 64 bits hold stay fractions.
class marginals {
 public:
  explicit marginals(value const& list) {
    for (auto const& row : list.items()) {
      rows_.emplace_back();
      for (auto const& p : row.items()) {
        rows_.back().push_back(p.exact());
        if (rows_.back().back() < 0) throw case_error(p.place() + " is negative");
      }
      if (rows_.back().size() != rows_.front().size())
        throw case_error("marginals differ in length");
    }
    for (auto const& row : rows_) {
      big_integer common = 1;
      for (auto const& p : row) common = lcm(common, denominator(p));
      fits_ &= common <= std::numeric_limits<std::uint64_t>::max();
      totals_.push_back(fits_ ? static_cast<std::uint64_t>(common) : 0);
      for (auto const& p : row) {
        fractions_.push_back(p);
        masses_.push_back(fits_ ? static_cast<std::uint64_t>(
                                      big_integer(numerator(p) * (common / denominator(p))))
                                : 0);
      }
    }
    ones_.assign(rows_.size(), 1);
  }

  [[nodiscard]] std::int32_t horizon() const { return static_cast<std::int32_t>(rows_.size()); }

  // Calls `build(rows)` with the rows as a distribution.
  template <class Build>
  auto with_rows(Build&& build) const {
    std::int32_t const vocab = rows_.empty() ? 1 : static_cast<std::int32_t>(rows_[0].size());
    if (fits_) {
      tev::mass_storage<std::uint64_t> storage;
      return build(storage.rows(masses_.data(), horizon(), vocab, vocab, totals_.data()));
    }
    tev::mass_storage<rational> storage;
    return build(storage.rows(fractions_.data(), horizon(), vocab, vocab, ones_.data()));
  }

  // The place of a token in the row of its depth: higher probability first, lower id on ties.
  [[nodiscard]] std::int32_t rank(std::int32_t depth, tev::token_id token) const {
    auto const& row = rows_[static_cast<std::size_t>(depth)];
    auto const& own = row[static_cast<std::size_t>(token)];
    std::int32_t rank = 0;
    for (std::size_t x = 0; x < row.size(); ++x)
      if (row[x] > own || (row[x] == own && static_cast<tev::token_id>(x) < token)) ++rank;
    return rank;
  }

  [[nodiscard]] rational const& at(std::int32_t depth, tev::token_id token) const {
    return rows_[static_cast<std::size_t>(depth)][static_cast<std::size_t>(token)];
  }

 private:
  std::vector<std::vector<rational>> rows_;
  std::vector<rational> fractions_, ones_;
  std::vector<std::uint64_t> masses_, totals_;
  bool fits_ = true;
};

struct node_facts {
  std::vector<std::int32_t> ranks, tokens;
  rational probability;
};

// What the marginals say about each drafted node of a tree.
std::vector<node_facts> facts_of(tev::draft_tree const& tree, marginals const& m) {
  std::vector<node_facts> nodes{{{}, {}, 1}};
  for (tev::node_id v = 1; v < tree.size(); ++v) {
    node_facts node = nodes[static_cast<std::size_t>(tree.parent(v))];
    auto const depth = static_cast<std::int32_t>(node.tokens.size());
    node.ranks.push_back(m.rank(depth, tree.token(v)));
    node.tokens.push_back(tree.token(v));
    node.probability *= m.at(depth, tree.token(v));
    nodes.push_back(node);
  }
  nodes.erase(nodes.begin());
  return nodes;
}

rational sum_of(std::vector<node_facts> const& nodes) {
  rational sum = 0;
  for (auto const& node : nodes) sum += node.probability;
  return sum;
}

// Scores are doubles: they have to be close to the probability, however small it is.
void check_score(checker& check, std::string const& place, rational const& exact, double score) {
  double const wanted = to_double(exact);
  if (!(std::abs(score - wanted) <= 1e-12 * wanted))
    check.fail(place, "a score of " + text(wanted), text(score));
}

void check_built(fields const& expect, marginals const& m, tev::built_tree const& built,
                 checker& check) {
  auto const nodes = facts_of(built.tree, m);
  auto const expected = expect["nodes"].items();
  check.equal("expect.nodes", expected.size(), nodes.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    fields const node = expected[i].object("node");
    auto const ranks = node["ranks"].indices(), tokens = node["tokens"].indices();
    auto const probability = node["prob"].number();
    if (i >= nodes.size()) continue;
    check.equal(expected[i].place() + ".ranks", ranks, nodes[i].ranks);
    check.equal(expected[i].place() + ".tokens", tokens, nodes[i].tokens);
    check.agrees(expected[i].place() + ".prob", probability, nodes[i].probability);
    check_score(check, expected[i].place() + ".prob", nodes[i].probability, built.score[i + 1]);
  }
  auto const parents = built.tree.parents();
  auto const tokens = built.tree.tokens();
  check.equal("expect.parent", expect["parent"].indices(),
              std::vector<std::int32_t>(parents.begin(), parents.end()));
  check.equal("expect.token", expect["token"].indices(),
              std::vector<std::int32_t>(tokens.begin(), tokens.end()));
  check.agrees("expect.sum", expect["sum"].number(), sum_of(nodes));
}

void check_against_best(fields const& expect, marginals const& m, std::int32_t horizon,
                        std::int32_t budget, tev::built_tree const& built, checker& check) {
  auto const best =
      m.with_rows([&](auto const& rows) { return tev::best_first{}(rows, horizon, budget); });
  check.equal("expect.same_as_best", expect["same_as_best"].flag(), built.tree == best.tree);
  check.agrees("expect.best_sum", expect["best_sum"].number(), sum_of(facts_of(best.tree, m)));
}

void check_best(fields const& the_case, fields const& expect, checker& check) {
  marginals const m(the_case["marginals"]);
  std::int32_t const budget = the_case["budget"].index();
  check_built(expect, m, m.with_rows([&](auto const& rows) {
    return tev::best_first{}(rows, m.horizon(), budget);
  }),
              check);
}

void check_sums(fields const& the_case, fields const& expect, checker& check) {
  marginals const m(the_case["marginals"]);
  std::vector<rational> sums;
  for (std::int32_t const budget : the_case["budgets"].indices()) {
    auto const built =
        m.with_rows([&](auto const& rows) { return tev::best_first{}(rows, m.horizon(), budget); });
    sums.push_back(sum_of(facts_of(built.tree, m)));
  }
  check.agree("expect.sum", expect["sum"].numbers(), sums);
}

// The sum over nodes of the product of the rates on the way to them.
rational expected_size(std::vector<tev::rank_path> const& paths,
                       std::vector<rational> const& rates) {
  rational sum = 1;
  for (auto const& path : paths) {
    rational product = 1;
    for (std::int32_t const rank : path) product *= rates[static_cast<std::size_t>(rank)];
    sum += product;
  }
  return sum;
}

void check_rank_table(fields const& the_case, fields const& expect, checker& check) {
  std::vector<rational> rates;
  for (auto const& rate : the_case["rates"].items()) rates.push_back(rate.exact());
  auto const nodes = the_case["nodes"].indices(), levels = the_case["levels"].indices();
  auto const values = expect["value"].items();
  check.equal("expect.value", values.size(), nodes.size());
  if (nodes.empty() || levels.empty()) return;
  tev::ranked_table<rational> const table(rates, *std::ranges::max_element(nodes),
                                          *std::ranges::max_element(levels));
  for (std::size_t i = 0; i < std::min(values.size(), nodes.size()); ++i) {
    std::vector<rational> row;
    for (std::int32_t const level : levels) {
      row.push_back(table.value(nodes[i], level));
      auto const paths = table.paths(nodes[i], level);
      std::string const place = values[i].place() + " at " + text(level) + " levels";
      check.equal(place + ", expected size of its tree", text(row.back()),
                  text(expected_size(paths, rates)));
      check.equal(place + ", within the limits", true,
                  std::ssize(paths) < nodes[i] && std::ranges::all_of(paths, [&](auto const& p) {
                    return std::ssize(p) < level;
                  }));
    }
    check.agree(values[i].place(), values[i].numbers(), row);
  }
}

void check_expand_rerank(fields const& the_case, fields const& expect, checker& check) {
  marginals const m(the_case["marginals"]);
  std::int32_t const budget = the_case["budget"].index();
  std::int32_t const depth = std::min(the_case["depth"].index(), m.horizon());
  tev::expand_rerank const builder{the_case["top_k"].index()};
  auto const built = m.with_rows([&](auto const& rows) { return builder(rows, depth, budget); });
  check_built(expect, m, built, check);
  check_against_best(expect, m, depth, budget, built, check);
}

void check_level_growth(fields const& the_case, fields const& expect, checker& check) {
  marginals const m(the_case["marginals"]);
  std::int32_t const budget = the_case["budget"].index();
  quantity const delta = the_case["delta"].number();
  tev::level_growth const builder{delta.exact ? to_double(*delta.exact) : delta.rounded};
  auto const grown =
      m.with_rows([&](auto const& rows) { return builder.grow(rows, m.horizon(), budget); });
  check_built(expect, m, grown.built, check);
  check.equal("expect.levels", expect["levels"].index(), grown.levels);
  check_against_best(expect, m, m.horizon(), budget, grown.built, check);
}

void check_vocab_map(fields const& the_case, fields const& expect, checker& check) {
  auto const offset = the_case["offset"].integers();
  auto const drafted = the_case["drafted"].indices();
  bool const siblings = the_case["siblings"].flag();
  std::vector<tev::node_id> parents{tev::no_node};
  std::vector<tev::token_id> tokens{tev::no_token};
  for (tev::token_id const token : drafted) {
    parents.push_back(siblings ? 0 : static_cast<tev::node_id>(tokens.size()) - 1);
    tokens.push_back(token);
  }
  tev::vocab_map<std::int64_t> const map{offset, the_case["vocab"].index()};
  auto mapped = tev::map_tokens(parents, tokens, map);
  check.equal("expect.reason", expect["reason"].text(), std::string(name(mapped.check.fault)));
  mapped.tokens.erase(mapped.tokens.begin());
  if (!mapped.check.ok()) mapped.tokens.clear();
  check.equal("expect.token", expect["token"].indices(), mapped.tokens);
}

}  // namespace

void check_builder(fields const& the_case, checker& check) {
  std::string const kind = the_case["kind"].text();
  fields const expect = the_case["expect"].object("expect");
  if (kind == "best") return check_best(the_case, expect, check);
  if (kind == "sums") return check_sums(the_case, expect, check);
  if (kind == "rank_table") return check_rank_table(the_case, expect, check);
  if (kind == "expand_rerank") return check_expand_rerank(the_case, expect, check);
  if (kind == "level_growth") return check_level_growth(the_case, expect, check);
  if (kind == "vocab_map") return check_vocab_map(the_case, expect, check);
  throw unknown_kind("kind is \"" + kind + "\", which builder.json does not have");
}

}  // namespace conformance
