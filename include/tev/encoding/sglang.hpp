// SGLang's arrays of a batch of draft trees (its tree builder and tree verification kernels).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/encoding/link_view.hpp"
#include "tev/tree/concept.hpp"

/// SGLang (sgl-project/sglang), as its `build_tree_kernel_efficient` writes a batch of B trees of N
/// nodes and `verify_tree_greedy` and `tree_speculative_sampling_target_only` read it.
///
/// All contiguous, [B, N], int64. `candidates`: token of each node, column 0 the root, i.e. the
/// last emitted token. `retrive_index` (so spelt): the row of the node among all B * N rows, a
/// global id, b * N + i. `retrive_next_token`: first child, `retrive_next_sibling`: next sibling,
/// both local ids in [0, N), -1 ends. Siblings are listed in index order. Every tree has N nodes;
/// `write` fills a smaller one up with nodes of token 0 that no list reaches.
namespace tev::sglang {

/// One request's rows of the arrays, without a copy; see `read_parents`, `read_tree` and
/// `link_view`.
using request_arrays = link_arrays<std::int64_t, std::int64_t>;

/// The arrays of a batch, to read.
struct batch_arrays {
  std::int32_t batch = 0;                       ///< B
  std::int32_t nodes = 0;                       ///< N
  std::span<std::int64_t const> candidates;     ///< [B, N]
  std::span<std::int64_t const> retrive_index;  ///< [B, N], or empty when it is not to be checked.
  std::span<std::int64_t const> next_token;     ///< [B, N]
  std::span<std::int64_t const> next_sibling;   ///< [B, N]

  /// The first `size` nodes of request `b`; all N unless the engine padded the tree. Throws
  /// `argument_error` when an array is not [B, N], or `b` or `size` out of range.
  [[nodiscard]] request_arrays request(std::int32_t b, std::int32_t size) const {
    require_shape();
    require_request(b);
    require_argument(size >= 0 && size <= nodes, "sglang", "the size of the tree", size, "[0, ",
                     nodes, "]");
    auto const begin = static_cast<std::size_t>(b) * nodes;
    auto const count = static_cast<std::size_t>(size);
    return {candidates.subspan(begin, count), next_token.subspan(begin, count),
            next_sibling.subspan(begin, count)};
  }
  [[nodiscard]] request_arrays request(std::int32_t b) const { return request(b, nodes); }

  /// The first node of request `b` whose global row is not b * N + i, or -1.
  [[nodiscard]] node_id wrong_row(std::int32_t b) const {
    require_request(b);
    detail::require_room(retrive_index.size(), entries(), "sglang: retrive_index");
    auto const begin = static_cast<std::int64_t>(b) * nodes;
    for (node_id i = 0; i < nodes; ++i)
      if (retrive_index[begin + i] != begin + i) return i;
    return no_node;
  }

 private:
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::max(batch, 0)) *
           static_cast<std::size_t>(std::max(nodes, 0));
  }
  void require_request(std::int32_t b) const {
    require_argument(b >= 0 && b < batch, "sglang", "request", b, "[0, ", batch, ")");
  }
  void require_shape() const {
    detail::require_room(candidates.size(), entries(), "sglang: candidates");
    detail::require_room(next_token.size(), entries(), "sglang: retrive_next_token");
    detail::require_room(next_sibling.size(), entries(), "sglang: retrive_next_sibling");
    if (!retrive_index.empty())
      detail::require_room(retrive_index.size(), entries(), "sglang: retrive_index");
  }
};

/// Writes request `b` of a batch: its rows [N] of the four arrays.
///
/// `root_token`: the last emitted token. Throws `argument_error` when the rows differ in length or
/// are shorter than the tree.
template <linked_tree Tree>
void write(Tree const& t, token_id root_token, std::int32_t b, std::span<std::int64_t> candidates,
           std::span<std::int64_t> retrive_index, std::span<std::int64_t> next_token,
           std::span<std::int64_t> next_sibling) {
  detail::require_room(retrive_index.size(), candidates.size(), "sglang: retrive_index");
  write_links(t, root_token, candidates, next_token, next_sibling);
  auto const nodes = static_cast<std::int64_t>(candidates.size());
  for (std::int64_t i = 0; i < nodes; ++i) retrive_index[i] = b * nodes + i;
}

/// Writes what a verification kernel of SGLang returns for request `b`.
///
/// `path`: accepted nodes, root first. `predicts` [B * N]: at the global row of each accepted node
/// the token that follows it, 0 in the other rows of this request. `accept_index` [S]: global rows
/// of the path, then -1. `accept_token_num`: accepted drafted tokens, without root and bonus. All
/// int32. Throws `argument_error` when the path is empty, doesn't fit S or names a node outside [0,
/// N), before anything is written.
template <tree Tree>
void write_accepted(Tree const& t, std::span<node_id const> path, token_id bonus_token,
                    std::int32_t b, std::int32_t nodes, std::span<std::int32_t> predicts,
                    std::span<std::int32_t> accept_index, std::int32_t& accept_token_num) {
  detail::require_path(t, path, accept_index.size(), "sglang");
  auto const begin = static_cast<std::int64_t>(b) * nodes;
  require(begin + nodes <= INT32_MAX, "sglang: the batch has more rows than int32 names");
  require(b >= 0 && t.size() <= nodes && std::ssize(predicts) >= begin + nodes,
          "sglang: predicts needs the rows of the request");
  std::ranges::fill(predicts.subspan(begin, nodes), 0);
  std::ranges::fill(accept_index, -1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    bool const last = i + 1 == path.size();
    predicts[begin + path[i]] = last ? bonus_token : t.token(path[i + 1]);
    accept_index[i] = static_cast<std::int32_t>(begin + path[i]);
  }
  accept_token_num = static_cast<std::int32_t>(path.size()) - 1;
}

}  // namespace tev::sglang
