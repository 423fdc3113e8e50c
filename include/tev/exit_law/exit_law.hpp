// The exit law of a draft tree: where a continuation of the target leaves it.
#pragma once

#include <cstdint>
#include <vector>

#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/concept.hpp"

namespace tev {

/// Reach, local exit, exit law and coverage of a tree under a target (arXiv 2610.11750, section 3).
///
/// `Number` is any field: double, or a rational for exact work.
template <class Number>
struct exit_law {
  std::vector<Number> reach;       ///< [size] P(v): probability that a continuation passes v.
  std::vector<Number> local_exit;  ///< [size] rho(v): probability to leave at v once there.
  std::vector<Number> exit;        ///< [size] w(v) = P(v) rho(v); sums to 1.
  Number coverage{};               ///< C_p: sum of P over drafted nodes = expected accepted length.
};

/// Computes the exit law from rows that have been prepared. O(size), no vocabulary pass.
///
/// A row whose status is not `ok` lets nothing pass: its local exit is 1. The residual is a sum of
/// what is left, never 1 minus a rounded sum. The tree has to be valid (`validate`).
template <class Number = double, linked_tree Tree, distribution Target>
[[nodiscard]] exit_law<Number> exit_law_of(Tree const& t, Target const& target) {
  auto const size = static_cast<std::size_t>(t.size());
  exit_law<Number> law{std::vector<Number>(size, Number(0)), std::vector<Number>(size, Number(1)),
                       std::vector<Number>(size, Number(0)), Number(0)};
  law.reach[0] = Number(1);
  for (node_id v = 0; v < t.size(); ++v) {
    if (v > 0) law.coverage += law.reach[v];
    if (target.row_status(v) == status::ok) {
      Number const total(target.total(v));
      auto residual = target.total(v);
      for_each_child(t, v, [&](node_id child) {
        auto const mass = target.mass(v, t.token(child));
        residual -= mass;
        law.reach[child] = law.reach[v] * (Number(mass) / total);
      });
      law.local_exit[v] = Number(residual) / total;
    }
    law.exit[v] = law.reach[v] * law.local_exit[v];
  }
  return law;
}

/// Law of the accepted length: entry d is the probability that exactly d drafted tokens are
/// accepted, [largest depth + 1]. O(size).
template <class Number, tree Tree>
[[nodiscard]] std::vector<Number> accepted_length_distribution(Tree const& t,
                                                               exit_law<Number> const& law) {
  std::vector<Number> distribution;
  auto const depth = depths(t);
  for (node_id v = 0; v < t.size(); ++v) {
    if (distribution.size() <= static_cast<std::size_t>(depth[v]))
      distribution.resize(static_cast<std::size_t>(depth[v]) + 1, Number(0));
    distribution[depth[v]] += law.exit[v];
  }
  return distribution;
}

/// Variance of the accepted length; its mean is the coverage. O(size).
template <class Number, tree Tree>
[[nodiscard]] Number accepted_length_variance(Tree const& t, exit_law<Number> const& law) {
  auto const distribution = accepted_length_distribution(t, law);
  Number mean(0);
  for (std::size_t d = 0; d < distribution.size(); ++d)
    mean += distribution[d] * Number(static_cast<std::int32_t>(d));
  Number variance(0);
  for (std::size_t d = 0; d < distribution.size(); ++d) {
    Number const off = Number(static_cast<std::int32_t>(d)) - mean;
    variance += distribution[d] * off * off;
  }
  return variance;
}

}  // namespace tev
