// The draft trees of a batch, in flat arrays.
#pragma once

#include <cstdint>
#include <limits>

#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"

namespace tev {

/// Draft trees of any sizes, one per request, in caller-owned arrays: request b has the entries
/// [node_offset[b], node_offset[b + 1]) of the node arrays, and node ids that count from 0 there.
///
/// A span may be longer than its tree (padding): then `node_count` says how many nodes are real,
/// and the rest is never read. An empty request is a `bad_tree`.
struct tree_batch {
  std::int32_t requests = 0;
  std::int32_t const* node_offset = nullptr;  ///< [requests + 1], from 0 or more, not descending.
  std::int32_t const* node_count = nullptr;   ///< [requests]; null: the whole span.
  node_id const* parents = nullptr;           ///< [node_offset[requests]]; -1 at a root.
  token_id const* tokens = nullptr;           ///< [node_offset[requests]]; a root's is ignored.

  /// Child lists [node_offset[requests]]; null: they are computed from the parents.
  node_id const* first_child = nullptr;
  node_id const* next_sibling = nullptr;

  /// First logits row of each request [requests]; null: row i belongs to entry i of the arrays.
  std::int64_t const* row_offset = nullptr;

  /// Most drafted nodes of a request; more are a `bad_tree`.
  std::int32_t budget = std::numeric_limits<std::int32_t>::max();

  /// Whether the caller vouches for the trees. Then they are not checked again; a damaged tree
  /// still ends with a status or an outcome, and never leads outside the arrays.
  bool trusted = false;

  /// Nodes of request b, the root included.
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t size(std::int32_t b) const {
    return node_count != nullptr ? node_count[b] : node_offset[b + 1] - node_offset[b];
  }

  /// Logits row of request b's root.
  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int64_t first_row(std::int32_t b) const {
    return row_offset != nullptr ? row_offset[b] : node_offset[b];
  }
};

}  // namespace tev
