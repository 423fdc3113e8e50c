// TEV: sample the exit law itself.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/concept.hpp"
#include "tev/verify/concept.hpp"
#include "tev/verify/residual.hpp"

namespace tev {

/// Tree-exit verification (arXiv 2610.11750, Algorithm 1): one number names the exit node, another
/// the bonus token. Two uniforms.
///
/// The number in [0, unit) descends through the flow intervals, so that only the rows on the path
/// are prepared. The law is exact where `unit` is a multiple of the product of the totals on every
/// path; otherwise the exit node is off by a total variation of at most size / unit.
struct tree_exit {
  std::uint64_t unit = default_flow_unit;  ///< At least 1, else `bad_parameter`.

  template <team Team, class Problem, uniform_source Source>
    requires drawable<typename Problem::target_type, Team>
  TEV_HOST_DEVICE outcome operator()(Team const& team, Problem const& p,
                                     Source const& source) const {
    if (unit == 0) return {0, no_token, 0, status::bad_parameter};
    // Both numbers are relative to the interval of node v.
    std::uint64_t r = source.below(decision{p.request, p.position, purpose::exit, 0}, unit);
    std::uint64_t flow = unit;
    node_id v = 0;
    for (std::int32_t depth = 0;; ++depth) {
      p.target.prepare(team, v);
      status const state = p.target.row_status(v);
      if (state != status::ok) return {v, no_token, depth, state};

      std::uint64_t const total = p.target.total(v);
      std::uint64_t running = 0, begin = 0, end = 0;
      bool overfull = false;
      node_id const child = find_child(p.tree, v, [&](node_id c) {
        std::uint64_t const mass = p.target.mass(v, p.tree.token(c));
        overfull = mass > total - running;
        if (overfull) return true;
        begin = end;
        running += mass;
        end = flow_share(flow, running, total);
        return r < end;
      });
      if (overfull) return {v, no_token, depth, status::bad_tree};
      if (child == no_node) return exit_with_residual(team, p, source, v, depth, total - running);
      r -= begin;
      flow = end - begin;
      v = child;
    }
  }
};

}  // namespace tev
