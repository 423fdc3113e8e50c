// Laws of (exit node, bonus token), as fractions: what they should be, and what a verifier does.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "support/enumerating_source.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/concept.hpp"
#include "tev/verify/concept.hpp"

namespace tev_test {

/// Probability of each (exit node, bonus token); pairs of probability 0 are absent.
using outcome_law = std::map<std::pair<tev::node_id, tev::token_id>, rational>;

/// The law that the exit law and the residuals promise, for rows that have been prepared.
template <class Problem>
[[nodiscard]] outcome_law expected_law(Problem const& p) {
  auto const exits = tev::exit_law_of<rational>(p.tree, p.target);
  outcome_law law;
  for (tev::node_id v = 0; v < p.tree.size(); ++v) {
    if (exits.exit[v] == 0) continue;
    if (p.target.row_status(v) != tev::status::ok) {
      law[{v, tev::no_token}] = exits.exit[v];
      continue;
    }
    tev::child_tokens<decltype(p.tree)> const children{p.tree, v};
    std::vector<std::pair<tev::token_id, rational>> residual;
    rational sum = 0;
    for (tev::token_id x = 0; x < p.target.vocab_size(); ++x) {
      if (p.target.mass(v, x) == 0 || tev::contains(children, x)) continue;
      residual.emplace_back(x, p.target.mass(v, x));
      sum += residual.back().second;
    }
    for (auto const& [token, mass] : residual) law[{v, token}] = exits.exit[v] * mass / sum;
  }
  return law;
}

/// The same law from its definition: follow target continuations until they leave the tree.
template <class Problem>
void add_continuations(Problem const& p, tev::node_id v, rational const& reach, outcome_law& law) {
  if (p.target.row_status(v) != tev::status::ok) {
    law[{v, tev::no_token}] += reach;
    return;
  }
  for (tev::token_id x = 0; x < p.target.vocab_size(); ++x) {
    if (p.target.mass(v, x) == 0) continue;
    rational const passed = reach * rational(p.target.mass(v, x)) / rational(p.target.total(v));
    tev::node_id next = tev::no_node;
    for (tev::node_id u = 1; u < p.tree.size(); ++u)
      if (p.tree.parent(u) == v && p.tree.token(u) == x) next = u;
    if (next == tev::no_node)
      law[{v, x}] += passed;
    else
      add_continuations(p, next, passed, law);
  }
}

/// The law of a verifier, over every value of every number it asks for; none when it takes more
/// than `limit` outcomes. `count` grows by the outcomes seen.
template <class Verifier, class Problem>
[[nodiscard]] std::optional<outcome_law> enumerated_law(Verifier const& verifier, Problem const& p,
                                                        std::size_t limit, std::size_t& count) {
  outcome_law law;
  enumerating_source source;
  std::size_t outcomes = 0;
  do {
    if (++outcomes > limit) return std::nullopt;
    tev::outcome const o = verifier(tev::serial_team{}, p, source);
    law[{o.exit_node, o.bonus_token}] += source.weight();
  } while (source.next());
  count += outcomes;
  return law;
}

}  // namespace tev_test
