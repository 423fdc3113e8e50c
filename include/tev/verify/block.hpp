// Judge the prefixes of a chain as wholes, the longest first.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/concept.hpp"
#include "tev/team/concept.hpp"
#include "tev/verify/chain.hpp"
#include "tev/verify/chain_shares.hpp"
#include "tev/verify/concept.hpp"

namespace tev {

/// Block verification (Sun et al., arXiv 2403.10444, Algorithm 2): accept the longest prefix whose
/// own test passes. In expectation it never accepts fewer tokens than `speculative_sampling`.
///
/// With the capped joint ratio c_0 = 1, c_i = min(1, c_(i-1) target / draft) and the residual
/// s_i = sum over tokens of max(0, c_i target - draft), the prefix of i tokens passes with
/// probability s_i / (s_i + 1 - c_i), the whole chain with c_length; the bonus token has the law of
/// the residual, after the whole chain that of the target's row. The tests are independent, so they
/// are made from the longest prefix backwards, and shorter ones are not looked at.
///
/// At most one uniform per drafted token, none for a test whose answer is known, and one for the
/// bonus token. Rows are prepared up to the first token that the target forbids; the whole chain
/// is judged from its tokens' masses, each shorter prefix tried costs one pass over a pair of rows,
/// and the bonus token one. No scratch: ratios are computed again, O(length^2) divisions at worst.
/// Exact where all shares are whole numbers of the unit; otherwise the text is off by a total
/// variation of at most length (length + 3) vocab / unit.
struct block {
  std::uint64_t unit = default_flow_unit;  ///< At least 1, else `bad_parameter`.

  template <team Team, class Problem, uniform_source Source>
    requires chain_drawable<Problem, Team>
  TEV_HOST_DEVICE outcome operator()(Team const& team, Problem const& p,
                                     Source const& source) const {
    if (unit == 0) return {0, no_token, 0, status::bad_parameter};
    status state = status::ok;
    std::uint64_t ratio = unit;
    bool forbidden = false;
    node_id v = 0;
    while (v < p.length) {
      state = prepare_judgement(team, p, v);
      if (state != status::ok) break;
      std::uint64_t const next = chain_shares<Problem>(p, v, unit, ratio).next_ratio(p.drafted[v]);
      forbidden = next == 0;
      if (forbidden) break;
      ratio = next;
      ++v;
    }
    if (!forbidden) {
      if (v == 0 || passes(p, source, v, ratio, unit))
        return state == status::ok ? exit_with_target(team, p, source, v)
                                   : outcome{v, no_token, v, state};
      ratio = ratio_before(p, --v);
    }
    for (;; ratio = ratio_before(p, --v)) {
      chain_shares<Problem> const shares(p, v, unit, ratio);
      std::uint64_t const residual = shares.residual(team);
      if (v == 0 || passes(p, source, v, residual, residual + (unit - ratio)))
        return exit_with_surplus(team, p, source, shares, residual);
    }
  }

 private:
  // The capped joint ratio of the first `count` tokens, whose rows are prepared.
  template <class Problem>
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t ratio_before(Problem const& p, node_id count) const {
    std::uint64_t ratio = unit;
    for (node_id v = 0; v < count; ++v)
      ratio = chain_shares<Problem>(p, v, unit, ratio).next_ratio(p.drafted[v]);
    return ratio;
  }
};

}  // namespace tev
