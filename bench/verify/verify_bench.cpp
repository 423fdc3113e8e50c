// One verifier decision over a tree's raw logits, as a ratio to one read of all of them.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../common/noise.hpp"
#include "../common/ratio.hpp"
#include "../common/read.hpp"
#include "tev/tev.hpp"

namespace {

constexpr double deviation = 2.5;
constexpr int requests = 32;

// A binary tree of `nodes` nodes and logits [nodes, vocab] whose planted maxima give the first
// child of a node about 0.6 of its row and the second 0.25: walks go a few nodes deep.
struct instance {
  tev::draft_tree tree;
  std::vector<float> logits;
  std::int32_t nodes;
  std::int32_t vocab;

  instance(std::int32_t n, std::int32_t v)
      : logits(bench::normal_logits(n, v, deviation, 1)), nodes(n), vocab(v) {
    double const log_rest = std::log(v) + deviation * deviation / 2;
    std::vector<tev::node_id> parents{tev::no_node};
    std::vector<tev::token_id> tokens{tev::no_token};
    for (tev::node_id node = 1; node < n; ++node) {
      tev::node_id const parent = (node - 1) / 2;
      bool const first = node % 2 != 0;
      auto const token =
          static_cast<tev::token_id>((std::int64_t{parent} * 7919 + (first ? 0 : v / 2)) % v);
      parents.push_back(parent);
      tokens.push_back(token);
      logits[static_cast<std::size_t>(parent) * v + token] =
          static_cast<float>(log_rest + std::log((first ? 0.6 : 0.25) / 0.15));
    }
    tree = tev::draft_tree::from_parents(std::move(parents), std::move(tokens));
  }
};

// Makes each instance once, when it is first asked for.
class instances {
 public:
  instance const& of(benchmark::State const& state) {
    auto const nodes = static_cast<std::int32_t>(state.range(0));
    auto const vocab = static_cast<std::int32_t>(state.range(1));
    return made_.try_emplace({nodes, vocab}, nodes, vocab).first->second;
  }

 private:
  std::map<std::pair<std::int32_t, std::int32_t>, instance> made_;
};

template <class Verifier>
void decide(benchmark::State& state, instance const& data, Verifier const& verify,
            float temperature) {
  tev::softmax_storage storage;
  std::uint64_t request = 0;
  std::int64_t accepted = 0;
  for (auto _ : state) {
    tev::problem const problem{
        .tree = data.tree.view(),
        .target = storage.rows(data.logits.data(), data.nodes, data.vocab, data.vocab, temperature),
        .request = request++ % requests,
        .position = 100};
    tev::outcome const outcome = verify(tev::serial_team{}, problem, tev::philox{.seed = 1});
    if (outcome.state != tev::status::ok) state.SkipWithError(tev::name(outcome.state));
    accepted += outcome.accepted_length;
  }
  state.counters["accepted"] =
      static_cast<double>(accepted) / static_cast<double>(state.iterations());
}

void decide_eagerly(benchmark::State& state, instance const& data) {
  std::vector<tev::token_id> drawn(static_cast<std::size_t>(data.nodes));
  std::vector<std::int32_t> depth(static_cast<std::size_t>(data.nodes));
  decide(state, data, tev::predraw_eager{.drawn = drawn.data(), .depth = depth.data()}, 1.0f);
}

void summarise_all(benchmark::State& state, instance const& data) {
  tev::softmax_storage storage;
  for (auto _ : state) {
    auto const rows = storage.rows(data.logits.data(), data.nodes, data.vocab, data.vocab, 1.0f);
    for (tev::node_id v = 0; v < data.nodes; ++v) rows.prepare(tev::serial_team{}, v);
    benchmark::DoNotOptimize(rows.total(data.nodes - 1));
  }
}

// A lazy verifier's time depends on where its walk goes, so it runs every request once.
template <class Body>
void add(std::string const& name, int iterations, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->ArgNames({"nodes", "vocab"})
      ->Args({65, 151936})
      ->Iterations(iterations)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  instances data;
  add(bench::read_name, 8, [&](benchmark::State& s) {
    auto const& logits = data.of(s).logits;
    for (auto _ : s) benchmark::DoNotOptimize(bench::read_once(logits));
  });
  add("all_row_summaries", 1, [&](benchmark::State& s) { summarise_all(s, data.of(s)); });
  add("tree_exit", requests,
      [&](benchmark::State& s) { decide(s, data.of(s), tev::tree_exit{}, 1.0f); });
  add("predraw", requests,
      [&](benchmark::State& s) { decide(s, data.of(s), tev::predraw{}, 1.0f); });
  add("predraw_eager", 1, [&](benchmark::State& s) { decide_eagerly(s, data.of(s)); });
  add("sequential_residual", requests,
      [&](benchmark::State& s) { decide(s, data.of(s), tev::sequential_residual{}, 1.0f); });
  add("greedy_temperature_0", requests,
      [&](benchmark::State& s) { decide(s, data.of(s), tev::greedy{}, 0.0f); });
  return bench::run_as_ratios(argc, argv);
}
