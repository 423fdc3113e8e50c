// Sequoia: the best shape of a tree for given acceptance rates of the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/build/static_paths.hpp"
#include "tev/core/error.hpp"

namespace tev {

/// The largest expected sizes of static trees (Sequoia, arXiv 2402.12374).
///
/// rates[r] is the probability that a node's child of rank r is accepted, whatever the node. The
/// expected size is the sum over nodes of the product of the rates on the way to them, 1 at the
/// root: one more than the expected accepted length. Rates usually descend; where they don't, the
/// best tree may leave out ranks. With T(n, l, b) for trees of at most n nodes and l levels, the
/// root included in both, whose root has children of rank below b only,
///
///     T(n, l, b) = max over y of T(n - y, l, b - 1) + rates[b - 1] * T(y, l - 1, all ranks)
///
/// where y is the size of the last child's subtree. `Number` is any type with 0, 1, `+`, `*`, `<`
/// and `==`, such as a rational.
///
/// O(nodes^2 levels ranks) time and O(nodes levels ranks) memory, where nodes are at most what a
/// full tree of these levels and ranks has, and levels at most nodes.
template <class Number = double>
class ranked_table {
 public:
  /// Most nodes of a table, and most nodes times levels times ranks.
  static constexpr std::int32_t node_limit = 1 << 14, entry_limit = 1 << 24;

  /// For trees of up to `nodes` nodes and `levels` levels, the root included, with at most
  /// `children` children a node (by default as many as there are rates). Throws `argument_error`
  /// for a rate outside [0, 1], for fewer than one node or level, for a negative number of children
  /// and beyond the two limits.
  ranked_table(std::span<Number const> rates, std::int32_t nodes, std::int32_t levels,
               std::int32_t children = std::numeric_limits<std::int32_t>::max()) {
    for (std::size_t r = 0; r < rates.size(); ++r)
      require(!(rates[r] < Number(0)) && !(Number(1) < rates[r]) && rates[r] == rates[r],
              "ranked_table: rates[" + std::to_string(r) + "] is " + text(rates[r]) +
                  ", needs to be in [0, 1]");
    require_at_least("nodes", nodes, 1);
    require_at_least("levels", levels, 1);
    require_at_least("children", children, 0);
    rates_.assign(rates.begin(),
                  rates.begin() + std::min<std::ptrdiff_t>(children, std::ssize(rates)));
    levels_ = std::min(nodes, levels);
    nodes_ = std::min(nodes, full_size());
    require(nodes_ <= node_limit, "ranked_table: nodes is " + std::to_string(nodes) +
                                      ", needs <= " + std::to_string(node_limit));
    levels_ = std::min(nodes_, levels_);
    auto const entries = std::int64_t{nodes_} * levels_ * std::max(ranks(), 1);
    require(entries <= entry_limit, "ranked_table: nodes times levels times ranks is " +
                                        std::to_string(entries) +
                                        ", needs <= " + std::to_string(entry_limit));
    fill();
  }

  /// The largest expected size of a tree with at most `nodes` nodes and `levels` levels, the root
  /// included in both and in the size. Throws `argument_error` below 1. Sizes beyond the table's
  /// are taken for the table's.
  [[nodiscard]] Number const& value(std::int32_t nodes, std::int32_t levels) const {
    require_at_least("nodes", nodes, 1);
    require_at_least("levels", levels, 1);
    return at(std::min(levels, levels_), ranks(), std::min(nodes, nodes_)).value;
  }

  /// The tree of that expected size as the rank paths of its nodes, the root's left out, by length,
  /// then path. Of equally good trees one without needless nodes; always the same.
  [[nodiscard]] std::vector<rank_path> paths(std::int32_t nodes, std::int32_t levels) const {
    require_at_least("nodes", nodes, 1);
    require_at_least("levels", levels, 1);
    std::vector<rank_path> paths;
    add_paths(std::min(nodes, nodes_), std::min(levels, levels_), {}, paths);
    std::ranges::sort(paths, shorter_then_smaller);
    return paths;
  }

 private:
  struct entry {
    Number value = Number(1);
    std::int32_t last_child = 0;  // Nodes of the last child's subtree; 0 is without that child.
  };

