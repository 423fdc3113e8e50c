// EAGLE-2: expand a narrow frontier level by level, then keep the best of all that was seen.
#pragma once

#include <cstdint>

#include "tev/build/concept.hpp"
#include "tev/build/level_drafter.hpp"
#include "tev/build/level_expansion.hpp"
#include "tev/core/error.hpp"

namespace tev {

/// The best prefixes among those next to a frontier of `top_k` nodes a level (EAGLE-2,
/// arXiv 2406.16858): the `top_k` best children of each frontier node are candidates, the `top_k`
/// best candidates of a level are the next frontier, and the `budget` best candidates of all levels
/// the tree. Scores and ties are `best_first`'s, whose tree this is when `top_k` is at least the
/// vocabulary or the budget; a smaller frontier costs a drafter less.
///
/// Takes draft rows (row d for every node of depth d) or a `level_drafter`, which is called up to
/// `horizon` times with at most min(top_k, budget) nodes. One vocabulary pass for each distinct row
/// and O(horizon (budget + top_k) log top_k). Throws `argument_error` for a negative budget or
/// horizon and for a `top_k` below 1.
struct expand_rerank {
  std::int32_t top_k = 10;

  template <drafts_levels Draft>
  [[nodiscard]] built_tree operator()(Draft&& draft, std::int32_t horizon,
                                      std::int32_t budget) const {
    require_sizes("expand_rerank", horizon, budget);
    require_argument(top_k >= 1, "expand_rerank", "top_k", top_k, ">= 1");
    return with_level_drafter(draft, [&](auto& drafter) {
      detail::level_expansion expansion(top_k, budget);
      for (std::int32_t level = 0; budget > 0 && level < horizon && !expansion.ended(); ++level)
        expansion.grow(drafter);
      return expansion.tree();
    });
  }
};

}  // namespace tev
