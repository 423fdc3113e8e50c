// What every tree builder takes and gives.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"

namespace tev {

/// A tree and, for each node, the draft probability of its path.
struct built_tree {
  draft_tree tree;
  std::vector<double> score;  ///< [size]; 1 at the root, never above the parent's.
};

/// The rows that builders take: one thread prepares them, and their masses can be ranked.
///
/// Syntax: a `distribution` with `prepare(serial_team, row)` whose masses are ordered, come from 0
/// and become a double. Not required: integer masses, draws.
template <class D>
concept draft_rows = preparable<D, serial_team> && std::totally_ordered<typename D::mass_type> &&
                     std::constructible_from<typename D::mass_type, int> &&
                     requires(typename D::mass_type const& m) { static_cast<double>(m); };

/// Turns draft rows and a budget into a tree.
///
/// Syntax: `builder(draft, horizon, budget) -> built_tree`, where row d of `draft` is the draft's
/// distribution of the token at depth d + 1, d in [0, horizon). The builder prepares the rows.
/// Semantics:
///   B1. The tree has at most `budget` drafted nodes (the root is not counted) and depth at most
///       `horizon`. Rows that are not `ok` end the tree above them.
///   B2. Deterministic; no node has a score of 0.
template <class B, class Draft>
concept builder = draft_rows<Draft> && requires(B const& b, Draft const& d, std::int32_t n) {
  { b(d, n, n) } -> std::same_as<built_tree>;
};

/// Throws `argument_error` naming the builder unless horizon and budget are at least 0.
inline void require_sizes(char const* builder_name, std::int32_t horizon, std::int32_t budget) {
  require_argument(horizon >= 0, builder_name, "horizon", horizon, ">= 0");
  require_argument(budget >= 0, builder_name, "budget", budget, ">= 0");
}

}  // namespace tev
