// Building the best tree of a budget from raw draft logits, as a ratio to one read of them. Fifteen
// rows stay in the cache of many machines, and so does what the read reads.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../common/noise.hpp"
#include "../common/ratio.hpp"
#include "../common/read.hpp"
#include "tev/tev.hpp"

namespace {

constexpr std::int32_t horizon = 15;
constexpr std::int32_t vocab = 151936;

void build(benchmark::State& state, std::vector<float> const& logits) {
  auto const budget = static_cast<std::int32_t>(state.range(2));
  tev::softmax_storage storage;
  std::int32_t nodes = 0;
  for (auto _ : state) {
    auto const draft = storage.rows(logits.data(), horizon, vocab, vocab, 1.0f);
    nodes = tev::best_first{}(draft, horizon, budget).tree.size() - 1;
    benchmark::DoNotOptimize(nodes);
  }
  if (nodes != budget) state.SkipWithError("the tree is smaller than its budget");
}

void summarise_all(benchmark::State& state, std::vector<float> const& logits) {
  tev::softmax_storage storage;
  for (auto _ : state) {
    auto const rows = storage.rows(logits.data(), horizon, vocab, vocab, 1.0f);
    for (std::int32_t row = 0; row < horizon; ++row) rows.prepare(tev::serial_team{}, row);
    benchmark::DoNotOptimize(rows.total(horizon - 1));
  }
}

benchmark::internal::Benchmark* add(std::string const& name, auto body) {
  return benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  // Rows as sharp as a drafter's: one token in each row stands out.
  auto logits = bench::normal_logits(horizon, vocab, 2.5, 2);
  for (std::int32_t row = 0; row < horizon; ++row)
    logits[static_cast<std::size_t>(row) * vocab + 1000 * (row + 1)] = 15.0f;

  add(bench::read_name,
      [&](benchmark::State& s) {
        for (auto _ : s) benchmark::DoNotOptimize(bench::read_once(logits));
      })
      ->ArgNames({"rows", "vocab"})
      ->Args({horizon, vocab});
  add("all_row_summaries", [&](benchmark::State& s) { summarise_all(s, logits); })
      ->ArgNames({"rows", "vocab"})
      ->Args({horizon, vocab});
  add("best_first", [&](benchmark::State& s) { build(s, logits); })
      ->ArgNames({"rows", "vocab", "budget"})
      ->ArgsProduct({{horizon}, {vocab}, {16, 32, 64, 128, 256}});
  return bench::run_as_ratios(argc, argv);
}
