// Parents -> first child and next sibling.
#pragma once

#include <span>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"

namespace tev {

/// Fills the child lists of a tree given by its parents, siblings in index order. O(size).
///
/// parents, first_child, next_sibling: [size]. A parent outside [0, v) is left out of every list
/// (`validate` names it). Allocates nothing. Throws `argument_error` when the lengths differ.
inline void link_children(std::span<node_id const> parents, std::span<node_id> first_child,
                          std::span<node_id> next_sibling) {
  if (first_child.size() != parents.size() || next_sibling.size() != parents.size())
    require(false, "link_children: the link arrays need one entry per node");
  // Going down, each node is put in front of the siblings already listed: no scratch is needed.
  for (auto& child : first_child) child = no_node;
  for (auto v = static_cast<node_id>(parents.size()) - 1; v >= 0; --v) {
    next_sibling[v] = no_node;
    node_id const parent = parents[v];
    if (v == 0 || parent < 0 || parent >= v) continue;
    next_sibling[v] = first_child[parent];
    first_child[parent] = v;
  }
}

}  // namespace tev
