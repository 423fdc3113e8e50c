// Write a verifier of your own, and prove it with the suite that the library's own have to pass.
#include <fmt/core.h>

#include <cstdint>
#include <string_view>

#include "support/verifier_suite.hpp"
#include "tev/tev.hpp"

namespace {

// Children first: the vocabulary is put in another order, the node's children before all other
// tokens, and one number picks from it. A number among the children names the child, and any other
// the bonus token. One uniform per position, and the vocabulary is read once, at the exit.
struct children_first {
  template <tev::team Team, class Problem, tev::uniform_source Source>
    requires tev::drawable<typename Problem::target_type, Team>
  tev::outcome operator()(Team const& team, Problem const& p, Source const& source) const {
    tev::node_id v = 0;
    for (std::int32_t depth = 0;; ++depth) {
      p.target.prepare(team, v);
      tev::status const state = p.target.row_status(v);
      if (state != tev::status::ok) return {v, tev::no_token, depth, state};

      tev::decision const what = tev::decision_after(p, depth, tev::purpose::token);
      std::uint64_t r = source.below(what, p.target.total(v));
      tev::node_id const child = tev::find_child(p.tree, v, [&](tev::node_id c) {
        std::uint64_t const mass = p.target.mass(v, p.tree.token(c));
        if (r < mass) return true;
        r -= mass;
        return false;
      });
      if (child == tev::no_node) return exit_at(team, p, v, depth, r);
      v = child;
    }
  }

 private:
  template <class Team, class Problem>
  static tev::outcome exit_at(Team const& team, Problem const& p, tev::node_id v,
                              std::int32_t depth, std::uint64_t r) {
    tev::child_tokens<typename Problem::tree_type> const children{p.tree, v};
    tev::token_id const token = p.target.draw(team, v, r, children);
    return {v, token, depth, token == tev::no_token ? tev::status::no_mass : tev::status::ok};
  }
};

// Samples the root and looks at no child. The text is the target's, but the tree was for nothing.
struct root_only {
  template <class Team, class Problem, class Source>
  tev::outcome operator()(Team const& team, Problem const& p, Source const& source) const {
    tev::token_id const token = tev::predrawn_token(team, p, source, 0, 0);
    return {0, token, 0, token == tev::no_token ? tev::status::no_mass : tev::status::ok};
  }
};

bool proved(std::string_view name, tev_test::suite_report const& found) {
  fmt::print("{}: {} laws over {} outcomes\n", name, found.laws, found.outcomes);
  for (auto const& fault : found.faults) fmt::print("  {}\n", fault.substr(0, fault.find('\n')));
  return found.passed();
}

}  // namespace

int main() {
  bool const own =
      proved("children_first", tev_test::run_verifier_suite([](auto) { return children_first{}; }));
  bool const idle =
      proved("root_only", tev_test::run_verifier_suite([](auto) { return root_only{}; }));
  return own && !idle ? 0 : 1;
}
