// Hierarchical speculative decoding, in the form that is exact.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/concept.hpp"
#include "tev/team/concept.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/chain.hpp"
#include "tev/verify/concept.hpp"

namespace tev {

/// The hierarchical rule with the capped joint ratio: accept the whole chain with that ratio, else
/// walk back and stop at the first prefix whose test passes.
///
/// Published with joint probabilities of target and draft, P_t and Q_t, and the cap
/// m_t = max(1, max over s <= t of P_s / Q_s); its ratio (P_t / m_t) / Q_t is the c_t of `block`,
/// and its tests and residuals are those of `block` too, so the two are one rule and this calls the
/// other: same outcome for the same source, same cost and bound. With the plain joint ratio in
/// place of the capped one the rule is not exact.
struct hierarchical {
  std::uint64_t unit = default_flow_unit;  ///< At least 1, else `bad_parameter`.

  template <team Team, class Problem, uniform_source Source>
    requires chain_drawable<Problem, Team>
  TEV_HOST_DEVICE outcome operator()(Team const& team, Problem const& p,
                                     Source const& source) const {
    return block{unit}(team, p, source);
  }
};

}  // namespace tev
