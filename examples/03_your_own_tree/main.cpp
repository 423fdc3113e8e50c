// Verify a tree in a layout of your own: adapt it to `linked_tree` instead of copying it.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tev/tev.hpp"

namespace engine {

// What some engine has: nodes that list their children, parents before children, children in
// ascending order.
struct drafted {
  int token;
  int parent;
  std::vector<int> children;
};

// The adapter. A verifier copies its tree, so this holds a pointer.
struct tree_ref {
  std::vector<drafted> const* nodes;

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(nodes->size()); }
  [[nodiscard]] tev::node_id parent(tev::node_id v) const { return (*nodes)[v].parent; }
  [[nodiscard]] tev::token_id token(tev::node_id v) const { return (*nodes)[v].token; }
  [[nodiscard]] tev::node_id first_child(tev::node_id v) const {
    auto const& children = (*nodes)[v].children;
    return children.empty() ? tev::no_node : children.front();
  }
  [[nodiscard]] tev::node_id next_sibling(tev::node_id v) const {
    if (v == 0) return tev::no_node;
    auto const& siblings = (*nodes)[parent(v)].children;
    auto const next = std::ranges::upper_bound(siblings, v);
    return next == siblings.end() ? tev::no_node : *next;
  }
};
static_assert(tev::linked_tree<tree_ref>);

}  // namespace engine

int main() {
  std::vector<engine::drafted> const nodes{{-1, -1, {1, 2}}, {7, 0, {3}}, {4, 0, {}}, {1, 1, {}}};
  std::vector<float> logits(4 * 8, 0.0f);  // [nodes, vocabulary] from the target's forward
  logits[0 * 8 + 7] = 9.0f;                // after the root the target wants 7,
  logits[1 * 8 + 1] = 9.0f;                // then 1,
  logits[3 * 8 + 5] = 9.0f;                // then 5, which was not drafted

  tev::softmax_storage storage;
  tev::problem const problem{engine::tree_ref{&nodes}, storage.rows(logits.data(), 4, 8, 8, 1.0f)};
  auto const outcome = tev::tree_exit{}(tev::serial_team{}, problem, tev::philox{.seed = 1});
  fmt::print("accepted nodes:");
  for (auto const v : tev::path_to(problem.tree, outcome.exit_node)) fmt::print(" {}", v);
  fmt::print("\nbonus token: {}\nstatus: {}\n", outcome.bonus_token, tev::name(outcome.state));
}
