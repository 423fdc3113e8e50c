// Test the children one after the other.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/random/concept.hpp"
#include "tev/verify/concept.hpp"
#include "tev/verify/residual.hpp"

namespace tev {

/// The rule of EAGLE: accept a child with its share of the mass that is left, take a rejected
/// child's mass away, and draw from what remains when no child is left. One uniform per child
/// tested and one for the bonus token; only the path's rows are prepared.
struct sequential_residual {
  template <team Team, class Problem, uniform_source Source>
    requires drawable<typename Problem::target_type, Team>
  TEV_HOST_DEVICE outcome operator()(Team const& team, Problem const& p,
                                     Source const& source) const {
    node_id v = 0;
    for (std::int32_t depth = 0;; ++depth) {
      p.target.prepare(team, v);
      status const state = p.target.row_status(v);
      if (state != status::ok) return {v, no_token, depth, state};

      std::uint64_t remaining = p.target.total(v);
      std::uint32_t tested = 0;
      bool overfull = false;
      node_id const child = find_child(p.tree, v, [&](node_id c) {
        std::uint64_t const mass = p.target.mass(v, p.tree.token(c));
        overfull = mass > remaining;
        if (overfull) return true;
        decision const test = decision_after(p, depth, purpose::sibling, tested++);
        if (mass != 0 && source.below(test, remaining) < mass) return true;
        remaining -= mass;
        return false;
      });
      if (overfull) return {v, no_token, depth, status::bad_tree};
      if (child == no_node) return exit_with_residual(team, p, source, v, depth, remaining);
      v = child;
    }
  }
};

}  // namespace tev
