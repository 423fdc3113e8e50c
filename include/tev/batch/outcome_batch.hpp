// What a batch decided, and what an engine does next.
#pragma once

#include <cstdint>

#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/commit.hpp"
#include "tev/tree/fault.hpp"
#include "tev/verify/finish.hpp"

namespace tev {

/// Outcomes in caller-owned arrays, each written in full, padding included. Only `state` is
/// required; an array that is null is not wanted.
///
/// A request whose status is `bad_parameter` or `bad_tree` accepts and emits nothing and keeps no
/// cache row: exit node 0, no path. With another status than `ok` the path stands as far as the
/// bad row, and no token follows.
struct outcome_batch {
  /// Entries per request in the arrays [requests, width]: at least 1 + the depth of every tree.
  std::int32_t width = 0;

  status* state = nullptr;                  ///< [requests]
  tree_check* fault = nullptr;              ///< [requests] Why a tree is bad, and where.
  node_id* exit_node = nullptr;             ///< [requests] Deepest accepted node.
  token_id* bonus_token = nullptr;          ///< [requests] What follows it; -1: no token.
  std::int32_t* accepted_length = nullptr;  ///< [requests] Depth of the exit node.
  node_id* path = nullptr;                  ///< [requests, width] Root to exit node, then -1.

  finish* reason = nullptr;               ///< [requests] Why the request is finished.
  std::int32_t* emitted_count = nullptr;  ///< [requests]
  token_id* emitted = nullptr;            ///< [requests, width] Accepted tokens, bonus; then -1.
  std::int64_t* emitted_row = nullptr;    ///< [requests, width] Logits row of each; then -1.

  /// ln of each emitted token's probability, [requests, width]: after bias, bitmask, temperature
  /// and filters; and of the logits as they are, at temperature 1. Then NaN.
  float* log_probability = nullptr;
  float* raw_log_probability = nullptr;  ///< Costs a vocabulary pass per emitted token.

  /// How far the best logit of each emitted token's row stands above the second, bias and bitmask
  /// applied, [requests, width]; small where another kernel's greedy choice may differ. Then NaN.
  float* margin = nullptr;

  /// Path rows that stay in the cache, the root's included [requests], and the moves that make them
  /// contiguous [requests, width], in logical slots of which the root's is its position; then -1.
  std::int32_t* cache_rows = nullptr;
  std::int32_t* move_count = nullptr;
  slot_move* moves = nullptr;
};

}  // namespace tev
