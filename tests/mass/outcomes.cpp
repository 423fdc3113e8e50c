// Hashes of masses, draws, trees and outcomes over generated requests, for run.py to compare
// between builds. Prints `name hash` lines.
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "support/all_verifiers.hpp"
#include "tev/build/expand_rerank.hpp"
#include "tev/build/level_growth.hpp"
#include "tev/build/ranked.hpp"
#include "tev/tev.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/hierarchical.hpp"
#include "tev/verify/speculative_sampling.hpp"

namespace {

struct hash {
  std::uint64_t value = 0;
  void add(std::uint64_t x) { value = (value ^ x) * 0x9E3779B97F4A7C15u + (value >> 31); }
  void add_signed(std::int64_t x) { add(static_cast<std::uint64_t>(x)); }
};

struct generator {
  std::uint64_t state;
  std::uint32_t word() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 32);
  }
  std::uint32_t below(std::uint32_t n) { return word() % n; }
};

// Sums of four words, so that a few tokens stand out; exact scaling only. Some are -infinity.
std::vector<float> generated_logits(generator& random, std::size_t count, float scale) {
  std::vector<float> logits;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t sum = 0;
    for (int k = 0; k < 4; ++k)
      sum += static_cast<std::int64_t>(random.below(1u << 20)) - (1 << 19);
    float const value = static_cast<float>(sum) * 0x1p-18f * scale;
    bool const forbidden = random.below(50) == 0;
    logits.push_back(forbidden ? -std::numeric_limits<float>::infinity() : value);
  }
  return logits;
}

tev::bfloat16 bfloat16_of(float x) {
  return {static_cast<std::uint16_t>(tev::float_bits(x) >> 16)};
}

constexpr tev::sampling_parameters settings[] = {
    {.temperature = 1.0f},
    {.temperature = 0.0f},
    {.temperature = 0.6f, .top_k = 20, .top_p = 0.95f},
    {.temperature = 2.5f, .top_p = 0.8f},
    {.temperature = 0.7f, .min_p = 0.05f},
    {.temperature = 1.3f, .top_k = 7, .top_p = 0.5f, .min_p = 0.2f},
    {.temperature = 1e-35f},
    {.temperature = 3e38f, .top_p = 0.3f},
};

constexpr std::int32_t horizon = 5;
constexpr std::int32_t budget = 12;

void add_tree(hash& h, tev::built_tree const& built) {
  for (tev::node_id v = 0; v < built.tree.size(); ++v) {
    h.add_signed(built.tree.parent(v));
    h.add_signed(built.tree.token(v));
    h.add(std::bit_cast<std::uint64_t>(built.score[static_cast<std::size_t>(v)]));
  }
}

template <class Rows>
void add_rows(hash& masses, hash& draws, hash& logarithms, Rows const& rows, std::int32_t count) {
  tev::serial_team const team;
  for (tev::node_id v = 0; v < count; ++v) {
    rows.prepare(team, v);
    masses.add(static_cast<std::uint64_t>(rows.row_status(v)));
    masses.add(rows.total(v));
    for (tev::token_id x = 0; x < rows.vocab_size(); ++x) masses.add(rows.mass(v, x));
    draws.add_signed(rows.best(team, v));
    for (std::uint64_t i = 0; i < 16 && rows.total(v) != 0; ++i) {
      std::uint64_t const r = tev::multiply_divide(rows.total(v) - 1, i, 15);
      tev::token_id const x = rows.draw(team, v, r, tev::no_tokens{});
      draws.add_signed(x);
      logarithms.add(tev::float_bits(tev::log_probability(rows, v, x)));
    }
  }
}

void add_outcome(hash& h, tev::outcome const& o) {
  h.add_signed(o.exit_node);
  h.add_signed(o.bonus_token);
  h.add_signed(o.accepted_length);
  h.add(static_cast<std::uint64_t>(o.state));
}

template <class Problem>
void add_outcomes(hash& h, Problem const& p) {
  auto const add = [&](auto const& verifier) {
    add_outcome(h, verifier(tev::serial_team{}, p, tev::philox{.seed = 11}));
  };
  tev_test::verifier_workspace space(p.tree.size());
  add(tev::greedy{});
  tev_test::for_each_verifier(
      [&](char const*, auto const& make) { add(make(tev::default_flow_unit, space)); });
}

struct hashes {
  hash masses, draws, logarithms, trees, outcomes;
};

// The trees of every builder; returns one of them.
tev::draft_tree look_at_builders(hashes& all, std::vector<float> const& logits, std::int32_t vocab,
                                 tev::sampling_parameters const& sampling) {
  tev::softmax_storage storage;
  auto const draft = storage.rows(logits.data(), horizon, vocab, vocab, sampling);
  auto const add = [&](auto const& builder) {
    add_tree(all.trees, builder(draft, horizon, budget));
  };
  add(tev::chain{});
  add(tev::expand_rerank{.top_k = 3});
  add(tev::level_growth{});
  add(tev::ranked{{0.5, 0.2, 0.1}});
  auto built = tev::best_first{}(draft, horizon, budget);
  add_tree(all.trees, built);
  return built.tree;
}

