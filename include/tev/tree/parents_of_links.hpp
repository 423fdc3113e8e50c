// First child and next sibling -> parents.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "tev/core/types.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/validate.hpp"

namespace tev {

/// Visits the children of `v` in the order of the list, whatever order that is.
///
/// first_child, next_sibling: [size]. Ends after at most size visits, and at the first entry
/// outside [0, size). `for_each_child` asks for ascending lists, this doesn't.
template <std::integral Id, class Visit>
void for_each_linked(std::span<Id const> first_child, std::span<Id const> next_sibling, node_id v,
                     Visit&& visit) {
  auto const size = static_cast<std::int64_t>(next_sibling.size());
  std::int64_t child = first_child[v];
  for (std::int64_t visits = 0; visits < size && child >= 0 && child < size; ++visits) {
    visit(static_cast<node_id>(child));
    child = next_sibling[child];
  }
}

namespace detail {

inline constexpr node_id unset_parent = -2;

// Hangs the list that begins with `child` below `v`. Every node is hung once, so that all lists
// together take at most size steps.
template <std::integral Id>
tree_check hang_children(std::span<Id const> next_sibling, node_id v, Id child,
                         std::span<node_id> parents) {
  auto const size = static_cast<Id>(parents.size());
  for (node_id holder = v; child != Id{no_node}; child = next_sibling[child]) {
    if (child < 0 || child >= size) return {tree_fault::node_range, holder};
    holder = static_cast<node_id>(child);
    if (holder == 0) return {tree_fault::bad_root, 0};
    if (parents[holder] != unset_parent) return {tree_fault::two_parents, holder};
    parents[holder] = v;
  }
  return {};
}

template <std::integral Id>
tree_check parents_of_links(std::span<Id const> first_child, std::span<Id const> next_sibling,
                            std::span<node_id> parents) {
  if (first_child.size() != parents.size() || next_sibling.size() != parents.size())
    return {tree_fault::size_mismatch, no_node};
  if (parents.empty()) return {tree_fault::empty, no_node};
  if (next_sibling[0] != Id{no_node}) return {tree_fault::bad_root, 0};
  for (auto& parent : parents) parent = unset_parent;
  parents[0] = no_node;
  auto const size = static_cast<node_id>(parents.size());
  for (node_id v = 0; v < size; ++v)
    if (auto const found = hang_children(next_sibling, v, first_child[v], parents); !found.ok())
      return found;
  for (node_id v = 1; v < size; ++v)
    if (parents[v] == unset_parent) return {tree_fault::unreached, v};
  return check_parents(parents);
}

}  // namespace detail

/// Fills the parents of a tree given by its child lists, and says whether the lists are those of a
/// tree: every node but the root is reached exactly once, from a node before it.
///
/// first_child, next_sibling, parents: [size]; -1 ends a list. Siblings may be listed in any order.
/// Faults: size_mismatch, empty, bad_root (the root in a list, or with a sibling), node_range,
/// two_parents, unreached, parent_order, cycle. After a fault the parents hold what was found so
/// far. Reads nothing outside the arrays, allocates nothing, O(size) (O(size^2) to tell a cycle
/// from a wrong order).
[[nodiscard]] inline tree_check parents_of_links(std::span<std::int32_t const> first_child,
                                                 std::span<std::int32_t const> next_sibling,
                                                 std::span<node_id> parents) {
  return detail::parents_of_links(first_child, next_sibling, parents);
}

/// The same for lists of 64-bit ids, as PyTorch keeps them.
[[nodiscard]] inline tree_check parents_of_links(std::span<std::int64_t const> first_child,
                                                 std::span<std::int64_t const> next_sibling,
                                                 std::span<node_id> parents) {
  return detail::parents_of_links(first_child, next_sibling, parents);
}

}  // namespace tev
