// What tev asks of the rows of next-token probabilities at the nodes of a tree.
#pragma once

#include <concepts>
#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/team/concept.hpp"
#include "tev/tree/concept.hpp"

namespace tev {

/// A family of rows of token masses, one per node.
///
/// Syntax: `mass_type`, `vocab_size()`, `total(v)`, `mass(v, x)`, `row_status(v)`, all const.
/// Semantics:
///   D1. The probability of token x after node v is mass(v, x) / total(v).
///   D2. A token outside [0, vocab_size()) has mass 0; vocab_size() is below 2^24.
///   D3. A row whose status is not `ok` has total 0 and every mass 0.
///   D4. These are plain reads, by any thread, of rows that have been prepared.
/// Not required: rows that are normalised, integer masses (rationals serve for the exit law).
template <class D>
concept distribution = requires(D const& d, node_id v, token_id x) {
  typename D::mass_type;
  { d.vocab_size() } -> std::same_as<std::int32_t>;
  { d.total(v) } -> std::same_as<typename D::mass_type>;
  { d.mass(v, x) } -> std::same_as<typename D::mass_type>;
  { d.row_status(v) } -> std::same_as<status>;
};

/// The empty set of tokens, for draws that leave nothing out.
struct no_tokens {
  template <class Visit>
  TEV_HOST_DEVICE constexpr void for_each(Visit&&) const {}
};

/// The tokens of the children of a node: what a residual leaves out.
template <linked_tree Tree>
struct child_tokens {
  Tree const& tree;
  node_id node;

  template <class Visit>
  TEV_HOST_DEVICE constexpr void for_each(Visit&& visit) const {
    for_each_child(tree, node, [&](node_id child) { visit(tree.token(child)); });
  }
};

/// Whether a set of tokens contains `x`. O(set).
template <class Tokens>
[[nodiscard]] TEV_HOST_DEVICE constexpr bool contains(Tokens const& tokens, token_id x) {
  bool found = false;
  tokens.for_each([&](token_id y) { found |= x == y; });
  return found;
}

/// A distribution whose rows a team prepares.
///
/// Syntax: `prepare(team, v)`, const and collective.
/// Semantics:
///   W1. prepare fills the summaries that the caller provided for row v; doing it again is free.
///       Nothing else may be asked of a row before.
template <class D, class Team>
concept preparable = distribution<D> && team<Team> &&
                     requires(D const& d, Team const& t, node_id v) { d.prepare(t, v); };

namespace detail {

// Some set of tokens: what `draw` is asked to leave out need not be one it knows.
struct any_tokens {
  template <class Visit>
  TEV_HOST_DEVICE constexpr void for_each(Visit&& visit) const {
    visit(no_token);
  }
};

}  // namespace detail

/// A distribution with integer masses from which a team can draw.
///
/// Syntax: `draw(team, v, r, skip)`, `best(team, v)`, const and collective; `skip` is any set of
/// tokens with `for_each(visit)`.
/// Semantics:
///   W2. draw = the least token whose running mass, leaving out the tokens of `skip`, passes r; -1
///       when that mass is r or less. Never a token of mass 0.
///   W3. best = the most probable token, the lowest on ties; -1 for a row whose status is not `ok`.
///       It has the maximal mass; a row that knows its logits may tell apart what masses round
///       together.
template <class D, class Team>
concept drawable = preparable<D, Team> && std::same_as<typename D::mass_type, std::uint64_t> &&
                   requires(D const& d, Team const& t, node_id v, std::uint64_t r) {
                     { d.draw(t, v, r, no_tokens{}) } -> std::same_as<token_id>;
                     { d.draw(t, v, r, detail::any_tokens{}) } -> std::same_as<token_id>;
                     { d.best(t, v) } -> std::same_as<token_id>;
                   };

/// Prepares rows [0, count): what a batch, the exit law and a picture need, while verifiers prepare
/// the rows they reach. Collective.
template <class Team, class Distribution>
  requires preparable<Distribution, Team>
TEV_HOST_DEVICE void prepare_all(Team const& team, Distribution const& rows, std::int32_t count) {
  for (node_id v = 0; v < count; ++v) rows.prepare(team, v);
}

}  // namespace tev
