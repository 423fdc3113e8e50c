// Medusa: a tree whose shape is chosen beforehand and whose tokens are filled in by rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/build/prefix_growth.hpp"
#include "tev/build/ranked_tokens.hpp"
#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/team/serial_team.hpp"

namespace tev {

/// The way to a node as the rank of each token in its row, 0 the most probable.
using rank_path = std::vector<std::int32_t>;

/// The order of a static tree's nodes: shorter paths, then smaller ones.
[[nodiscard]] inline bool shorter_then_smaller(rank_path const& a, rank_path const& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// A builder with a fixed set of rank paths (Medusa, arXiv 2401.10774): the node of path
/// (r_1, ..., r_d) carries the token of rank r_d in row d - 1. Nodes come by length, then path. A
/// rank that its row lacks, or whose path has probability 0, leaves out the node and those below
/// it; the first `budget` of the others are the tree, so a smaller budget's tree is a prefix of a
/// larger one's.
///
/// One vocabulary pass for each depth and O(nodes). Throws `argument_error` for a negative budget
/// or horizon.
class static_paths {
 public:
  /// The lone root.
  static_paths() = default;

  /// From any number of paths in any order; prefixes are implied, repetitions and the empty path
  /// add nothing. O(ranks log ranks) comparisons of paths. Throws `argument_error` for a rank
  /// outside [0, 2^24).
  explicit static_paths(std::span<rank_path const> paths) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      rank_path prefix;
      for (std::int32_t const rank : paths[i]) {
        require(0 <= rank && rank < vocab_limit,
                "static_paths: a rank of paths[" + std::to_string(i) + "] is " +
                    std::to_string(rank) + ", needs to be in [0, 2^24)");
        prefix.push_back(rank);
        paths_.push_back(prefix);
      }
    }
    std::ranges::sort(paths_, shorter_then_smaller);
    auto const repeated = std::ranges::unique(paths_);
    paths_.erase(repeated.begin(), repeated.end());
    for (auto const& path : paths_) {
      widths_.resize(path.size(), 0);
      widths_.back() = std::max(widths_.back(), path.back() + 1);
      rank_path const above(path.begin(), path.end() - 1);
      auto const found = std::ranges::lower_bound(paths_, above, shorter_then_smaller);
      parents_.push_back(above.empty() ? 0 : static_cast<node_id>(found - paths_.begin()) + 1);
    }
  }

  /// Every node's path, in order, the root's left out.
  [[nodiscard]] std::span<rank_path const> paths() const { return paths_; }

  template <draft_rows Draft>
  [[nodiscard]] built_tree operator()(Draft const& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    require_sizes("static_paths", horizon, budget);
    detail::prefix_growth growth;
    std::vector<node_id> node(paths_.size() + 1, no_node);
    node[0] = 0;
    std::vector<ranked_token> row;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < paths_.size() && growth.size() <= budget; ++i) {
      if (paths_[i].size() > depth) {
        if (static_cast<std::int32_t>(depth) >= horizon) break;
        auto const next = static_cast<std::int32_t>(depth++);
        draft.prepare(serial_team{}, next);
        row = ranked_tokens(draft, next, widths_[next]);
      }
      if (node[parents_[i]] == no_node) continue;
      growth.offer(node[parents_[i]], row, paths_[i].back());
      if (!growth.exhausted()) node[i + 1] = growth.take();
    }
    return growth.tree();
  }

 private:
  std::vector<rank_path> paths_;      // [nodes], without the root.
  std::vector<node_id> parents_;      // [nodes]; 0 is the root, i + 1 the node of paths_[i].
  std::vector<std::int32_t> widths_;  // [depth] number of ranks in use.
};

}  // namespace tev
