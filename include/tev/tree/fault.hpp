// What can be wrong with the arrays of a tree.
#pragma once

#include <cstdint>

#include "tev/core/types.hpp"

namespace tev {

/// What a check of a tree's arrays can find.
///
/// `validate` looks in this order, save that faults of the same kind of check (second_root and
/// parent_range; cycle and parent_order) are met in the order of the nodes. The last three come
/// from encodings that have to be walked before there are parents at all.
enum class tree_fault : std::int32_t {
  none,               ///< The arrays form a tree.
  size_mismatch,      ///< Two arrays differ in length.
  empty,              ///< There is no root.
  bad_root,           ///< The root has a parent or a sibling.
  second_root,        ///< A later node has no parent, or stands where the root has to.
  parent_range,       ///< A parent outside [0, size).
  cycle,              ///< Following the parents never reaches the root.
  parent_order,       ///< A parent behind its child.
  over_budget,        ///< More drafted nodes than allowed.
  token_range,        ///< A token outside [0, vocab_size).
  duplicate_sibling,  ///< Two children of one node carry the same token.
  link_mismatch,      ///< The child lists contradict the parents.
  node_range,         ///< This node names a node outside [0, size).
  two_parents,        ///< A node is reached in two ways.
  unreached,          ///< A node is never reached.
};

/// The fault as a word, for messages and for JSON.
[[nodiscard]] constexpr char const* name(tree_fault f) {
  constexpr char const* names[] = {"ok",          "size_mismatch",     "empty",
                                   "bad_root",    "second_root",       "parent_range",
                                   "cycle",       "parent_order",      "over_budget",
                                   "token_range", "duplicate_sibling", "link_mismatch",
                                   "node_range",  "two_parents",       "unreached"};
  return names[static_cast<std::int32_t>(f)];
}

/// The first fault and the node that shows it (-1 where no single node does).
struct tree_check {
  tree_fault fault = tree_fault::none;
  node_id node = no_node;

  [[nodiscard]] constexpr bool ok() const { return fault == tree_fault::none; }
  friend bool operator==(tree_check const&, tree_check const&) = default;
};

}  // namespace tev
