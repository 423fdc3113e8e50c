// DDTree: the B most probable prefixes under the product of the draft's marginals.
#pragma once

#include <cstdint>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/build/prefix_growth.hpp"
#include "tev/build/ranked_tokens.hpp"
#include "tev/core/types.hpp"
#include "tev/team/serial_team.hpp"

namespace tev {

/// The best tree of a budget under the product of the draft's marginals (DDTree, Liran Ringel):
/// nodes come out by higher probability, then shallower, then smaller rank path, so the tree of a
/// smaller budget is a prefix of the tree of a larger one. Ranks: larger mass, then lower token.
///
/// O(horizon vocab + budget log budget). Throws `argument_error` for a negative budget or horizon.
struct best_first {
  template <draft_rows Draft>
  [[nodiscard]] built_tree operator()(Draft const& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    require_sizes("best_first", horizon, budget);
    std::vector<std::vector<ranked_token>> levels;
    for (std::int32_t row = 0; row < horizon; ++row) {
      draft.prepare(serial_team{}, row);
      levels.push_back(ranked_tokens(draft, row, budget));
      if (levels.back().empty()) break;
    }
    levels.emplace_back();  // Below the last row there is nothing to offer.
    detail::prefix_growth growth;
    growth.offer(0, levels[0], 0);
    while (!growth.exhausted() && growth.size() <= budget) {
      node_id const taken = growth.take();
      auto const& best = growth[taken];
      growth.offer(best.parent, levels[best.depth - 1], best.rank + 1);
      growth.offer(taken, levels[best.depth], 0);
    }
    return growth.tree();
  }
};

}  // namespace tev
