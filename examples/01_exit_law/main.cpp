// The exit law of a five-node tree: where a continuation of the target leaves it, and how often.
#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tev/tev.hpp"

int main() {
  // Drafted: "4 2", "4 3" and "1"; node 0 is the root and carries no drafted token.
  std::vector<std::vector<tev::token_id>> const paths{{4, 2}, {4, 3}, {1}};
  auto const tree = tev::draft_tree::from_paths(paths);

  // The target's masses of the next token after each node: [nodes, vocabulary]. Rows need not be
  // normalised; only the share of a row's total counts.
  constexpr std::int32_t vocab = 5;
  std::vector<std::uint64_t> const masses{
      0, 2, 1, 1, 6,  // the root: tokens 4 and 1 are drafted, 8 of 10 stay in the tree
      1, 0, 5, 2, 0,  // after 4: tokens 2 and 3 are drafted
      1, 1, 1, 1, 1,  // after 4 2, a leaf
      3, 0, 0, 0, 1,  // after 4 3, a leaf
      0, 0, 0, 0, 7,  // after 1, a leaf
  };
  tev::mass_storage<std::uint64_t> storage;
  auto const target = storage.rows(masses.data(), tree.size(), vocab, vocab);
  for (tev::node_id v = 0; v < tree.size(); ++v) target.prepare(tev::serial_team{}, v);

  auto const law = tev::exit_law_of(tree, target);
  fmt::print("node  tokens    reach  local exit  exit law\n");
  double sum = 0;
  for (tev::node_id v = 0; v < tree.size(); ++v) {
    std::string tokens;
    for (auto const token : tev::tokens_to(tree, v)) tokens += fmt::format("{} ", token);
    fmt::print("{:>4}  {:<6}  {:>7.3f}  {:>10.3f}  {:>8.3f}\n", v, v == 0 ? "root" : tokens,
               law.reach[v], law.local_exit[v], law.exit[v]);
    sum += law.exit[v];
  }
  fmt::print("\nThe exit law sums to {:.3f}.\n", sum);
  fmt::print("Coverage, the expected accepted length: {:.3f}.\n", law.coverage);
  fmt::print("With the bonus token a target forward yields {:.3f} tokens.\n", 1 + law.coverage);

  auto const lengths = tev::accepted_length_distribution(tree, law);
  for (std::size_t d = 0; d < lengths.size(); ++d)
    fmt::print("  {} accepted with probability {:.3f}\n", d, lengths[d]);
}
