// The cache moves that make an accepted path contiguous.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tev/core/types.hpp"

namespace tev {

/// One move of a cache row between logical slots.
struct slot_move {
  std::int64_t from;
  std::int64_t to;

  friend bool operator==(slot_move const&, slot_move const&) = default;
};

/// Moves that commit `path` (root first, ascending nodes) when node i was written to slot base + i.
///
/// In ascending path position, and only where source and destination differ. A destination never
/// lies behind its source, so the moves may be executed one after the other in place; a parallel
/// copy needs a temporary. Afterwards the cache holds base + path.size() rows: the root's and the
/// accepted tokens'; the bonus token has no row yet. O(path).
[[nodiscard]] inline std::vector<slot_move> commit_moves(std::span<node_id const> path,
                                                         std::int64_t base) {
  std::vector<slot_move> moves;
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::int64_t const from = base + path[i], to = base + static_cast<std::int64_t>(i);
    if (from != to) moves.push_back({from, to});
  }
  return moves;
}

}  // namespace tev
