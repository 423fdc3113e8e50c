// The tree without branches.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tev/build/concept.hpp"
#include "tev/build/prefix_growth.hpp"
#include "tev/build/ranked_tokens.hpp"
#include "tev/team/serial_team.hpp"

namespace tev {

/// The most probable token of every depth, one after the other (DFlash's chain mode).
///
/// O(horizon vocab). Throws `argument_error` for a negative budget or horizon.
struct chain {
  template <draft_rows Draft>
  [[nodiscard]] built_tree operator()(Draft const& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    require_sizes("chain", horizon, budget);
    detail::prefix_growth growth;
    for (std::int32_t row = 0; row < std::min(horizon, budget); ++row) {
      draft.prepare(serial_team{}, row);
      growth.offer(row, ranked_tokens(draft, row, 1), 0);
      if (growth.exhausted()) break;
      growth.take();
    }
    return growth.tree();
  }
};

}  // namespace tev
