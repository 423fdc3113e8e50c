// What every verifier takes and gives.
#pragma once

#include <concepts>
#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/random/concept.hpp"
#include "tev/team/concept.hpp"
#include "tev/tree/concept.hpp"

namespace tev {

/// One request's tree and target rows: row v is the target's next-token row after node v.
template <linked_tree Tree, distribution Target>
struct problem {
  using tree_type = Tree;
  using target_type = Target;

  Tree tree;
  Target target;
  std::uint64_t request = 0;   ///< Names the request in every decision; any number.
  std::uint32_t position = 0;  ///< Sequence position of the root.
};

/// What a verifier decided. With a status other than `ok` there is no bonus token; the path to the
/// exit node stands.
struct outcome {
  node_id exit_node = 0;             ///< Deepest accepted node; 0 when nothing was accepted.
  token_id bonus_token = no_token;   ///< Drawn from the residual of the exit node's row.
  std::int32_t accepted_length = 0;  ///< Depth of the exit node.
  status state = status::ok;

  friend bool operator==(outcome const&, outcome const&) = default;
};

/// An exact verifier: (accepted path, bonus token) follows the target's own law.
///
/// Syntax: `verifier(team, problem, source) -> outcome`, const and collective.
/// Semantics:
///   V1. For a valid tree the law of (exit node, bonus token) under independent uniforms is that of
///       a target continuation: the exit law, and the residual of the exit node. A verifier that
///       holds to this at temperature 0 alone says so.
///   V2. The outcome depends on seed, request, position, rows and tree alone.
///   V3. No token of zero mass is accepted or emitted, whatever the source returns.
///   V4. At most size() nodes are visited, for any links and any masses.
///   V5. A row that is not `ok` ends the walk there, with that status and no bonus token.
/// Not required: a valid tree for V2 to V5.
template <class V, class Team, class Problem, class Source>
concept verifier =
    team<Team> && uniform_source<Source> && drawable<typename Problem::target_type, Team> &&
    requires(V const& v, Team const& t, Problem const& p, Source const& s) {
      { v(t, p, s) } -> std::same_as<outcome>;
    };

/// The decision of a token that follows a node `depth` levels below the root.
template <class Problem>
[[nodiscard]] TEV_HOST_DEVICE decision decision_after(Problem const& p, std::int32_t depth,
                                                      purpose what, std::uint32_t index = 0) {
  return {p.request, p.position + static_cast<std::uint32_t>(depth) + 1, what, index};
}

}  // namespace tev