// The first rows as draft and the ones behind them as target, for tokens that the draft gives.
void look_at_chains(hashes& all, std::vector<float> const& logits, std::int32_t vocab,
                    tev::sampling_parameters const& sampling) {
  tev::softmax_storage draft_storage, target_storage;
  tev::serial_team const team;
  auto const draft = draft_storage.rows(logits.data(), horizon, vocab, vocab, sampling);
  auto const target =
      target_storage.rows(logits.data() + vocab, horizon + 1, vocab, vocab, sampling);
  std::vector<tev::token_id> drafted;
  for (tev::node_id v = 0; v < horizon; ++v) {
    draft.prepare(team, v);
    drafted.push_back(draft.draw(team, v, draft.total(v) / 3, tev::no_tokens{}));
  }
  for (std::uint32_t position = 0; position < 3; ++position) {
    tev::chain_problem<tev::softmax_rows<float>> const p{drafted.data(), horizon, target,
                                                         draft,          7u,      position};
    tev::philox const source{.seed = 12};
    add_outcome(all.outcomes, tev::speculative_sampling{}(team, p, source));
    add_outcome(all.outcomes, tev::block{}(team, p, source));
    add_outcome(all.outcomes, tev::hierarchical{}(team, p, source));
  }
}

template <class Logit>
void look_at(hashes& all, tev::draft_tree const& tree, tev::logit_rows<Logit> const& logits,
             tev::sampling_parameters const& sampling, std::uint64_t request) {
  tev::softmax_storage storage;
  auto const target = storage.rows(logits, budget + 1, sampling);
  add_rows(all.masses, all.draws, all.logarithms, target, budget + 1);
  for (std::uint32_t position = 0; position < 6; ++position)
    add_outcomes(all.outcomes, tev::problem{tree.view(), target, request, position});
}

// Rows of integer masses, whose totals are no power of two.
void look_at_masses(hashes& all, generator& random) {
  constexpr std::int32_t vocab = 40, rows = 9;
  std::vector<std::uint64_t> masses;
  for (int i = 0; i < rows * vocab; ++i)
    masses.push_back(random.below(3) == 0 ? 0 : random.word() >> random.below(32));
  tev::mass_storage<std::uint64_t> storage;
  auto const target = storage.rows(masses.data(), rows, vocab, vocab);
  auto const built = tev::best_first{}(target, 3, rows - 1);
  add_tree(all.trees, built);
  hash unused;
  add_rows(all.masses, all.draws, unused, target, rows);
  for (std::uint32_t position = 0; position < 6; ++position)
    add_outcomes(all.outcomes, tev::problem{built.tree.view(), target, 3u, position});
}

void look_at_logits(hashes& all, generator& random, std::int32_t vocab, float scale) {
  auto const size = static_cast<std::size_t>(budget + 1) * static_cast<std::size_t>(vocab);
  auto const logits = generated_logits(random, size, scale);
  std::vector<tev::bfloat16> halves;
  for (float const x : logits) halves.push_back(bfloat16_of(x));
  std::int32_t const words = tev::bitmask_words(vocab);
  std::vector<std::uint32_t> mask;
  for (int i = 0; i < (budget + 1) * words; ++i) mask.push_back(random.word() | random.word());
  auto const bias = generated_logits(random, size, 0.5f);
  tev::token_bitmask const allowed{mask.data(), words};
  tev::logit_bias const added{.rows = bias.data(), .stride = vocab};
  std::uint64_t request = 0;
  for (auto const& sampling : settings) {
    auto const tree = look_at_builders(all, logits, vocab, sampling);
    tev::logit_rows<float> rows{.logits = logits.data(), .stride = vocab, .vocab = vocab};
    look_at(all, tree, rows, sampling, ++request);
    look_at_chains(all, logits, vocab, sampling);
    rows.allowed = allowed;
    rows.bias = added;
    look_at(all, tree, rows, sampling, ++request);
    look_at(all, tree,
            tev::logit_rows<tev::bfloat16>{
                .logits = halves.data(), .stride = vocab, .vocab = vocab, .allowed = allowed},
            sampling, ++request);
  }
}

}  // namespace

int main() {
  hashes all;
  generator random{20260101};
  for (float const scale : {1.0f, 6.0f, 0x1p-12f}) {
    look_at_logits(all, random, 33, scale);
    look_at_logits(all, random, 1500, scale);
  }
  for (int i = 0; i < 40; ++i) look_at_masses(all, random);
  std::printf("masses %016" PRIx64 "\n", all.masses.value);
  std::printf("draws %016" PRIx64 "\n", all.draws.value);
  std::printf("logarithms %016" PRIx64 "\n", all.logarithms.value);
  std::printf("trees %016" PRIx64 "\n", all.trees.value);
  std::printf("outcomes %016" PRIx64 "\n", all.outcomes.value);
}
