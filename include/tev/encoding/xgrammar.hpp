// xgrammar's traversal of a draft tree, which fills one bitmask row per node.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "tev/core/types.hpp"
#include "tev/encoding/link_view.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/depth_first.hpp"

/// xgrammar (mlc-ai/xgrammar), as `GrammarMatcher.traverse_draft_tree` (`TraverseDraftTree`) reads
/// a tree of N nodes.
///
/// `retrieve_next_token`: first child, `retrieve_next_sibling`: next sibling, `draft_tokens`: token
/// of each node; one-dimensional [N], contiguous, on the host, one integer type: int64 in current
/// releases, SGLang's arrays without the batch. Local ids, -1 ends, the root is node 0 and has no
/// sibling; its token counts as accepted and isn't looked at. `bitmask`: int32 [N, ceil(V / 32)],
/// lowest bit first; row v says what may follow node v. Nodes are visited depth first, siblings in
/// the order of their list, which xgrammar doesn't ask to ascend.
namespace tev::xgrammar {

/// The arrays of one tree, without a copy; see `read_parents`, `read_tree` and `link_view`.
template <std::integral Id = std::int64_t>
using draft_arrays = link_arrays<Id, Id>;

/// Writes the arrays [N] of a tree. Entries beyond its size are nodes of token 0 that no list
/// reaches. Throws `argument_error` when the arrays differ in length or are shorter than the tree.
template <linked_tree Tree, std::integral Id>
void write(Tree const& t, token_id root_token, std::span<Id> next_token, std::span<Id> next_sibling,
           std::span<Id> draft_tokens) {
  write_links(t, root_token, draft_tokens, next_token, next_sibling);
}

/// Fills the bitmask of every node that a grammar admits, in xgrammar's order.
///
/// `fill(v)`: writes row v of the bitmask from the matcher's present state. `accept(v, token)`:
/// advances the matcher by the token of node v, or returns false when the grammar refuses it.
/// `roll_back()`: takes the last accepted token back. Below a refused node nothing is filled: fill
/// these rows with zeros before. They don't matter, since the refused token has no mass in its
/// parent's row. The matcher ends in the state in which it began.
template <linked_tree Tree, class Fill, class Accept, class RollBack>
void traverse(Tree const& t, Fill&& fill, Accept&& accept, RollBack&& roll_back) {
  depth_first(
      t,
      [&](node_id v) {
        if (v > 0 && !accept(v, t.token(v))) return false;
        fill(v);
        return true;
      },
      [&](node_id v) {
        if (v > 0) roll_back();
      });
}

}  // namespace tev::xgrammar
