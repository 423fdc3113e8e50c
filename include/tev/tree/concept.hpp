// What tev asks of a draft tree.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"

namespace tev {

/// A rooted tree of drafted tokens.
///
/// Syntax: `size()`, `parent(v)`, `token(v)` for v in [0, size()), all cheap and const.
/// Semantics:
///   T1. Node 0 is the root, the last committed token: its parent is -1, its token is never read.
///   T2. parent(v) < v for every other node.
///   T3. Siblings carry distinct tokens.
/// Not required: level order, tokens inside the vocabulary (a foreign token has no mass), storage.
template <class T>
concept tree = requires(T const& t, node_id v) {
  { t.size() } -> std::same_as<std::int32_t>;
  { t.parent(v) } -> std::same_as<node_id>;
  { t.token(v) } -> std::same_as<token_id>;
};

/// A tree that lists the children of a node.
///
/// Syntax: `first_child(v)`, `next_sibling(v)`; -1 where there is none.
/// Semantics:
///   L1. The children of v are first_child(v), then next_sibling of each until -1.
///   L2. Their indices strictly increase and exceed v. A list that breaks this ends there, so that
///       no array of links, however damaged, makes a walk go on for ever.
template <class T>
concept linked_tree = tree<T> && requires(T const& t, node_id v) {
  { t.first_child(v) } -> std::same_as<node_id>;
  { t.next_sibling(v) } -> std::same_as<node_id>;
};

/// Visits the children of `v` in order until `visit(child)` returns true; returns that child or -1.
/// Ends after at most size() visits for any links.
template <linked_tree Tree, class Visit>
TEV_HOST_DEVICE constexpr node_id find_child(Tree const& t, node_id v, Visit&& visit) {
  node_id last = v;
  for (node_id child = t.first_child(v); child > last && child < t.size();
       child = t.next_sibling(child)) {
    if (visit(child)) return child;
    last = child;
  }
  return no_node;
}

/// Calls `visit(child)` for every child of `v`, in order.
template <linked_tree Tree, class Visit>
TEV_HOST_DEVICE constexpr void for_each_child(Tree const& t, node_id v, Visit&& visit) {
  find_child(t, v, [&](node_id child) {
    visit(child);
    return false;
  });
}

}  // namespace tev
