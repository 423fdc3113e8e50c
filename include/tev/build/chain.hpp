// The tree without branches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tev/build/concept.hpp"
#include "tev/build/ranked_tokens.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/team/serial_team.hpp"

namespace tev {

/// The most probable token of every depth, one after the other (DFlash's chain mode).
///
/// O(horizon vocab). Throws `argument_error` for a negative budget or horizon.
struct chain {
  template <distribution Draft>
  [[nodiscard]] built_tree operator()(Draft const& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    require_sizes("chain", horizon, budget);
    std::vector<node_id> parents{no_node};
    std::vector<token_id> tokens{no_token};
    std::vector<double> score{1.0};
    double masses = 1.0, totals = 1.0;  // divided once, as best_first does
    for (std::int32_t row = 0; row < std::min(horizon, budget); ++row) {
      draft.prepare(serial_team{}, row);
      auto const best = ranked_tokens(draft, row, 1);
      if (best.empty()) break;
      masses *= best[0].mass;
      totals *= best[0].total;
      double const path = std::min(score.back(), masses / totals);
      if (path == 0.0) break;
      parents.push_back(row);
      tokens.push_back(best[0].token);
      score.push_back(path);
    }
    return {draft_tree::from_parents(std::move(parents), std::move(tokens)), std::move(score)};
  }
};

}  // namespace tev
