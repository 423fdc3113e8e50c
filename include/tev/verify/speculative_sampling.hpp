// Accept each drafted token by the ratio of its two probabilities.
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

/// Speculative sampling (Leviathan et al., arXiv 2211.17192, Algorithm 1; Chen et al.,
/// 2302.01318): accept a token with probability min(1, target / draft), else draw from what the
/// target gives beyond the draft.
///
/// At most one uniform per drafted token tested, none where the target gives it at least what the
/// draft does, and one for the bonus token. Only the rows of accepted tokens and the next are
/// prepared; a rejection costs two passes over one pair of rows. Exact where every probability
/// times `unit` is whole; otherwise the text is off by a total variation of at most
/// 2 length vocab / unit.
struct speculative_sampling {
  std::uint64_t unit = default_flow_unit;  ///< At least 1, else `bad_parameter`.

  template <team Team, class Problem, uniform_source Source>
    requires chain_drawable<Problem, Team>
  TEV_HOST_DEVICE outcome operator()(Team const& team, Problem const& p,
                                     Source const& source) const {
    if (unit == 0) return {0, no_token, 0, status::bad_parameter};
    node_id v = 0;
    for (; v < p.length; ++v) {
      status const state = prepare_judgement(team, p, v);
      if (state != status::ok) return {v, no_token, v, state};
      token_id const token = p.drafted[v];
      chain_shares<Problem> const shares(p, v, unit, unit);
      bool const accepted = p.target.mass(v, token) != 0 &&
                            passes(p, source, v + 1, shares.target(token), shares.draft(token));
      if (!accepted) return exit_with_surplus(team, p, source, shares, shares.residual(team));
    }
    return exit_with_target(team, p, source, v);
  }
};

}  // namespace tev
