// A tree that counts the steps of a walk, so that one without an end is noticed.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "tev/core/types.hpp"
#include "tev/tree/view.hpp"

namespace tev_test {

/// A tree whose walks are counted: one that goes on after more steps than `steps` throws.
struct counted_tree {
  tev::tree_view tree;
  std::int32_t steps;
  mutable std::int32_t taken = 0;

  [[nodiscard]] std::int32_t size() const { return tree.size(); }
  [[nodiscard]] tev::node_id parent(tev::node_id v) const { return tree.parent(v); }
  [[nodiscard]] tev::token_id token(tev::node_id v) const { return tree.token(v); }
  [[nodiscard]] tev::node_id first_child(tev::node_id v) const {
    return count(tree.first_child(v));
  }
  [[nodiscard]] tev::node_id next_sibling(tev::node_id v) const {
    return count(tree.next_sibling(v));
  }

 private:
  [[nodiscard]] tev::node_id count(tev::node_id v) const {
    if (++taken > steps) throw std::logic_error("the walk goes on for ever");
    return v;
  }
};

}  // namespace tev_test
