// Follow the most probable token.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/random/concept.hpp"
#include "tev/verify/concept.hpp"

namespace tev {

/// Accepts the child that carries the lowest token of maximal mass, at any temperature. No
/// uniforms; only the path's rows are prepared. It is exact for temperature 0.
struct greedy {
  template <team Team, class Problem, uniform_source Source>
    requires drawable<typename Problem::target_type, Team>
  TEV_HOST_DEVICE outcome operator()(Team const& team, Problem const& p, Source const&) const {
    node_id v = 0;
    for (std::int32_t depth = 0;; ++depth) {
      p.target.prepare(team, v);
      status const state = p.target.row_status(v);
      if (state != status::ok) return {v, no_token, depth, state};
      token_id const token = p.target.best(team, v);
      node_id const child =
          find_child(p.tree, v, [&](node_id c) { return p.tree.token(c) == token; });
      if (child == no_node) return {v, token, depth, status::ok};
      v = child;
    }
  }
};

}  // namespace tev
