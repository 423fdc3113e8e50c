// The builders by level, by rank and by fixed shape, and the map of a draft vocabulary, on cases
// that were worked out by hand or follow from each other.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "probe.hpp"
#include "tev/build/best_first.hpp"
#include "tev/build/expand_rerank.hpp"
#include "tev/build/level_growth.hpp"
#include "tev/build/ranked.hpp"
#include "tev/build/static_paths.hpp"
#include "tev/build/vocab_map.hpp"
#include "tev/distribution/mass_rows.hpp"

namespace {

using namespace probe;
using tev::node_id;
using tev::token_id;
using masses = std::vector<std::uint64_t>;
using paths = std::vector<std::vector<std::int32_t>>;
using rows = tev::mass_rows<std::uint64_t>;

// Tokens of every node's path, the root's left out.
paths paths_of(tev::draft_tree const& tree) {
  paths all{{}};
  for (node_id v = 1; v < tree.size(); ++v) {
    all.push_back(all[tree.parent(v)]);
    all.back().push_back(tree.token(v));
  }
  all.erase(all.begin());
  return all;
}

template <class Builder>
paths built(Builder const& builder, masses const& m, int vocab, int budget) {
  tev::mass_storage<std::uint64_t> storage;
  auto const horizon = static_cast<std::int32_t>(m.size()) / vocab;
  return paths_of(builder(storage.rows(m.data(), horizon, vocab, vocab), horizon, budget).tree);
}

masses const even{4, 3, 2, 1, 0, 5, 5, 4, 4, 2, 1, 1, 1, 1, 1};
masses const example{50, 30, 15, 5, 10, 60, 20, 10, 25, 25, 40, 10};

void check_levels_of_marginals() {
  check(
      built(tev::expand_rerank{2}, even, 5, 12) ==
          paths{
              {0}, {1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}},
      "a narrow frontier");
  check(built(tev::expand_rerank{4}, example, 4, 8) == built(tev::best_first{}, example, 4, 8),
        "a full frontier");
  check(built(tev::level_growth{}, example, 4, 9) == built(tev::best_first{}, example, 4, 9),
        "levels that all pay");
  check(built(tev::best_first{}, {5, 1, 1, 4}, 2, 6) ==
            paths{{0}, {0, 1}, {1}, {0, 0}, {1, 1}, {1, 0}},
        "a tie that rounded probabilities would break");
  tev::mass_storage<std::uint64_t> storage;
  auto const levels = [&](double delta, int budget) {
    return tev::level_growth{delta}.grow(storage.rows(example.data(), 3, 4, 4), 3, budget).levels;
  };
  check(levels(0.68, 8) == 2 && levels(0.679, 8) == 3, "the gain of a level");
  check(levels(1.0, 8) == 1 && levels(0.0, 1) == 2 && levels(-1.0, 1) == 3, "when levels end");
  // Gains that are met exactly, up to how doubles round them: the second level adds
  // (d - 1)/d and takes 1/d away.
  for (std::uint64_t d = 3; d < 60; ++d) {
    masses const m{d - 1, 1, 7, 0, 7, 0};
    auto const gain = static_cast<double>(d - 2) / static_cast<double>(d);
    auto const draft = storage.rows(m.data(), 3, 2, 2);
    check(tev::level_growth{gain}.grow(draft, 3, 2).levels == 2, "a gain of exactly delta");
  }
}

// Rows that depend on the path, kept in an order of the drafter's own.
struct path_drafter {
  paths contexts{};
  masses all{};
  tev::mass_storage<std::uint64_t> storage{};

