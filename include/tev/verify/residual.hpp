// How a walk ends: the bonus token.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/random/concept.hpp"
#include "tev/verify/concept.hpp"

namespace tev {

/// Ends a walk at node `v` with a token from the row without its children's, `residual` being the
/// mass of that. One uniform, one chunk of the row. `no_mass` when nothing is left. Collective.
template <class Team, class Problem, class Source>
TEV_HOST_DEVICE outcome exit_with_residual(Team const& team, Problem const& p, Source const& source,
                                           node_id v, std::int32_t depth, std::uint64_t residual) {
  if (residual == 0) return {v, no_token, depth, status::no_mass};
  std::uint64_t const r = source.below(decision_after(p, depth, purpose::residual), residual);
  child_tokens<typename Problem::tree_type> const children{p.tree, v};
  token_id const token = p.target.draw(team, v, r, children);
  return {v, token, depth, token == no_token ? status::no_mass : status::ok};
}

}  // namespace tev
