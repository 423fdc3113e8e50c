// What the chain verifiers have in common: both rows of a position in one fixed point.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/core/wide.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/random/concept.hpp"
#include "tev/team/concept.hpp"
#include "tev/team/locate.hpp"
#include "tev/verify/chain.hpp"
#include "tev/verify/concept.hpp"

namespace tev {

/// Target and draft row after a node, as integers: the draft's probabilities times `unit`, the
/// target's times `ratio`, both rounded down. Both rows have to be `ok`.
///
/// `ratio` in [0, unit] is the capped joint ratio of the tokens before; `unit` compares the rows
/// as they are.
template <class Problem>
class chain_shares {
 public:
  TEV_HOST_DEVICE chain_shares(Problem const& p, node_id node, std::uint64_t unit,
                               std::uint64_t ratio)
      : problem_(p),
        node_(node),
        unit_(unit),
        ratio_(ratio),
        target_total_(p.target.total(node)),
        draft_total_(p.draft.total(node)) {}

  [[nodiscard]] TEV_HOST_DEVICE node_id node() const { return node_; }

  /// Share of the ratio that the target gives to a token; in [0, ratio].
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t target(token_id x) const {
    return multiply_divide(ratio_, problem_.target.mass(node_, x), target_total_);
  }

  /// Share of the unit that the draft gives to a token; in [0, unit].
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t draft(token_id x) const {
    return multiply_divide(unit_, problem_.draft.mass(node_, x), draft_total_);
  }

  /// What the target gives a token beyond the draft: its weight in the residual; 0 for tokens
  /// without target mass.
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t surplus(token_id x) const {
    std::uint64_t const t = target(x);
    if (t == 0) return 0;
    std::uint64_t const d = draft(x);
    return t > d ? t - d : 0;
  }

  /// The sum of all tokens' surplus; at most the ratio. One pass over both rows. Collective.
  template <team Team>
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t residual(Team const& team) const {
    std::int32_t const vocab = problem_.target.vocab_size();
    std::uint64_t mine = 0;
    for (token_id x = team.rank(); x < vocab; x += team.size()) mine += surplus(x);
    return team.sum(mine);
  }

  /// The capped joint ratio with one more drafted token, min(unit, ratio target / draft); 0 without
  /// target mass.
  [[nodiscard]] TEV_HOST_DEVICE std::uint64_t next_ratio(token_id x) const {
    if (problem_.target.mass(node_, x) == 0) return 0;
    std::uint64_t const t = target(x), d = draft(x);
    return t < d ? multiply_divide(unit_, t, d) : unit_;
  }

 private:
  Problem const& problem_;
  node_id node_;
  std::uint64_t unit_, ratio_, target_total_, draft_total_;
};

/// Prepares the rows that judge the token after node v < length, and says whether they can: the
/// target row's status, else the draft row's, else `bad_tree` for a token without draft mass.
/// Collective.
template <team Team, class Problem>
[[nodiscard]] TEV_HOST_DEVICE status prepare_judgement(Team const& team, Problem const& p,
                                                       node_id v) {
  p.target.prepare(team, v);
  if (p.target.row_status(v) != status::ok) return p.target.row_status(v);
  p.draft.prepare(team, v);
  if (p.draft.row_status(v) != status::ok) return p.draft.row_status(v);
  return p.draft.mass(v, p.drafted[v]) == 0 ? status::bad_tree : status::ok;
}

/// A test that passes with probability part / whole, of the token of node v >= 1. One uniform, or
/// none where the answer is known; 0 of 0 passes.
template <class Problem, class Source>
[[nodiscard]] TEV_HOST_DEVICE bool passes(Problem const& p, Source const& source, node_id v,
                                          std::uint64_t part, std::uint64_t whole) {
  if (part >= whole) return true;
  return part != 0 && source.below(decision_after(p, v - 1, purpose::sibling), whole) < part;
}

/// Ends a chain at node v with a token of the target's row. One uniform. Collective.
template <team Team, class Problem, class Source>
TEV_HOST_DEVICE outcome exit_with_target(Team const& team, Problem const& p, Source const& source,
                                         node_id v) {
  p.target.prepare(team, v);
  status const state = p.target.row_status(v);
  if (state != status::ok) return {v, no_token, v, state};
  std::uint64_t const r = source.below(decision_after(p, v, purpose::residual), p.target.total(v));
  token_id const token = p.target.draw(team, v, r, no_tokens{});
  return {v, token, v, token == no_token ? status::no_mass : status::ok};
}

/// Ends a chain at a node with a token of the residual, whose sum is `residual`; of the target's
/// row where rounding left no residual. One uniform, one pass over both rows. Collective.
template <team Team, class Problem, class Source>
TEV_HOST_DEVICE outcome exit_with_surplus(Team const& team, Problem const& p, Source const& source,
                                          chain_shares<Problem> const& shares,
                                          std::uint64_t residual) {
  node_id const v = shares.node();
  if (residual == 0) return exit_with_target(team, p, source, v);
  std::uint64_t const r = source.below(decision_after(p, v, purpose::residual), residual);
  auto const weight = [&](token_id x) { return shares.surplus(x); };
  token_id const token = locate(team, 0, p.target.vocab_size(), weight, r).index;
  return {v, token, v, token == no_token ? status::no_mass : status::ok};
}

}  // namespace tev
