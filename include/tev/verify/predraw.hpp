// Draw the target's token first, then look whether the tree has it.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/random/concept.hpp"
#include "tev/verify/concept.hpp"

namespace tev {

/// The target's token after node `v`, keyed by its position alone; -1 for a row that is not `ok`.
/// Prepares the row. Collective.
template <class Team, class Problem, class Source>
TEV_HOST_DEVICE token_id predrawn_token(Team const& team, Problem const& p, Source const& source,
                                        node_id v, std::int32_t depth) {
  p.target.prepare(team, v);
  if (p.target.row_status(v) != status::ok) return no_token;
  std::uint64_t const r = source.below(decision_after(p, depth, purpose::token), p.target.total(v));
  return p.target.draw(team, v, r, no_tokens{});
}

/// Predraw, the rule of DDTree: sample a token, follow the child that carries it. One uniform and
/// one row per position; rows off the path are never touched.
///
/// The draw at a position is keyed by that position alone, so the text for a seed is the one that
/// plain sampling gives, whatever the tree: a lone root makes this *the* autoregressive sampler.
struct predraw {
  template <team Team, class Problem, uniform_source Source>
    requires drawable<typename Problem::target_type, Team>
  TEV_HOST_DEVICE outcome operator()(Team const& team, Problem const& p,
                                     Source const& source) const {
    node_id v = 0;
    for (std::int32_t depth = 0;; ++depth) {
      token_id const token = predrawn_token(team, p, source, v, depth);
      if (token == no_token) {
        status const state = p.target.row_status(v);
        return {v, no_token, depth, state == status::ok ? status::no_mass : state};
      }
      node_id const child =
          find_child(p.tree, v, [&](node_id c) { return p.tree.token(c) == token; });
      if (child == no_node) return {v, token, depth, status::ok};
      v = child;
    }
  }
};

/// Predraw as a level-parallel backend does it: a token at every node first, then the walk. Same
/// outcome as `predraw` for the same source. All rows are prepared; size uniforms.
struct predraw_eager {
  token_id* drawn = nullptr;      ///< Workspace [size].
  std::int32_t* depth = nullptr;  ///< Workspace [size].

  template <team Team, class Problem, uniform_source Source>
    requires drawable<typename Problem::target_type, Team>
  TEV_HOST_DEVICE outcome operator()(Team const& team, Problem const& p,
                                     Source const& source) const {
    for (node_id v = 0; v < p.tree.size(); ++v) {
      // Parents that stand elsewhere are a damaged tree's: they may not lead out of the workspace.
      node_id const above = p.tree.parent(v);
      std::int32_t const d = 0 <= above && above < v ? depth[above] + 1 : 0;
      token_id const token = predrawn_token(team, p, source, v, d);
      team.barrier();
      if (team.rank() == 0) {
        drawn[v] = token;
        depth[v] = d;
      }
      team.barrier();
    }
    for (node_id v = 0;;) {
      if (drawn[v] == no_token) {
        status const state = p.target.row_status(v);
        return {v, no_token, depth[v], state == status::ok ? status::no_mass : state};
      }
      node_id const child =
          find_child(p.tree, v, [&](node_id c) { return p.tree.token(c) == drawn[v]; });
      if (child == no_node) return {v, drawn[v], depth[v], status::ok};
      v = child;
    }
  }
};

}  // namespace tev