  static void require_at_least(char const* argument, std::int32_t value, std::int32_t least) {
    require(value >= least, std::string("ranked_table: ") + argument + " is " +
                                std::to_string(value) + ", needs >= " + std::to_string(least));
  }

  static std::string text(Number const& number) {
    if constexpr (std::is_arithmetic_v<Number>) return std::to_string(number);
    return number < Number(0) ? "below 0" : "above 1";
  }

  [[nodiscard]] std::int32_t ranks() const { return static_cast<std::int32_t>(rates_.size()); }

  // Nodes of the tree in which every node has all children, or more than a table may have.
  [[nodiscard]] std::int32_t full_size() const {
    std::int64_t size = 1, level = 1;
    for (std::int32_t l = 1; l < levels_ && level > 0 && size <= node_limit; ++l) {
      level *= ranks();
      size += level;
    }
    return static_cast<std::int32_t>(std::min<std::int64_t>(size, node_limit + 1));
  }

  // Of T(nodes, levels, ranks below `rank`).
  [[nodiscard]] std::size_t index(std::int32_t levels, std::int32_t rank,
                                  std::int32_t nodes) const {
    return (static_cast<std::size_t>(levels - 1) * (rates_.size() + 1) +
            static_cast<std::size_t>(rank)) *
               static_cast<std::size_t>(nodes_) +
           static_cast<std::size_t>(nodes - 1);
  }
  [[nodiscard]] entry const& at(std::int32_t levels, std::int32_t rank, std::int32_t nodes) const {
    return table_[index(levels, rank, nodes)];
  }

  void fill() {
    table_.resize(index(levels_, ranks(), nodes_) + 1);
    for (std::int32_t levels = 2; levels <= levels_; ++levels)
      for (std::int32_t b = 1; b <= ranks(); ++b)
        for (std::int32_t nodes = 1; nodes <= nodes_; ++nodes)
          table_[index(levels, b, nodes)] = best_split(levels, b, nodes);
  }

  [[nodiscard]] entry best_split(std::int32_t levels, std::int32_t b, std::int32_t nodes) const {
    entry best{at(levels, b - 1, nodes).value, 0};
    for (std::int32_t y = 1; y < nodes; ++y) {
      Number const value =
          at(levels, b - 1, nodes - y).value + rates_[b - 1] * at(levels - 1, ranks(), y).value;
      if (best.value < value) best = {value, y};
    }
    return best;
  }

  void add_paths(std::int32_t nodes, std::int32_t levels, rank_path const& above,
                 std::vector<rank_path>& paths) const {
    for (std::int32_t b = ranks(); b > 0; --b) {
      std::int32_t const below = at(levels, b, nodes).last_child;
      if (below == 0) continue;
      paths.push_back(above);
      paths.back().push_back(b - 1);
      rank_path const path = paths.back();
      add_paths(below, levels - 1, path, paths);
      nodes -= below;
    }
  }

  std::vector<Number> rates_;
  std::int32_t nodes_ = 1;
  std::int32_t levels_ = 1;
  std::vector<entry> table_;
};

/// A builder whose shape is the best for given acceptance rates of the ranks, descending as a rule
/// (Sequoia); its tokens are filled in by rank as `static_paths` does.
///
/// Every call computes the table: O(budget^2 horizon rates). Where budget and horizon are fixed,
/// compute `ranked_table::paths` once and keep a `static_paths`. Throws `argument_error` for a
/// negative budget or horizon, a rate outside [0, 1] and beyond the limits of the table.
struct ranked {
  std::vector<double> rates;

  template <draft_rows Draft>
  [[nodiscard]] built_tree operator()(Draft const& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    require_sizes("ranked", horizon, budget);
    auto const and_root = [](std::int32_t n) {
      return std::min(n, std::numeric_limits<std::int32_t>::max() - 1) + 1;
    };
    std::int32_t const nodes = and_root(budget), levels = and_root(horizon);
    ranked_table<double> const table(rates, nodes, levels);
    return static_paths(table.paths(nodes, levels))(draft, horizon, budget);
  }
};

}  // namespace tev
