// How a builder asks a drafter for rows that depend on the path, one level at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tev/build/concept.hpp"
#include "tev/core/types.hpp"

namespace tev {

/// The nodes of one level that a builder is about to expand, best first.
struct frontier {
  std::int32_t depth = 0;  ///< Depth of these nodes; 0 is the root's level.
  /// [size] Place of each parent in the frontier before; the root's is -1.
  std::span<std::int32_t const> parents;
  std::span<token_id const> tokens;  ///< [size] The token of each node; the root's is -1.
  std::span<std::int32_t> row;       ///< [size] The drafter's row of each node: 0, 1, 2, ...

  /// Number of nodes, at least 1.
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(tokens.size()); }
};

/// A drafter that runs level by level: an autoregressive one, or one whose rows depend on the
/// branch.
///
/// Syntax: `drafter(level) -> draft rows`, by value or by reference, where `level` is a `frontier`.
/// It may have state and need not be const.
/// Semantics:
///   V1. Row level.row[i] of what it returns is the draft's distribution of the token after node i.
///       `row` comes as 0, 1, 2, ...; a drafter that keeps its rows elsewhere, or lets nodes share
///       one, writes other numbers into it.
///   V2. The rows stay readable until the next call. The builder prepares them.
///   V3. Calls come with depth 0, 1, 2, ...; every parent is in the frontier of the call before.
///   V4. The same calls get the same rows; otherwise the tree is not deterministic.
/// Not required: rows that are normalised or `ok` (a node whose row is not stays a leaf).
template <class D>
concept level_drafter = requires(D& drafter, frontier const& level) {
  requires draft_rows<std::remove_cvref_t<decltype(drafter(level))>>;
};

/// The level drafter of one-shot marginals: row d of `draft` for every node of depth d.
template <draft_rows Draft>
struct marginal_drafter {
  Draft const& draft;

  Draft const& operator()(frontier const& level) const {
    std::ranges::fill(level.row, level.depth);
    return draft;
  }
};

/// What level builders take: a `level_drafter`, or draft rows, which make a `marginal_drafter`.
template <class D>
concept drafts_levels =
    draft_rows<std::remove_cvref_t<D>> || level_drafter<std::remove_reference_t<D>>;

/// Calls `use(drafter)` with the level drafter that `draft` is or makes.
template <drafts_levels Draft, class Use>
decltype(auto) with_level_drafter(Draft& draft, Use&& use) {
  if constexpr (draft_rows<std::remove_cvref_t<Draft>>) {
    marginal_drafter<std::remove_cvref_t<Draft>> drafter{draft};
    return use(drafter);
  } else {
    return use(draft);
  }
}

}  // namespace tev
