// The way from the root to a node.
#pragma once

#include <algorithm>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"

namespace tev {

/// Nodes from the root to `v`, both included [depth(v) + 1]. O(depth).
template <tree Tree>
[[nodiscard]] std::vector<node_id> path_to(Tree const& t, node_id v) {
  std::vector<node_id> path;
  for (; v > 0; v = t.parent(v)) path.push_back(v);
  path.push_back(0);
  std::ranges::reverse(path);
  return path;
}

/// Drafted tokens on the way to `v`, the root's left out [depth(v)]. O(depth).
template <tree Tree>
[[nodiscard]] std::vector<token_id> tokens_to(Tree const& t, node_id v) {
  std::vector<token_id> tokens;
  for (; v > 0; v = t.parent(v)) tokens.push_back(t.token(v));
  std::ranges::reverse(tokens);
  return tokens;
}

}  // namespace tev
