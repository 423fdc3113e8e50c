// Everything a batch of requests brings, and what has to hold before any of it is looked at.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tev/batch/outcome_batch.hpp"
#include "tev/batch/parameter_batch.hpp"
#include "tev/batch/tree_batch.hpp"
#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/logit_rows.hpp"
#include "tev/distribution/softmax_storage.hpp"

namespace tev {

/// Trees, logits and parameters of a batch: views of memory that is only read.
template <logit Logit>
struct batch_input {
  tree_batch trees{};
  logit_rows<Logit> logits{};  ///< Rows of all requests, with bitmask and bias rows beside them.
  std::int64_t row_count = 0;  ///< Logits rows there are.
  parameter_batch parameters{};
};

/// Nodes of the largest request; what a workspace is sized by. 0 without requests
/// or offsets.
[[nodiscard]] inline std::int32_t largest_tree(tree_batch const& t) {
  std::int32_t largest = 0;
  if (t.node_offset == nullptr) return largest;
  for (std::int32_t b = 0; b < t.requests; ++b) largest = std::max(largest, t.size(b));
  return largest;
}

namespace detail {

inline constexpr char const* batch_call = "verify_batch";

inline void require_offsets(char const* name, std::int32_t const* offsets, std::int32_t requests) {
  require_argument(offsets[0] >= 0, batch_call, array_entry{name, 0}, offsets[0], "at least 0");
  for (std::int32_t b = 0; b < requests; ++b)
    require_argument(offsets[b] <= offsets[b + 1], batch_call, array_entry{name, b + 1},
                     offsets[b + 1], "at least the offset before it, ", offsets[b]);
}

inline void require_trees(tree_batch const& t, std::int64_t row_count) {
  require_given(t.node_offset, batch_call, "trees.node_offset");
  require_offsets("trees.node_offset", t.node_offset, t.requests);
  if (t.node_offset[t.requests] > 0) {
    require_given(t.parents, batch_call, "trees.parents");
    require_given(t.tokens, batch_call, "trees.tokens");
  }
  if (t.first_child != nullptr) require_given(t.next_sibling, batch_call, "trees.next_sibling");
  if (t.next_sibling != nullptr) require_given(t.first_child, batch_call, "trees.first_child");
  for (std::int32_t b = 0; b < t.requests; ++b) {
    std::int32_t const span = t.node_offset[b + 1] - t.node_offset[b];
    require_argument(0 <= t.size(b) && t.size(b) <= span, batch_call,
                     array_entry{"trees.node_count", b}, t.size(b), "[0, ", span,
                     "], the length of its span");
    require_argument(t.first_row(b) >= 0 && t.first_row(b) <= row_count - t.size(b), batch_call,
                     array_entry{"the first logits row of request", b}, t.first_row(b), "its ",
                     t.size(b), " rows inside [0, row_count = ", row_count, ")");
  }
}

inline void require_parameters(parameter_batch const& p, std::int32_t requests) {
  require_given(p.seed, batch_call, "parameters.seed");
  require_given(p.position, batch_call, "parameters.position");
  if (p.stop_offset == nullptr) return;
  require_offsets("parameters.stop_offset", p.stop_offset, requests);
  if (p.stop_offset[requests] > 0) require_given(p.stop, batch_call, "parameters.stop");
}

// 1 + the depth of the deepest tree; parents that can't be meant count as roots.
inline std::int32_t longest_path(tree_batch const& t, node_id* depth) {
  std::int32_t longest = 0;
  for (std::int32_t b = 0; b < t.requests; ++b)
    for (node_id v = 0; v < t.size(b); ++v) {
      node_id const parent = t.parents[t.node_offset[b] + v];
      depth[v] = 0 <= parent && parent < v ? depth[parent] + 1 : 0;
      longest = std::max(longest, depth[v] + 1);
    }
  return longest;
}

}  // namespace detail

/// Throws `argument_error` naming argument, value and requirement for what concerns the call as a
/// whole: offsets, counts, strides, null pointers. What concerns one request becomes its status.
/// `depth_scratch()` is asked last, for [largest_tree(in.trees)] entries.
template <logit Logit, class DepthScratch>
void require_batch(batch_input<Logit> const& in, outcome_batch const& out,
                   DepthScratch&& depth_scratch) {
  constexpr char const* call = detail::batch_call;
  require_argument(in.trees.requests >= 0, call, "trees.requests", in.trees.requests, "at least 0");
  require_rows(call, in.logits, in.row_count);
  if (in.trees.requests == 0) return;
  detail::require_trees(in.trees, in.row_count);
  detail::require_parameters(in.parameters, in.trees.requests);
  require_given(out.state, call, "outcomes.state");
  std::int32_t const longest = detail::longest_path(in.trees, depth_scratch());
  require_argument(out.width >= longest, call, "outcomes.width", out.width, "at least ", longest,
                   ", 1 + the depth of the deepest tree");
}

}  // namespace tev
