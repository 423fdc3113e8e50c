// Raw logits in, accepted tokens out: every verifier on one tree with one seed.
#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "tev/tev.hpp"

namespace {

constexpr std::int32_t vocab = 6;
// A stand-in for the model: the logits of the next token depend on the last one alone.
constexpr float model[vocab][vocab] = {
    {0.0f, 3.0f, 1.0f, 0.5f, 0.0f, 0.0f}, {0.5f, 0.0f, 2.5f, 2.0f, 0.0f, 0.0f},
    {0.0f, 1.0f, 0.0f, 3.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f, 0.0f, 3.0f, 2.0f},
    {2.0f, 0.0f, 0.0f, 0.0f, 0.0f, 2.0f}, {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f}};

// Verifies `tree` below the token `last`, which stands at `position`, and returns the new tokens.
template <class Verifier>
std::vector<tev::token_id> step(Verifier const& verify, tev::draft_tree const& tree,
                                tev::token_id last, std::uint32_t position) {
  std::vector<float> logits;  // [nodes, vocab], what one forward over the tree would give
  for (tev::node_id v = 0; v < tree.size(); ++v) {
    auto const& row = model[v == 0 ? last : tree.token(v)];
    logits.insert(logits.end(), row, row + vocab);
  }
  tev::softmax_storage storage;
  auto const target = storage.rows(logits.data(), tree.size(), vocab, vocab, 1.0f);
  tev::problem const problem{tree.view(), target, 0, position};
  tev::outcome const outcome = verify(tev::serial_team{}, problem, tev::philox{.seed = 2026});
  auto tokens = tev::tokens_to(tree, outcome.exit_node);
  if (outcome.state == tev::status::ok) tokens.push_back(outcome.bonus_token);
  return tokens;
}

void print(std::string_view name, std::vector<tev::token_id> const& tokens) {
  fmt::print("{:<20}", name);
  for (auto const token : tokens) fmt::print(" {}", token);
  fmt::print("\n");
}

}  // namespace

int main() {
  std::vector<std::vector<tev::token_id>> const paths{{1, 2, 3, 4}, {1, 3, 4}, {2, 3}};
  auto const tree = tev::draft_tree::from_paths(paths);
  print("tree_exit", step(tev::tree_exit{}, tree, 0, 7));
  print("sequential_residual", step(tev::sequential_residual{}, tree, 0, 7));
  print("greedy", step(tev::greedy{}, tree, 0, 7));
  auto const accepted = step(tev::predraw{}, tree, 0, 7);
  print("predraw", accepted);
  // Without a drafted token the same verifier is the plain sampler, one token a forward.
  std::vector<tev::token_id> sampled;
  for (std::uint32_t i = 0; i < accepted.size(); ++i)
    sampled.push_back(step(tev::predraw{}, {}, i == 0 ? 0 : sampled.back(), 7 + i)[0]);
  print("plain sampling", sampled);
  return sampled == accepted ? 0 : 1;
}
