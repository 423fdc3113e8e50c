// DDTree's lists: parents, tokens, depths and a map from token to child for each node.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"
#include "tev/encoding/link_view.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/parents_of_links.hpp"
#include "tev/tree/validate.hpp"

/// DDTree (liranringel/ddtree), as its tree builder returns a tree of n drafted nodes and
/// `follow_verified_tree` reads it. Batch 1.
///
/// `parents` [1 + n]: list of local ids, -1 at the root, a parent before its children.
/// `node_token_ids` [n] and `node_depths` [n]: int64, *without* the root: entry i belongs to node
/// i + 1; depths begin at 1. `child_maps` [1 + n]: for each node the map from a token to the child
/// that carries it. Node ids count the root as 0 everywhere, so an accepted path is tev's as it is.
namespace tev::ddtree {

/// A linked tree over DDTree's parents and tokens, without a copy; links are the caller's scratch,
/// filled by `link_children`.
template <std::integral Token = std::int64_t>
struct view {
  std::int32_t count = 0;                   ///< 1 + n
  node_id const* parents = nullptr;         ///< [1 + n]
  Token const* node_token_ids = nullptr;    ///< [n]
  node_id const* first_children = nullptr;  ///< [1 + n]
  node_id const* next_siblings = nullptr;   ///< [1 + n]

  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t size() const { return count; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id parent(node_id v) const { return parents[v]; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr token_id token(node_id v) const {
    return v == 0 ? no_token : narrow_id(node_token_ids[v - 1]);
  }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id first_child(node_id v) const {
    return first_children[v];
  }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id next_sibling(node_id v) const {
    return next_siblings[v];
  }
};

static_assert(linked_tree<view<>>);

/// A tree as DDTree's lists.
struct lists {
  std::vector<node_id> parents{};                         ///< [1 + n]
  std::vector<std::int64_t> node_token_ids{};             ///< [n]
  std::vector<std::int64_t> node_depths{};                ///< [n]
  std::vector<std::map<token_id, node_id>> child_maps{};  ///< [1 + n]

  friend bool operator==(lists const&, lists const&) = default;
};

/// The lists of a tree.
template <tree Tree>
[[nodiscard]] lists write(Tree const& t) {
  lists l;
  l.parents.push_back(no_node);
  l.child_maps.resize(static_cast<std::size_t>(t.size()));
  auto const depth = depths(t);
  for (node_id v = 1; v < t.size(); ++v) {
    l.parents.push_back(t.parent(v));
    l.node_token_ids.push_back(t.token(v));
    l.node_depths.push_back(depth[v]);
    l.child_maps[t.parent(v)].emplace(t.token(v), v);
  }
  return l;
}

/// The tree of DDTree's parents and tokens. Throws `argument_error` with the first fault and its
/// node; an id that doesn't fit 32 bits is a token_range.
template <std::integral Token>
[[nodiscard]] draft_tree read(std::span<node_id const> parents,
                              std::span<Token const> node_token_ids) {
  require_argument(parents.size() == node_token_ids.size() + 1, "ddtree",
                   "the size of node_token_ids", std::ssize(node_token_ids),
                   "one less than parents: ", parents.size());
  std::vector<token_id> tokens{no_token};
  for (Token const id : node_token_ids) tokens.push_back(narrow_id(id));
  return draft_tree::from_parents({parents.begin(), parents.end()}, std::move(tokens));
}

/// Fills `parents` and `tokens` [1 + n] from the child maps alone and says whether they are those
/// of a tree.
///
/// `child_maps` [1 + n]: a random-access range of ranges of (token, child) pairs, in any order.
/// Faults: size_mismatch, empty, node_range (at the node whose map it is), bad_root, two_parents,
/// unreached, parent_order, cycle. Tokens that don't fit 32 bits become -1. O(entries).
template <class ChildMaps>
[[nodiscard]] tree_check read_child_maps(ChildMaps const& child_maps, std::span<node_id> parents,
                                         std::span<token_id> tokens) {
  std::size_t const size = parents.size();
  if (child_maps.size() != size || tokens.size() != size)
    return {tree_fault::size_mismatch, no_node};
  if (size == 0) return {tree_fault::empty, no_node};
  for (auto& parent : parents) parent = detail::unset_parent;
  parents[0] = no_node;
  tokens[0] = no_token;
  for (std::size_t v = 0; v < size; ++v) {
    for (auto const& [token, child] : child_maps[v]) {
      if (child < 0 || static_cast<std::size_t>(child) >= size)
        return {tree_fault::node_range, static_cast<node_id>(v)};
      if (child == 0) return {tree_fault::bad_root, 0};
      if (parents[child] != detail::unset_parent)
        return {tree_fault::two_parents, static_cast<node_id>(child)};
      parents[child] = static_cast<node_id>(v);
      tokens[child] = narrow_id(token);
    }
  }
  for (std::size_t v = 1; v < size; ++v)
    if (parents[v] == detail::unset_parent) return {tree_fault::unreached, static_cast<node_id>(v)};
  return detail::check_parents(parents);
}

}  // namespace tev::ddtree
