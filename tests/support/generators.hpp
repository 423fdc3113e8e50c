// RapidCheck generators that only produce valid trees, and rows that matter to a verifier.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/instance.hpp"
#include "tev/core/types.hpp"

namespace tev_test {

/// Bounds of a generated instance; all inclusive.
struct instance_bounds {
  std::int32_t nodes = 6;
  std::int32_t vocab = 4;
  std::uint64_t mass = 4;
};

/// The tokens of the children of `v`.
inline std::vector<tev::token_id> tokens_below(instance const& i, tev::node_id v) {
  std::vector<tev::token_id> tokens;
  for (std::size_t u = 1; u < i.parents.size(); ++u)
    if (i.parents[u] == v) tokens.push_back(i.tokens[u]);
  return tokens;
}

/// A tree of [1, bounds.nodes] nodes over [1, bounds.vocab] tokens without rows: parents stand
/// before children and siblings differ by construction, so nothing is ever discarded.
inline rc::Gen<instance> tree_instances(instance_bounds bounds = {}) {
  return rc::gen::exec([bounds] {
    instance i;
    i.vocab = *rc::gen::inRange(1, bounds.vocab + 1);
    auto const size = *rc::gen::inRange(1, bounds.nodes + 1);
    i.parents = {tev::no_node};
    i.tokens = {tev::no_token};
    while (static_cast<std::int32_t>(i.parents.size()) < size) {
      auto const next = static_cast<tev::node_id>(i.parents.size());
      auto parent = *rc::gen::inRange(0, next);
      // A node with a child for every token has no room; the newest node always has.
      while (static_cast<std::int32_t>(tokens_below(i, parent).size()) == i.vocab) ++parent;
      auto const taken = tokens_below(i, parent);
      auto token = *rc::gen::inRange(0, i.vocab);
      while (std::ranges::find(taken, token) != taken.end()) token = (token + 1) % i.vocab;
      i.parents.push_back(parent);
      i.tokens.push_back(token);
    }
    return i;
  });
}

/// What a generated row is like.
enum class row_kind { any, empty, only_children, no_children, equal };

/// A row [vocab] for node `v`: any masses, no mass at all, all of it or none of it on the children,
/// or the same everywhere.
inline rc::Gen<std::vector<std::uint64_t>> rows_for(instance const& tree, tev::node_id v,
                                                    std::uint64_t largest) {
  return rc::gen::exec([tree, v, largest] {
    auto const kind = *rc::gen::weightedElement<row_kind>({{8, row_kind::any},
                                                           {1, row_kind::empty},
                                                           {2, row_kind::only_children},
                                                           {2, row_kind::no_children},
                                                           {1, row_kind::equal}});
    auto const children = tokens_below(tree, v);
    auto row = *rc::gen::container<std::vector<std::uint64_t>>(
        static_cast<std::size_t>(tree.vocab), rc::gen::inRange<std::uint64_t>(0, largest + 1));
    for (tev::token_id x = 0; x < tree.vocab; ++x) {
      bool const is_child = std::ranges::find(children, x) != children.end();
      if (kind == row_kind::empty) row[x] = 0;
      if (kind == row_kind::only_children && !is_child) row[x] = 0;
      if (kind == row_kind::no_children && is_child) row[x] = 0;
      if (kind == row_kind::equal) row[x] = row[0];
    }
    return row;
  });
}

/// A tree with one row per node; the whole range from the first case on, whatever the size.
inline rc::Gen<instance> instances(instance_bounds bounds = {}) {
  auto const generator = rc::gen::exec([bounds] {
    instance i = *tree_instances(bounds);
    for (std::size_t v = 0; v < i.parents.size(); ++v) {
      auto const row = *rows_for(i, static_cast<tev::node_id>(v), bounds.mass);
      i.masses.insert(i.masses.end(), row.begin(), row.end());
    }
    return i;
  });
  return rc::gen::resize(rc::kNominalSize, generator);
}

/// What an instance exercises.
struct instance_traits {
  bool lone_root = false;
  bool branching = false;       ///< Some node has two or more children.
  bool empty_row = false;       ///< Some row has no mass.
  bool massless_child = false;  ///< Some child has no mass in a row that has some.
  bool covered_row = false;     ///< Some row has all its mass on children.
};

/// Looks at an instance.
inline instance_traits traits_of(instance const& i) {
  instance_traits traits{.lone_root = i.parents.size() == 1};
  for (std::size_t v = 0; v < i.parents.size(); ++v) {
    auto const children = tokens_below(i, static_cast<tev::node_id>(v));
    auto const row = i.masses.begin() + static_cast<std::ptrdiff_t>(v * i.vocab);
    std::uint64_t total = 0, covered = 0;
    bool massless = false;
    for (tev::token_id x = 0; x < i.vocab; ++x) total += row[x];
    for (auto const x : children) {
      covered += row[x];
      massless |= row[x] == 0;
    }
    traits.branching |= children.size() > 1;
    traits.empty_row |= total == 0;
    traits.massless_child |= massless && total > 0;
    traits.covered_row |= total > 0 && covered == total;
  }
  return traits;
}

/// Adds the traits to RapidCheck's report of the distribution. Call inside a property.
inline void classify(instance const& i) {
  auto const traits = traits_of(i);
  RC_CLASSIFY(traits.lone_root, "lone root");
  RC_CLASSIFY(traits.branching, "branching");
  RC_CLASSIFY(traits.empty_row, "row without mass");
  RC_CLASSIFY(traits.massless_child, "child without mass");
  RC_CLASSIFY(traits.covered_row, "row covered by its children");
}

}  // namespace tev_test
