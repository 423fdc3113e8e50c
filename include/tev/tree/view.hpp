// A draft tree in somebody else's arrays.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"

namespace tev {

/// A non-owning linked tree over four arrays of `count` entries each; trivially copyable, so it can
/// be handed to a kernel. `draft_tree` owns such arrays, `link_children` fills the last two.
struct tree_view {
  std::int32_t count = 0;             ///< Number of nodes, the root included.
  node_id const* parents = nullptr;   ///< [count]; the root's is -1.
  token_id const* tokens = nullptr;   ///< [count]; the root's is ignored.
  node_id const* children = nullptr;  ///< [count] first child, -1 at a leaf.
  node_id const* siblings = nullptr;  ///< [count] next sibling, -1 at the last one.

  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t size() const { return count; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id parent(node_id v) const { return parents[v]; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr token_id token(node_id v) const { return tokens[v]; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id first_child(node_id v) const {
    return children[v];
  }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id next_sibling(node_id v) const {
    return siblings[v];
  }
};

static_assert(linked_tree<tree_view>);

}  // namespace tev
