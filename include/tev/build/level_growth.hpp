// OPT-Tree: grow level by level for as long as it pays.
#pragma once

#include <cmath>
#include <cstdint>

#include "tev/build/concept.hpp"
#include "tev/build/level_drafter.hpp"
#include "tev/build/level_expansion.hpp"
#include "tev/core/error.hpp"

namespace tev {

/// A tree and what it took a drafter to get there.
struct grown_tree {
  built_tree built;
  std::int32_t levels = 0;  ///< Levels that were drafted: calls of a level drafter.
};

/// The best `budget` prefixes of as many levels as pay (OPT-Tree, arXiv 2406.17276): a level keeps
/// its `budget` best, and growth stops after one that raised the sum of the `budget` best scores of
/// all levels, the accepted length that the draft expects, by at most `delta`. Scores and ties are
/// `best_first`'s. With `delta` 0 nothing is lost: no deeper prefix would have been among the best,
/// and over marginals the tree is `best_first`'s. A negative `delta` drafts every level.
///
/// Takes draft rows (row d for every node of depth d) or a `level_drafter`, which is called with at
/// most `budget` nodes, and not at all without a budget. Scores are rounded, so a gain counts as
/// `delta` up to its 2^-40th part above. One vocabulary pass for each distinct row and O(horizon
/// budget log budget). Throws `argument_error` for a negative budget or horizon and a NaN `delta`.
struct level_growth {
  double delta = 0.0;

  template <drafts_levels Draft>
  [[nodiscard]] built_tree operator()(Draft&& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    return grow(draft, horizon, budget).built;
  }

  /// The same, with the number of levels.
  template <drafts_levels Draft>
  [[nodiscard]] grown_tree grow(Draft&& draft, std::int32_t horizon, std::int32_t budget) const {
    require_sizes("level_growth", horizon, budget);
    require(!std::isnan(delta), "level_growth: delta is NaN, needs a number");
    double const most = delta + std::abs(delta) * 0x1p-40;
    return with_level_drafter(draft, [&](auto& drafter) -> grown_tree {
      detail::level_expansion expansion(budget, budget);
      std::int32_t levels = 0;
      while (budget > 0 && levels < horizon && !expansion.ended()) {
        expansion.grow(drafter);
        ++levels;
        if (expansion.gain() <= most) break;
      }
      return {expansion.tree(), levels};
    });
  }
};

}  // namespace tev
