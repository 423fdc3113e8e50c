// Prefixes of drafted tokens that have become nodes, and those that may become one next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/build/ranked_tokens.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/draft_tree.hpp"

namespace tev::detail {

// A score is a product of masses over a product of totals, divided once at the end, so that equal
// probabilities are equal numbers.
struct prefix {
  double masses;
  double totals;
  double score;
  std::int32_t depth;
  std::int32_t rank;
  node_id parent;
  token_id token;
};

// What all builders share: how a prefix is scored, which one comes first, and which are left out.
class prefix_growth {
 public:
  prefix_growth() { taken_.push_back({1.0, 1.0, 1.0, 0, 0, no_node, no_token}); }

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(taken_.size()); }
  [[nodiscard]] prefix const& operator[](node_id v) const { return taken_[v]; }

  // Opens the child of `parent` that has this rank in the parent's row, unless there is none or its
  // probability is 0.
  void offer(node_id parent, std::vector<ranked_token> const& row, std::int32_t rank) {
    if (rank >= static_cast<std::int32_t>(row.size())) return;
    prefix const& above = taken_[parent];
    double const masses = above.masses * row[rank].mass;
    double const totals = above.totals * row[rank].total;
    double const score = std::min(above.score, masses / totals);
    if (!(score > 0.0)) return;
    open_.push_back({masses, totals, score, above.depth + 1, rank, parent, row[rank].token});
    std::ranges::push_heap(open_, behind{*this});
  }

  [[nodiscard]] bool exhausted() const { return open_.empty(); }

  // Makes a node of the best open prefix.
  node_id take() {
    std::ranges::pop_heap(open_, behind{*this});
    taken_.push_back(open_.back());
    open_.pop_back();
    return size() - 1;
  }

  void close() { open_.clear(); }

  // Higher score, then shallower, then smaller rank path: a node comes before its descendants.
  [[nodiscard]] bool before(prefix const& a, prefix const& b) const {
    if (a.score != b.score) return a.score > b.score;
    if (a.depth != b.depth) return a.depth < b.depth;
    return path_before(a, b);
  }

  // The tree of every node, in the order in which they were taken.
  [[nodiscard]] built_tree tree() const {
    std::vector<node_id> all;
    for (node_id v = 1; v < size(); ++v) all.push_back(v);
    return tree(all);
  }

  // The tree of the root and these nodes, numbered in this order; their parents stand before them.
  [[nodiscard]] built_tree tree(std::span<node_id const> nodes) const {
    std::vector<node_id> parents{no_node}, place(taken_.size(), 0);
    std::vector<token_id> tokens{no_token};
    std::vector<double> score{1.0};
    for (node_id const v : nodes) {
      place[v] = static_cast<node_id>(parents.size());
      parents.push_back(place[taken_[v].parent]);
      tokens.push_back(taken_[v].token);
      score.push_back(taken_[v].score);
    }
    return {draft_tree::from_parents(std::move(parents), std::move(tokens)), std::move(score)};
  }

 private:
  // Ranks are compared from the root down: climb to the level where the two ways part.
  [[nodiscard]] bool path_before(prefix const& a, prefix const& b) const {
    std::int32_t rank_a = a.rank, rank_b = b.rank;
    for (node_id u = a.parent, v = b.parent; u != v; u = taken_[u].parent, v = taken_[v].parent) {
      rank_a = taken_[u].rank;
      rank_b = taken_[v].rank;
    }
    return rank_a < rank_b;
  }

  struct behind {
    prefix_growth const& growth;
    bool operator()(prefix const& a, prefix const& b) const { return growth.before(b, a); }
  };

  std::vector<prefix> taken_;
  std::vector<prefix> open_;  // A heap, the best on top.
};

}  // namespace tev::detail
