// Leaf retrieve tables: one root-to-leaf list of nodes for each leaf.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/path.hpp"
#include "tev/tree/validate.hpp"

namespace tev {

/// The nodes without children, ascending. A lone root is a leaf. O(size).
template <tree Tree>
[[nodiscard]] std::vector<node_id> leaves(Tree const& t) {
  std::vector<bool> inner(static_cast<std::size_t>(t.size()), false);
  for (node_id v = 1; v < t.size(); ++v) inner[t.parent(v)] = true;
  std::vector<node_id> found;
  for (node_id v = 0; v < t.size(); ++v)
    if (!inner[v]) found.push_back(v);
  return found;
}

/// The way from the root to every leaf.
struct retrieve_table {
  std::vector<node_id> leaves{};  ///< [rows] ascending.
  std::int32_t length = 0;        ///< Nodes of the longest path, the root included.
  std::vector<node_id> nodes{};   ///< [rows, length], row-major, padded with -1 behind the leaf.

  /// The row of the leaf `leaves[k]`, padding included [length].
  [[nodiscard]] std::span<node_id const> row(std::size_t k) const {
    return std::span(nodes).subspan(k * length, length);
  }

  friend bool operator==(retrieve_table const&, retrieve_table const&) = default;
};

/// The retrieve table of a tree, leaves in ascending order. O(leaves * length).
template <tree Tree>
[[nodiscard]] retrieve_table retrieve_table_of(Tree const& t) {
  retrieve_table table{.leaves = leaves(t)};
  std::vector<std::vector<node_id>> paths;
  for (node_id const leaf : table.leaves) {
    paths.push_back(path_to(t, leaf));
    table.length = std::max(table.length, static_cast<std::int32_t>(paths.back().size()));
  }
  for (auto const& path : paths) {
    table.nodes.insert(table.nodes.end(), path.begin(), path.end());
    table.nodes.insert(table.nodes.end(), table.length - path.size(), no_node);
  }
  return table;
}

/// Drafted tokens on the way to every leaf [leaves], in ascending order of the leaves; a lone root
/// has one empty path. `draft_tree::from_paths` makes a tree of the same prefixes of them.
template <tree Tree>
[[nodiscard]] std::vector<std::vector<token_id>> leaf_paths(Tree const& t) {
  std::vector<std::vector<token_id>> paths;
  for (node_id const leaf : leaves(t)) paths.push_back(tokens_to(t, leaf));
  return paths;
}

namespace detail {

template <std::integral Id>
tree_check hang_row(std::span<Id const> row, std::span<node_id> parents) {
  auto const size = static_cast<Id>(parents.size());
  node_id last = no_node;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == Id{no_node}) {
      last = no_node;
      continue;
    }
    if (row[i] < 0 || row[i] >= size) return {tree_fault::node_range, last};
    auto const v = static_cast<node_id>(row[i]);
    if (v == 0 && i > 0) return {tree_fault::bad_root, 0};
    if (v > 0 && last == no_node) return {tree_fault::second_root, v};
    if (v > 0 && parents[v] != no_node && parents[v] != last) return {tree_fault::two_parents, v};
    if (v > 0) parents[v] = last;
    last = v;
  }
  return {};
}

template <std::integral Id>
tree_check parents_of_table(std::span<Id const> table, std::size_t length,
                            std::span<node_id> parents) {
  if (length == 0 ? !table.empty() : table.size() % length != 0)
    return {tree_fault::size_mismatch, no_node};
  if (parents.empty()) return {tree_fault::empty, no_node};
  for (auto& parent : parents) parent = no_node;
  bool rooted = false;
  for (std::size_t begin = 0; begin < table.size(); begin += length) {
    auto const row = table.subspan(begin, length);
    if (auto const found = hang_row(row, parents); !found.ok()) return found;
    rooted |= row[0] == 0;
  }
  if (!rooted) return {tree_fault::unreached, 0};
  for (std::size_t v = 1; v < parents.size(); ++v)
    if (parents[v] == no_node) return {tree_fault::unreached, static_cast<node_id>(v)};
  return check_parents(parents);
}

}  // namespace detail

/// Fills the parents [nodes] of the tree that a retrieve table [rows, length] describes, and says
/// whether its rows agree.
///
/// Rows may come in any order and repeat; a row of padding alone is skipped. Faults: size_mismatch
/// (the table is not whole rows), empty (`parents` is), node_range (the entry behind this node, -1
/// for the first of a row), second_root (a row that doesn't begin at the root, or goes on behind
/// its padding), bad_root (the root inside a row), two_parents, unreached, parent_order, cycle.
/// After a fault the parents hold what was found so far. Reads nothing outside the table, allocates
/// nothing, O(rows * length).
[[nodiscard]] inline tree_check parents_of_retrieve(std::span<std::int32_t const> table,
                                                    std::size_t length,
                                                    std::span<node_id> parents) {
  return detail::parents_of_table(table, length, parents);
}

/// The same for tables of 64-bit ids, as PyTorch keeps them.
[[nodiscard]] inline tree_check parents_of_retrieve(std::span<std::int64_t const> table,
                                                    std::size_t length,
                                                    std::span<node_id> parents) {
  return detail::parents_of_table(table, length, parents);
}

}  // namespace tev
