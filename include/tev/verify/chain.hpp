// What verifiers of a chain take, whose drafted tokens were drawn from a known distribution.
#pragma once

#include <concepts>
#include <cstdint>

#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/random/concept.hpp"
#include "tev/team/concept.hpp"
#include "tev/verify/concept.hpp"

namespace tev {

/// One request's drafted tokens, the rows they were drawn from, and the target's rows.
///
/// Node v is the v-th drafted token, node 0 the last committed one. `target` has rows [length + 1],
/// row v after node v; `draft` has rows [length], row v the law from which node v + 1 was drawn,
/// given the tokens before it. A draft row has to sum to its total.
template <distribution Target, distribution Draft = Target>
struct chain_problem {
  using target_type = Target;
  using draft_type = Draft;

  token_id const* drafted = nullptr;  ///< [length]
  std::int32_t length = 0;            ///< Drafted tokens; below 0 counts as 0.
  Target target;
  Draft draft;
  std::uint64_t request = 0;   ///< Names the request in every decision; any number.
  std::uint32_t position = 0;  ///< Sequence position of the last committed token.
};

/// A chain problem whose rows a team can prepare and draw from.
template <class Problem, class Team>
concept chain_drawable =
    team<Team> && drawable<typename Problem::target_type, Team> &&
    drawable<typename Problem::draft_type, Team> && requires(Problem const& p) {
      { p.drafted } -> std::convertible_to<token_id const*>;
      { p.length } -> std::convertible_to<std::int32_t>;
    };

/// An exact verifier of chains: (accepted tokens, bonus token) begins a text of the target.
///
/// Syntax: `verifier(team, problem, source) -> outcome`, const and collective. The exit node is the
/// number of accepted tokens.
/// Semantics:
///   C1. When the drafted tokens follow the draft's law and the uniforms are independent of them,
///       the accepted tokens and the bonus token, extended by target samples, are a target text.
///       For one given chain nothing is promised: unlike the verifiers of trees these are not
///       saturated, and accept less or more than the exit law of the chain that was drawn.
///   C2. The outcome depends on seed, request, position, rows and drafted tokens alone.
///   C3. No token of zero target mass is accepted or emitted, whatever the source returns.
///   C4. At most length + 1 nodes are visited, for any tokens and any masses.
///   C5. A row that is not `ok` ends the chain there: when all tokens before it are accepted, the
///       outcome is these, that status and no bonus token. A drafted token of draft mass 0, which
///       no draft law gives, ends the chain before it in the same way with `bad_tree`.
///   C6. A token that is as probable in the target as in the draft, given that all tokens before it
///       are, is accepted without a test.
template <class V, class Team, class Problem, class Source>
concept chain_verifier = chain_drawable<Problem, Team> && uniform_source<Source> &&
                         requires(V const& v, Team const& t, Problem const& p, Source const& s) {
                           { v(t, p, s) } -> std::same_as<outcome>;
                         };

}  // namespace tev
