// TensorRT-LLM's arrays of a dynamic draft tree.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tev/core/types.hpp"
#include "tev/encoding/link_view.hpp"
#include "tev/tree/concept.hpp"

/// TensorRT-LLM (NVIDIA/TensorRT-LLM), as its dynamic-tree kernels build and verify a batch of B
/// trees of N nodes.
///
/// All contiguous, [B, N]. `candidates` (or draftTokens): token of each node, int64, column 0 the
/// root, i.e. the target's last sample; int32 in the packed variant, which this takes as well.
/// `retrieveNextToken`: first child, `retrieveNextSibling`: next sibling, int32, local ids in
/// [0, N), -1 ends. `retrieveIndex`: the node's own local id. Siblings are listed in index order. A
/// request without a tree is marked by `treeValid`.
namespace tev::tensorrt_llm {

/// One request's rows [N] of the arrays, without a copy; see `read_parents`, `read_tree` and
/// `link_view`.
using request_arrays = link_arrays<std::int64_t, std::int32_t>;

/// The same where tokens are int32.
using packed_request_arrays = link_arrays<std::int32_t, std::int32_t>;

/// Writes one request's rows [N] of the arrays. A tree of fewer than N nodes is followed by nodes
/// of token 0 that no list reaches. Throws `argument_error` when the rows differ in length or are
/// shorter than the tree.
template <linked_tree Tree, std::integral Token>
void write(Tree const& t, token_id root_token, std::span<Token> candidates,
           std::span<std::int32_t> retrieve_index, std::span<std::int32_t> next_token,
           std::span<std::int32_t> next_sibling) {
  detail::require_room(retrieve_index.size(), candidates.size(), "tensorrt_llm: retrieveIndex");
  write_links(t, root_token, candidates, next_token, next_sibling);
  for (std::size_t i = 0; i < retrieve_index.size(); ++i)
    retrieve_index[i] = static_cast<std::int32_t>(i);
}

/// Writes what a verification kernel of TensorRT-LLM returns for one request.
///
/// `path`: accepted nodes, root first. `accept_index` [S]: their local ids; `accept_token` [S]: the
/// token that follows each of them, so the accepted drafted tokens and then the bonus token; both
/// are 0 behind the path, as in buffers that the engine clears. `accept_token_num`: accepted
/// drafted tokens. All of one integer type, int64 in the tree kernels. Throws `argument_error` when
/// the path is empty, doesn't fit S or names a node that the tree lacks, before anything is
/// written.
template <tree Tree, std::integral Id>
void write_accepted(Tree const& t, std::span<node_id const> path, token_id bonus_token,
                    std::span<Id> accept_index, std::span<Id> accept_token, Id& accept_token_num) {
  detail::require_path(t, path, accept_index.size(), "tensorrt_llm");
  detail::require_room(accept_token.size(), accept_index.size(), "tensorrt_llm: acceptToken");
  std::ranges::fill(accept_index, Id{0});
  std::ranges::fill(accept_token, Id{0});
  for (std::size_t i = 0; i < path.size(); ++i) {
    accept_index[i] = path[i];
    accept_token[i] = i + 1 == path.size() ? bonus_token : t.token(path[i + 1]);
  }
  accept_token_num = static_cast<Id>(path.size()) - 1;
}

}  // namespace tev::tensorrt_llm