  static masses row_of(std::vector<std::int32_t> const& path) {
    std::uint64_t state = 0x9E3779B97F4A7C15u;
    for (auto const token : path) state = (state + token + 1) * 6364136223846793005u + 99;
    return {(state >> 40) % 7, (state >> 45) % 7, (state >> 50) % 7};
  }
  rows operator()(tev::frontier const& level) {
    paths next;
    masses reversed;
    for (std::int32_t i = 0; i < level.size(); ++i) {
      next.push_back(level.depth == 0 ? std::vector<std::int32_t>{}
                                      : contexts.at(static_cast<std::size_t>(level.parents[i])));
      if (level.depth > 0) next.back().push_back(level.tokens[i]);
      level.row[i] = level.size() - 1 - i;
      auto const row = row_of(next.back());
      reversed.insert(reversed.begin(), row.begin(), row.end());
    }
    contexts = next;
    all = reversed;
    return storage.rows(all.data(), level.size(), 3, 3);
  }
};

void check_levels_of_a_drafter() {
  // A frontier as wide as the tree leaves nothing out: every prefix of positive probability, each
  // with the product of its probabilities.
  path_drafter drafter;
  auto const all = tev::expand_rerank{1000}(drafter, 4, 1000);
  std::size_t count = 0;
  paths open{{}};
  for (std::size_t k = 0; k < open.size(); ++k) {
    auto const row = path_drafter::row_of(open[k]);
    for (int x = 0; x < 3 && open[k].size() < 4; ++x) {
      if (row[x] == 0) continue;
      open.push_back(open[k]);
      open.back().push_back(x);
      ++count;
    }
  }
  auto const found = paths_of(all.tree);
  check(found.size() == count && count > 60, "every prefix of a drafter");
  for (std::size_t i = 0; i < found.size(); ++i) {
    double score = 1.0;
    auto context = found[i];
    for (; !context.empty();) {
      auto const token = context.back();
      context.pop_back();
      auto const row = path_drafter::row_of(context);
      score *= static_cast<double>(row[token]) / static_cast<double>(row[0] + row[1] + row[2]);
    }
    double const off = all.score[i + 1] - score;
    check(off < 1e-12 && off > -1e-12, "scores of a drafter");
    check(i == 0 || all.score[i + 1] <= all.score[i], "order of a drafter's nodes");
  }
  for (int budget = 0; budget < 20; ++budget) {
    path_drafter again;
    auto const grown = paths_of(tev::level_growth{}(again, 4, budget).tree);
    auto const end = found.begin() + std::min<std::ptrdiff_t>(budget, std::ssize(found));
    check(grown == paths(found.begin(), end), "growth of a drafter");
  }
}

void check_ranked() {
  std::vector<fraction> const rates{{3, 5}, {1, 5}, {1, 10}};
  tev::ranked_table<fraction> const table(rates, 16, 6);
  check(table.value(2, 2) == fraction(8, 5) && table.value(3, 2) == fraction(9, 5) &&
            table.value(4, 3) == fraction(54, 25) && table.value(5, 4) == fraction(297, 125) &&
            table.value(8, 4) == fraction(679, 250) && table.value(8, 6) == fraction(1716, 625) &&
            table.value(16, 2) == fraction(19, 10) && table.value(16, 1) == fraction(1),
        "worked values by rank");
  for (std::int32_t nodes = 1; nodes <= 16; ++nodes)
    for (std::int32_t levels = 1; levels <= 6; ++levels) {
      auto const shape = table.paths(nodes, levels);
      fraction size(1);
      for (auto const& path : shape) {
        fraction product(1);
        for (auto const rank : path) product = product * rates[rank];
        size += product;
        check(static_cast<std::int32_t>(path.size()) < levels, "levels of a shape");
      }
      check(size == table.value(nodes, levels), "the value of a shape");
      check(static_cast<std::int32_t>(shape.size()) < nodes, "nodes of a shape");
    }
  check(tev::ranked_table<fraction>(rates, 4, 2, 1).value(4, 2) == fraction(8, 5), "one child");
}

void check_static_paths() {
  masses const m{3, 5, 2, 0, 1, 4};
  paths const shape{{0, 1}, {2}, {1, 0}, {3, 0}, {0, 2}};
  tev::static_paths const builder(shape);
  check(std::ranges::equal(builder.paths(),
                           paths{{0}, {1}, {2}, {3}, {0, 1}, {0, 2}, {1, 0}, {3, 0}}),
        "paths in order");
  check(built(builder, m, 3, 9) == paths{{1}, {0}, {2}, {1, 1}, {0, 2}}, "tokens by rank");
  check(built(builder, m, 3, 4) == paths{{1}, {0}, {2}, {1, 1}}, "the budget of a shape");
  check(built(tev::ranked{{0.6, 0.2, 0.1}}, example, 4, 4) == paths{{0}, {1}, {0, 1}, {0, 1, 2}},
        "the best shape over rows");
}

void check_vocab_map() {
  std::vector<std::int64_t> const offset{-0, 2, 7, -3, -4};
  tev::vocab_map<> const map{offset, 9};
  check(map(0) == 0 && map(1) == 3 && map(2) == -1 && map(3) == 0 && map(4) == 0 && map(5) == -1,
        "mapped tokens");
  check((tev::vocab_map<>{offset, 10}(2)) == 9, "the last token of the target");
  std::vector<node_id> const siblings{-1, 0, 0}, chained{-1, 0, 1};
  std::vector<token_id> const drafted{-1, 0, 3};
  check(tev::map_tokens(siblings, drafted, map).check.fault == tev::tree_fault::duplicate_sibling,
        "siblings that become one");
  auto const mapped = tev::map_tokens(chained, drafted, map);
  check(mapped.check.ok() && mapped.tokens == std::vector<token_id>{-1, 0, 0}, "a mapped chain");
  auto const whole = tev::validate(map);
  check(whole.fault == tev::tree_fault::token_range && whole.drafted == 2, "a table's first fault");
}

}  // namespace

int main() {
  check_levels_of_marginals();
  check_levels_of_a_drafter();
  check_ranked();
  check_static_paths();
  check_vocab_map();
  return finish();
}
