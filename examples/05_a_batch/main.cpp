// What an engine calls: requests of different sizes and parameters, in arrays that it owns.
#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tev/tev.hpp"

int main() {
  // Three requests one behind the other: a tree of four nodes, a lone root, a chain of three.
  std::vector<std::int32_t> const node_offset{0, 4, 5, 8};
  std::vector<tev::node_id> const parents{-1, 0, 0, 1, -1, -1, 0, 1};
  std::vector<tev::token_id> const tokens{-1, 3, 1, 2, -1, -1, 2, 2};

  // Raw logits of all nodes: bf16, rows of 5 tokens that lie 8 apart.
  constexpr std::int32_t vocab = 5, stride = 8;
  std::vector<tev::bfloat16> logits(8 * stride);
  for (std::size_t node = 0; node < 8; ++node)
    for (std::size_t x = 0; x < vocab; ++x)
      logits[node * stride + x] = {static_cast<std::uint16_t>(0x3f80 + 32 * ((node + x) % 4))};

  // Each request has its own parameters, and its own seed. The second one's cannot be meant.
  std::vector<float> const temperature{0.7f, -1.0f, 0.0f}, top_p{0.9f, 1.0f, 1.0f};
  std::vector<std::int32_t> const top_k{3, 0, 0};
  std::vector<std::uint64_t> const seed{12, 34, 56};
  std::vector<std::uint32_t> const position{100, 200, 300};
  std::vector<std::int64_t> const remaining{50, 50, 2};

  tev::batch_input<tev::bfloat16> batch;
  batch.trees.requests = 3;
  batch.trees.node_offset = node_offset.data();
  batch.trees.parents = parents.data();
  batch.trees.tokens = tokens.data();
  batch.logits = {.logits = logits.data(), .stride = stride, .vocab = vocab};
  batch.row_count = 8;
  batch.parameters.temperature = temperature.data();
  batch.parameters.top_p = top_p.data();
  batch.parameters.top_k = top_k.data();
  batch.parameters.seed = seed.data();
  batch.parameters.position = position.data();
  batch.parameters.remaining = remaining.data();

  // Room for outcomes and scratch is the caller's; the call itself allocates nothing.
  tev::outcome_storage outcomes(3, 4);
  std::vector<std::byte> workspace(tev::workspace_size(batch));
  tev::verify_batch(tev::tree_exit{}, batch, outcomes.view(), workspace);

  for (std::size_t b = 0; b < 3; ++b) {
    fmt::print("request {}: {}, {} accepted, emitted", b, tev::name(outcomes.state[b]),
               outcomes.accepted_length[b]);
    for (std::int32_t i = 0; i < outcomes.emitted_count[b]; ++i)
      fmt::print(" {}", outcomes.emitted[4 * b + static_cast<std::size_t>(i)]);
    fmt::print("; keep {} cache rows, moves", outcomes.cache_rows[b]);
    for (std::int32_t i = 0; i < outcomes.move_count[b]; ++i) {
      auto const& move = outcomes.moves[4 * b + static_cast<std::size_t>(i)];
      fmt::print(" {}->{}", move.from, move.to);
    }
    fmt::print("; finish: {}\n", tev::name(outcomes.reason[b]));
  }
}
