// DDTree: the B most probable prefixes under the product of the draft's marginals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/build/ranked_tokens.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/team/serial_team.hpp"

namespace tev {

namespace detail {

// A prefix that may become a node. A score is a product of masses over a product of totals, divided
// once at the end, so that equal probabilities are equal numbers.
struct prefix_candidate {
  double masses;
  double totals;
  double score;
  std::int32_t depth;
  std::int32_t rank;
  node_id parent;
};

// Best-first growth: pop the best prefix, offer its next sibling and its first child.
template <distribution Draft>
class best_first_growth {
 public:
  best_first_growth(Draft const& draft, std::int32_t horizon, std::int32_t budget) {
    for (std::int32_t row = 0; row < horizon; ++row) {
      draft.prepare(serial_team{}, row);
      levels_.push_back(ranked_tokens(draft, row, budget));
      if (levels_.back().empty()) break;
    }
    nodes_.push_back({1.0, 1.0, 1.0, 0, 0, no_node});
  }

  built_tree grow(std::int32_t budget) {
    auto const behind = [this](prefix_candidate const& a, prefix_candidate const& b) {
      return before(b, a);
    };
    std::priority_queue<prefix_candidate, std::vector<prefix_candidate>, decltype(behind)> open(
        behind);
    auto const offer = [&](node_id parent, std::int32_t rank) {
      prefix_candidate const& above = nodes_[parent];
      if (above.depth >= static_cast<std::int32_t>(levels_.size())) return;
      auto const& level = levels_[above.depth];
      if (rank >= static_cast<std::int32_t>(level.size())) return;
      double const masses = above.masses * level[rank].mass;
      double const totals = above.totals * level[rank].total;
      double const score = std::min(above.score, masses / totals);
      if (score > 0.0) open.push({masses, totals, score, above.depth + 1, rank, parent});
    };
    offer(0, 0);
    while (!open.empty() && static_cast<std::int32_t>(nodes_.size()) <= budget) {
      prefix_candidate const best = open.top();
      open.pop();
      nodes_.push_back(best);
      offer(best.parent, best.rank + 1);
      offer(static_cast<node_id>(nodes_.size()) - 1, 0);
    }
    return finish();
  }

 private:
  // Higher score, then shallower, then smaller rank path.
  [[nodiscard]] bool before(prefix_candidate const& a, prefix_candidate const& b) const {
    if (a.score != b.score) return a.score > b.score;
    if (a.depth != b.depth) return a.depth < b.depth;
    return path_before(a, b);
  }

  // Ranks are compared from the root down: climb to the level where the two ways part.
  [[nodiscard]] bool path_before(prefix_candidate const& a, prefix_candidate const& b) const {
    std::int32_t rank_a = a.rank, rank_b = b.rank;
    for (node_id u = a.parent, v = b.parent; u != v; u = nodes_[u].parent, v = nodes_[v].parent) {
      rank_a = nodes_[u].rank;
      rank_b = nodes_[v].rank;
    }
    return rank_a < rank_b;
  }

  [[nodiscard]] built_tree finish() const {
    std::vector<node_id> parents;
    std::vector<token_id> tokens;
    std::vector<double> score;
    for (auto const& node : nodes_) {
      parents.push_back(node.parent);
      tokens.push_back(node.parent == no_node ? no_token
                                              : levels_[node.depth - 1][node.rank].token);
      score.push_back(node.score);
    }
    return {draft_tree::from_parents(std::move(parents), std::move(tokens)), std::move(score)};
  }

  std::vector<std::vector<ranked_token>> levels_;
  std::vector<prefix_candidate> nodes_;
};

}  // namespace detail

/// The best tree of a budget under the product of the draft's marginals (DDTree, Liran Ringel):
/// nodes come out by higher probability, then shallower, then smaller rank path, so the tree of a
/// smaller budget is a prefix of the tree of a larger one. Ranks: larger mass, then lower token.
///
/// O(horizon vocab + budget log budget). Throws `argument_error` for a negative budget or horizon.
struct best_first {
  template <distribution Draft>
  [[nodiscard]] built_tree operator()(Draft const& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    require_sizes("best_first", horizon, budget);
    return detail::best_first_growth<Draft>(draft, horizon, budget).grow(budget);
  }
};

}  // namespace tev
