// Says what is wrong with the arrays of a tree, and where.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/links.hpp"

namespace tev {

/// The arrays of a tree as they arrive, and the limits they have to keep.
struct tree_arrays {
  std::span<node_id const> parents;  ///< [size]
  std::span<token_id const> tokens;  ///< [size]
  std::int32_t vocab_size = vocab_limit;
  std::int32_t budget = std::numeric_limits<std::int32_t>::max();  ///< Drafted nodes, without root.
  bool check_links = false;                 ///< Whether the two arrays below are to be compared.
  std::span<node_id const> first_child{};   ///< [size]
  std::span<node_id const> next_sibling{};  ///< [size]
};

namespace detail {

// A node that is not its parent's successor is on a cycle when climbing never meets the root.
inline bool on_cycle(std::span<node_id const> parents, node_id v) {
  for (std::size_t step = 0; step <= parents.size(); ++step) {
    if (v <= 0) return false;
    v = parents[v];
  }
  return true;
}

inline tree_check check_parents(std::span<node_id const> parents) {
  auto const size = static_cast<node_id>(parents.size());
  if (parents[0] != no_node) return {tree_fault::bad_root, 0};
  for (node_id v = 1; v < size; ++v) {
    if (parents[v] == no_node) return {tree_fault::second_root, v};
    if (parents[v] < 0 || parents[v] >= size) return {tree_fault::parent_range, v};
  }
  for (node_id v = 1; v < size; ++v) {
    if (parents[v] < v) continue;
    return {on_cycle(parents, v) ? tree_fault::cycle : tree_fault::parent_order, v};
  }
  return {};
}

// Tokens may be wider than token_id. Orders the nodes in `order` [size]; what it held is lost.
template <std::integral Token>
tree_check check_siblings(std::span<node_id const> parents, std::span<Token const> tokens,
                          std::span<node_id> order) {
  for (std::size_t v = 0; v < parents.size(); ++v) order[v] = static_cast<node_id>(v);
  order = order.first(parents.size()).subspan(1);
  std::ranges::sort(order, [&](node_id a, node_id b) {
    if (parents[a] != parents[b]) return parents[a] < parents[b];
    return tokens[a] != tokens[b] ? tokens[a] < tokens[b] : a < b;
  });
  node_id first = no_node;
  for (std::size_t i = 1; i < order.size(); ++i) {
    node_id const a = order[i - 1], b = order[i];
    if (parents[a] == parents[b] && tokens[a] == tokens[b] && (first == no_node || b < first))
      first = b;
  }
  return first == no_node ? tree_check{} : tree_check{tree_fault::duplicate_sibling, first};
}

template <std::integral Token>
tree_check check_tokens(std::span<Token const> tokens, std::int32_t vocab_size) {
  for (std::size_t v = 1; v < tokens.size(); ++v)
    if (tokens[v] < 0 || tokens[v] >= vocab_size)
      return {tree_fault::token_range, static_cast<node_id>(v)};
  return {};
}

inline tree_check check_links(tree_arrays const& t, std::span<node_id> child,
                              std::span<node_id> sibling) {
  link_children(t.parents, child, sibling);
  for (std::size_t v = 0; v < child.size(); ++v)
    if (child[v] != t.first_child[v] || sibling[v] != t.next_sibling[v])
      return {tree_fault::link_mismatch, static_cast<node_id>(v)};
  return {};
}

}  // namespace detail

/// Entries of scratch that `validate` needs for `size` nodes.
[[nodiscard]] constexpr std::size_t validate_scratch(std::size_t size) { return 2 * size; }

/// Checks the arrays of a tree against T1 to T3, the vocabulary, the budget and the child lists,
/// without allocating.
///
/// `scratch`: at least `validate_scratch(size)` entries of the caller's, of any content; else
/// `argument_error`. Reads nothing outside the arrays, whatever they hold. O(size log size). The
/// first fault met in the order of `tree_fault` is reported, at the lowest node that shows it.
[[nodiscard]] inline tree_check validate(tree_arrays const& t, std::span<node_id> scratch) {
  std::size_t const size = t.parents.size();
  require_argument(scratch.size() >= validate_scratch(size), "validate", "the size of scratch",
                   std::ssize(scratch), "at least ", validate_scratch(size));
  if (t.tokens.size() != size) return {tree_fault::size_mismatch, no_node};
  if (t.check_links && (t.first_child.size() != size || t.next_sibling.size() != size))
    return {tree_fault::size_mismatch, no_node};
  if (size == 0) return {tree_fault::empty, no_node};
  if (auto const found = detail::check_parents(t.parents); !found.ok()) return found;
  if (size - 1 > static_cast<std::size_t>(std::max(t.budget, 0)))
    return {tree_fault::over_budget, static_cast<node_id>(std::max(t.budget, 0)) + 1};
  if (auto const found = detail::check_tokens(t.tokens, t.vocab_size); !found.ok()) return found;
  if (auto const found = detail::check_siblings(t.parents, t.tokens, scratch); !found.ok())
    return found;
  if (!t.check_links) return {};
  return detail::check_links(t, scratch.first(size), scratch.subspan(size, size));
}

/// The same with scratch of its own.
[[nodiscard]] inline tree_check validate(tree_arrays const& t) {
  std::vector<node_id> scratch(validate_scratch(t.parents.size()));
  return validate(t, scratch);
}

}  // namespace tev
