// Trees in engines' own arrays of tokens, first children and next siblings, of 32 or 64 bits.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/host_device.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/parents_of_links.hpp"
#include "tev/tree/validate.hpp"

namespace tev {

/// An id of an engine as one of tev; -1, which is no token and no node, when it doesn't fit 32
/// bits: it is never cut to another id.
template <std::integral Id>
[[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t narrow_id(Id id) {
  auto const narrow = static_cast<std::int32_t>(id);
  return static_cast<Id>(narrow) == id ? narrow : -1;
}

/// A linked tree over somebody else's arrays, without a copy: tokens and links are read where they
/// lie, parents, which these encodings don't have, from the caller's scratch. Trivially copyable.
///
/// `read_parents` fills the parents. A view whose links were not checked is still safe to walk, as
/// `linked_tree` promises.
template <std::integral Token, std::integral Link>
struct link_view {
  std::int32_t count = 0;                ///< Number of nodes, the root included.
  node_id const* parents = nullptr;      ///< [count]; the root's is -1.
  Token const* tokens = nullptr;         ///< [count]; the root's is ignored.
  Link const* first_children = nullptr;  ///< [count] local node id, -1 at a leaf.
  Link const* next_siblings = nullptr;   ///< [count] local node id, -1 at the last one.

  [[nodiscard]] TEV_HOST_DEVICE constexpr std::int32_t size() const { return count; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id parent(node_id v) const { return parents[v]; }
  [[nodiscard]] TEV_HOST_DEVICE constexpr token_id token(node_id v) const {
    return narrow_id(tokens[v]);
  }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id first_child(node_id v) const {
    return narrow_id(first_children[v]);
  }
  [[nodiscard]] TEV_HOST_DEVICE constexpr node_id next_sibling(node_id v) const {
    return narrow_id(next_siblings[v]);
  }
};

static_assert(linked_tree<link_view<std::int64_t, std::int64_t>>);
static_assert(linked_tree<link_view<std::int64_t, std::int32_t>>);

/// The arrays of one request's tree as an engine hands them over; all of one length [size].
template <std::integral Token, std::integral Link>
struct link_arrays {
  std::span<Token const> tokens;       ///< The root's is ignored.
  std::span<Link const> first_child;   ///< Local node ids; -1 ends a list.
  std::span<Link const> next_sibling;  ///< Local node ids; -1 ends a list.

  /// The tree without a copy, with parents [size] that `read_parents` has filled and found good.
  [[nodiscard]] link_view<Token, Link> view(std::span<node_id const> parents) const {
    return {static_cast<std::int32_t>(parents.size()), parents.data(), tokens.data(),
            first_child.data(), next_sibling.data()};
  }
};

/// Fills `parents` [size] and says whether the arrays are those of a tree that can be verified
/// where it lies.
///
/// `scratch`: [size], of any content. Finds what `parents_of_links` finds, then tokens outside
/// [0, vocab_size), duplicate siblings, and link_mismatch where siblings are not in ascending order
/// (`read_tree` takes such lists). Reads nothing outside the arrays, allocates nothing, O(size log
/// size). Throws `argument_error` when the scratch is too short.
template <std::integral Token, std::integral Link>
[[nodiscard]] tree_check read_parents(link_arrays<Token, Link> const& t, std::span<node_id> parents,
                                      std::span<node_id> scratch,
                                      std::int32_t vocab_size = vocab_limit) {
  require_argument(scratch.size() >= parents.size(), "read_parents", "the size of scratch",
                   std::ssize(scratch), "at least ", parents.size());
  if (t.tokens.size() != parents.size()) return {tree_fault::size_mismatch, no_node};
  if (auto const found = parents_of_links(t.first_child, t.next_sibling, parents); !found.ok())
    return found;
  if (auto const found = detail::check_tokens(t.tokens, vocab_size); !found.ok()) return found;
  if (auto const found = detail::check_siblings(parents, t.tokens, scratch); !found.ok())
    return found;
  for (std::size_t v = 1; v < parents.size(); ++v)
    if (t.next_sibling[v] != Link{no_node} && t.next_sibling[v] <= static_cast<Link>(v))
      return {tree_fault::link_mismatch, static_cast<node_id>(v)};
  return {};
}

namespace detail {

inline void require_tree(tree_check const& found, char const* source) {
  if (!found.ok())
    require(false, std::string(source) + ": " + name(found.fault) + " at node " +
                       std::to_string(found.node));
}

template <std::integral Id>
std::vector<token_id> narrow_tokens(std::span<Id const> ids) {
  std::vector<token_id> tokens{no_token};
  for (std::size_t v = 1; v < ids.size(); ++v) tokens.push_back(narrow_id(ids[v]));
  return tokens;
}

// A path that an engine's arrays of `room` entries can take.
template <tree Tree>
void require_path(Tree const& t, std::span<node_id const> path, std::size_t room,
                  char const* source) {
  require_argument(!path.empty() && path.size() <= room, source, "the length of the path",
                   std::ssize(path), "[1, ", room, "]");
  for (node_id const v : path)
    require_argument(v >= 0 && v < t.size(), source, "a node of the path", v, "[0, ", t.size(),
                     ")");
}

inline void require_room(std::size_t has, std::size_t needs, char const* what) {
  require_argument(has == needs, what, "the size", static_cast<std::int64_t>(has), needs);
}

}  // namespace detail

/// A copy of the tree that owns its arrays, siblings relisted in index order. Throws
/// `argument_error` with the first fault and its node.
template <std::integral Token, std::integral Link>
[[nodiscard]] draft_tree read_tree(link_arrays<Token, Link> const& t) {
  std::vector<node_id> parents(t.first_child.size());
  auto found = parents_of_links(t.first_child, t.next_sibling, parents);
  if (t.tokens.size() != parents.size()) found = {tree_fault::size_mismatch, no_node};
  detail::require_tree(found, "read_tree");
  return draft_tree::from_parents(std::move(parents), detail::narrow_tokens(t.tokens));
}

/// Writes a tree into the caller's arrays, which may be longer: what is left is padding, a node of
/// `padding_token` that no list reaches. The root's token is written as `root_token`.
///
/// tokens, first_child, next_sibling: one length, at least size(); else `argument_error`, before
/// anything is written.
template <linked_tree Tree, std::integral Token, std::integral Link>
void write_links(Tree const& t, token_id root_token, std::span<Token> tokens,
                 std::span<Link> first_child, std::span<Link> next_sibling,
                 token_id padding_token = 0) {
  require_argument(std::ssize(tokens) >= t.size(), "write_links", "the size of tokens",
                   std::ssize(tokens), "at least ", t.size());
  detail::require_room(first_child.size(), tokens.size(), "write_links: first_child");
  detail::require_room(next_sibling.size(), tokens.size(), "write_links: next_sibling");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    auto const v = static_cast<node_id>(i);
    bool const drafted = v < t.size();
    tokens[i] = v == 0 ? root_token : drafted ? t.token(v) : padding_token;
    first_child[i] = drafted ? t.first_child(v) : no_node;
    next_sibling[i] = drafted ? t.next_sibling(v) : no_node;
  }
}

}  // namespace tev
