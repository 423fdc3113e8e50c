// The order in which a state that can be advanced and rolled back goes over a tree.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"

namespace tev {

/// Visits nodes depth first, siblings in order: `enter(v)` on the way down, `leave(v)` on the way
/// back.
///
/// `enter` returns whether to go on: when it is false, `v` is not left and nothing below it is
/// entered. Every node is entered at most once and after its parent, and `leave` undoes `enter`
/// exactly, for any links: one that contradicts the parents ends its list. Needs no stack, O(size).
template <linked_tree Tree, class Enter, class Leave>
TEV_HOST_DEVICE constexpr void depth_first(Tree const& t, Enter&& enter, Leave&& leave) {
  auto const child_or_none = [&](node_id parent, node_id last, node_id child) {
    return child > last && child < t.size() && t.parent(child) == parent ? child : no_node;
  };
  if (t.size() == 0) return;
  node_id v = 0;
  while (v != no_node) {
    bool const entered = enter(v);
    node_id next = entered ? child_or_none(v, v, t.first_child(v)) : no_node;
    if (next == no_node && entered) leave(v);
    while (next == no_node && v > 0) {
      node_id const parent = t.parent(v);
      next = child_or_none(parent, v, t.next_sibling(v));
      if (next == no_node) leave(v = parent);
    }
    v = next;
  }
}

}  // namespace tev
