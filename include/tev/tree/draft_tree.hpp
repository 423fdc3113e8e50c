// A draft tree that owns its arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/links.hpp"
#include "tev/tree/validate.hpp"
#include "tev/tree/view.hpp"

namespace tev {

/// An owning, always valid linked tree. The empty constructor makes a lone root.
class draft_tree {
 public:
  draft_tree() : draft_tree({no_node}, {no_token}) {}

  /// From one parent and one token per node; parents[0] is -1, parents stand before children.
  /// Throws `argument_error` naming the first fault and its node.
  [[nodiscard]] static draft_tree from_parents(std::vector<node_id> parents,
                                               std::vector<token_id> tokens) {
    auto const check = validate({.parents = parents, .tokens = tokens});
    require(check.ok(), std::string("draft_tree: ") + name(check.fault) + " at node " +
                            std::to_string(check.node));
    return {std::move(parents), std::move(tokens)};
  }

  /// From the drafted token paths [any number, any lengths]; prefixes are implied and shared.
  /// Nodes are numbered in the order in which the paths first reach them.
  [[nodiscard]] static draft_tree from_paths(std::span<std::vector<token_id> const> paths) {
    draft_tree t;
    for (auto const& path : paths) {
      node_id v = 0;
      for (token_id const token : path) v = t.child_or_append(v, token);
    }
    return from_parents(std::move(t.parents_), std::move(t.tokens_));
  }

  /// From a set of drafted token paths, whatever their order: the nodes are sorted by length, then
  /// by path. Prefixes are implied, equal paths are one node. O(total length log children).
  [[nodiscard]] static draft_tree from_path_set(std::span<std::vector<token_id> const> paths) {
    auto const t = from_paths(paths);
    // Level by level, children by token: among equally long paths that is their order.
    std::vector<node_id> order{0}, parents{no_node};
    std::vector<token_id> tokens{no_token};
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::size_t const first = order.size();
      for_each_child(t, order[i], [&](node_id child) { order.push_back(child); });
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
                [&](node_id a, node_id b) { return t.token(a) < t.token(b); });
      parents.resize(order.size(), static_cast<node_id>(i));
      for (std::size_t k = first; k < order.size(); ++k) tokens.push_back(t.token(order[k]));
    }
    return from_parents(std::move(parents), std::move(tokens));
  }

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(parents_.size()); }
  [[nodiscard]] node_id parent(node_id v) const { return parents_[v]; }
  [[nodiscard]] token_id token(node_id v) const { return tokens_[v]; }
  [[nodiscard]] node_id first_child(node_id v) const { return first_child_[v]; }
  [[nodiscard]] node_id next_sibling(node_id v) const { return next_sibling_[v]; }

  [[nodiscard]] std::span<node_id const> parents() const { return parents_; }  ///< [size]
  [[nodiscard]] std::span<token_id const> tokens() const { return tokens_; }   ///< [size]

  /// The same tree without ownership; valid until this one is moved from, assigned or destroyed.
  [[nodiscard]] tree_view view() const {
    return {size(), parents_.data(), tokens_.data(), first_child_.data(), next_sibling_.data()};
  }

  /// Links follow from the parents.
  friend bool operator==(draft_tree const& a, draft_tree const& b) {
    return a.parents_ == b.parents_ && a.tokens_ == b.tokens_;
  }

 private:
  draft_tree(std::vector<node_id> parents, std::vector<token_id> tokens)
      : parents_(std::move(parents)),
        tokens_(std::move(tokens)),
        first_child_(parents_.size()),
        next_sibling_(parents_.size()) {
    link_children(parents_, first_child_, next_sibling_);
  }

  node_id child_or_append(node_id v, token_id token) {
    node_id const found = find_child(*this, v, [&](node_id c) { return tokens_[c] == token; });
    if (found != no_node) return found;
    node_id const added = size();
    node_id last = no_node;
    for_each_child(*this, v, [&](node_id c) { last = c; });
    (last == no_node ? first_child_[v] : next_sibling_[last]) = added;
    parents_.push_back(v);
    tokens_.push_back(token);
    first_child_.push_back(no_node);
    next_sibling_.push_back(no_node);
    return added;
  }

  std::vector<node_id> parents_;
  std::vector<token_id> tokens_;
  std::vector<node_id> first_child_;
  std::vector<node_id> next_sibling_;
};

static_assert(linked_tree<draft_tree>);

}  // namespace tev
