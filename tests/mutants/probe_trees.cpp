// The tree and what is derived from it, and the builder against brute force.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "probe.hpp"
#include "tev/build/best_first.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/commit.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/path.hpp"

namespace {

using namespace probe;
using tev::node_id;
using tev::token_id;

// Stable, and quicker to compile than the library's.
template <class Values, class Before>
void sort(Values& values, Before const& before) {
  for (std::size_t i = 1; i < values.size(); ++i)
    for (std::size_t k = i; k > 0 && before(values[k], values[k - 1]); --k)
      std::swap(values[k], values[k - 1]);
}

void check_builder() {
  // Every prefix, sorted by the definition. Equal masses make ties in score and depth.
  std::vector<std::uint64_t> const masses{4, 1, 4, 3, 2, 1, 4, 1, 2, 2, 2, 2};
  constexpr int vocab = 4, horizon = 3;
  struct prefix {
    fraction score;
    std::vector<int> ranks;
    std::vector<token_id> tokens;
  };
  std::vector<std::vector<token_id>> ranked;
  for (int row = 0; row < horizon; ++row) {
    std::vector<token_id> order{0, 1, 2, 3};
    sort(order, [&](int a, int b) { return masses[row * vocab + a] > masses[row * vocab + b]; });
    ranked.push_back(order);
  }
  std::vector<prefix> all{{fraction(1), {}, {}}};
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto const depth = static_cast<int>(all[k].ranks.size());
    if (depth == horizon) continue;
    std::uint64_t total = 0;
    for (int x = 0; x < vocab; ++x) total += masses[depth * vocab + x];
    for (int r = 0; r < vocab; ++r) {
      prefix next = all[k];
      next.score = next.score * fraction(masses[depth * vocab + ranked[depth][r]], total);
      next.ranks.push_back(r);
      next.tokens.push_back(ranked[depth][r]);
      all.push_back(next);
    }
  }
  sort(all, [](prefix const& a, prefix const& b) {
    if (!(a.score == b.score)) return b.score < a.score;
    if (a.ranks.size() != b.ranks.size()) return a.ranks.size() < b.ranks.size();
    return a.ranks < b.ranks;
  });
  tev::mass_storage<std::uint64_t> storage;
  for (int budget = 0; budget <= 84; ++budget) {
    auto const draft = storage.rows(masses.data(), horizon, vocab, vocab);
    auto const built = tev::best_first{}(draft, horizon, budget);
    check(built.tree.size() == budget + 1, "size of the built tree");
    for (node_id v = 0; v < built.tree.size() && !failed; ++v)
      check(tev::tokens_to(built.tree, v) == all[v].tokens, "order of the built tree");
  }
}

void check_tree() {
  auto const tree = tev::draft_tree::from_parents({-1, 0, 0, 1, 1, 4}, {-1, 7, 8, 7, 9, 7});
  check(tev::path_to(tree, 5) == std::vector<node_id>{0, 1, 4, 5}, "path to a node");
  check(tev::tokens_to(tree, 5) == std::vector<token_id>{7, 9, 7}, "tokens to a node");
  check(tev::depths(tree) == std::vector<std::int32_t>{0, 1, 1, 2, 2, 3}, "depths");
  check(tev::ancestor_mask(tree) == std::vector<std::uint32_t>{1, 3, 5, 11, 19, 51},
        "ancestor mask");
  auto const moves = tev::commit_moves(tev::path_to(tree, 5), 100);
  check(moves.size() == 2 && moves[0].from == 104 && moves[0].to == 102 && moves[1].from == 105 &&
            moves[1].to == 103,
        "moves that commit a path");
  std::vector<node_id> children;
  tev::for_each_child(tree, 1, [&](node_id c) { children.push_back(c); });
  check(children == std::vector<node_id>{3, 4}, "children in order");

  // Links that run in a circle end where they stop to increase.
  node_id const parents[] = {-1, 0, 0}, first[] = {1, -1, -1}, next[] = {-1, 2, 1};
  node_id const itself[] = {-1, 1, 2};
  token_id const tokens[] = {-1, 0, 1};
  for (auto const* siblings : {next, itself}) {
    int visits = 0;
    tev::find_child(tev::tree_view{3, parents, tokens, first, siblings}, 0,
                    [&](node_id) { return ++visits > 10; });
    check(visits <= 2, "a circle of links ends");
  }
}

}  // namespace

int main() {
  check_tree();
  check_builder();
  return finish();
}
