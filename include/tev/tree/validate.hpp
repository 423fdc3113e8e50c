// Says what is wrong with the arrays of a tree, and where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/tree/links.hpp"

namespace tev {

/// What `validate` can find. It looks in this order, save that faults of the same kind of check
/// (second_root and parent_range; cycle and parent_order) are met in the order of the nodes.
enum class tree_fault : std::int32_t {
  none,               ///< The arrays form a tree.
  size_mismatch,      ///< Two arrays differ in length.
  empty,              ///< There is no root.
  bad_root,           ///< parent(0) is not -1.
  second_root,        ///< A later node has parent -1.
  parent_range,       ///< A parent outside [0, size).
  cycle,              ///< Following the parents never reaches the root.
  parent_order,       ///< A parent behind its child.
  over_budget,        ///< More drafted nodes than allowed.
  token_range,        ///< A token outside [0, vocab_size).
  duplicate_sibling,  ///< Two children of one node carry the same token.
  link_mismatch,      ///< The child lists contradict the parents.
};

/// The fault as a word, for messages and for JSON.
[[nodiscard]] constexpr char const* name(tree_fault f) {
  constexpr char const* names[] = {
      "ok",    "size_mismatch", "empty",       "bad_root",    "second_root",       "parent_range",
      "cycle", "parent_order",  "over_budget", "token_range", "duplicate_sibling", "link_mismatch"};
  return names[static_cast<std::int32_t>(f)];
}

/// The first fault and the node that shows it (-1 where no single node does).
struct tree_check {
  tree_fault fault = tree_fault::none;
  node_id node = no_node;

  [[nodiscard]] constexpr bool ok() const { return fault == tree_fault::none; }
  friend bool operator==(tree_check const&, tree_check const&) = default;
};

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

inline tree_check check_siblings(std::span<node_id const> parents,
                                 std::span<token_id const> tokens) {
  std::vector<node_id> order;
  for (node_id v = 1; v < static_cast<node_id>(parents.size()); ++v) order.push_back(v);
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

inline tree_check check_links(tree_arrays const& t) {
  std::vector<node_id> child(t.parents.size()), sibling(t.parents.size());
  link_children(t.parents, child, sibling);
  for (std::size_t v = 0; v < child.size(); ++v)
    if (child[v] != t.first_child[v] || sibling[v] != t.next_sibling[v])
      return {tree_fault::link_mismatch, static_cast<node_id>(v)};
  return {};
}

}  // namespace detail

/// Checks the arrays of a tree against T1 to T3, the vocabulary, the budget and the child lists.
///
/// Reads nothing outside the arrays, whatever they hold. O(size log size). The first fault met in
/// the order of `tree_fault` is reported, at the lowest node that shows it.
[[nodiscard]] inline tree_check validate(tree_arrays const& t) {
  std::size_t const size = t.parents.size();
  if (t.tokens.size() != size) return {tree_fault::size_mismatch, no_node};
  if (t.check_links && (t.first_child.size() != size || t.next_sibling.size() != size))
    return {tree_fault::size_mismatch, no_node};
  if (size == 0) return {tree_fault::empty, no_node};
  if (auto const found = detail::check_parents(t.parents); !found.ok()) return found;
  if (size - 1 > static_cast<std::size_t>(std::max(t.budget, 0)))
    return {tree_fault::over_budget, static_cast<node_id>(std::max(t.budget, 0)) + 1};
  for (node_id v = 1; v < static_cast<node_id>(size); ++v)
    if (t.tokens[v] < 0 || t.tokens[v] >= t.vocab_size) return {tree_fault::token_range, v};
  if (auto const found = detail::check_siblings(t.parents, t.tokens); !found.ok()) return found;
  return t.check_links ? detail::check_links(t) : tree_check{};
}

}  // namespace tev
