// Summaries of all rows under each filter, on flat and on peaked rows.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/noise.hpp"
#include "../common/ratio.hpp"
#include "../common/read.hpp"
#include "tev/tev.hpp"

namespace {

constexpr std::int32_t row_count = 65;
constexpr std::int32_t vocab = 151936;

// Normal logits of deviation 2.5 with one token of each row at `maximum`.
std::vector<float> rows_with_maximum(float maximum) {
  auto logits = bench::normal_logits(row_count, vocab, 2.5, 3);
  for (std::int32_t row = 0; row < row_count; ++row)
    logits[static_cast<std::size_t>(row) * vocab + 1000 * (row + 1)] = maximum;
  return logits;
}

void summarise_all(benchmark::State& state, std::vector<float> const& logits,
                   tev::sampling_parameters const& sampling) {
  tev::softmax_storage storage;
  for (auto _ : state) {
    auto const rows = storage.rows(logits.data(), row_count, vocab, vocab, sampling);
    tev::prepare_all(tev::serial_team{}, rows, row_count);
    benchmark::DoNotOptimize(rows.total(row_count - 1));
  }
}

void add(std::string const& name, auto body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->ArgNames({"rows", "vocab"})
      ->Args({row_count, vocab})
      ->Iterations(1)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  struct filter {
    char const* name;
    tev::sampling_parameters sampling;
  };
  constexpr float temperature = 0.6f;
  std::vector<filter> const filters{
      {"unfiltered", {.temperature = temperature}},
      {"top_k 20, top_p 0.95", {.temperature = temperature, .top_k = 20, .top_p = 0.95f}},
      {"top_p 0.95", {.temperature = temperature, .top_p = 0.95f}},
      {"min_p 0.05", {.temperature = temperature, .min_p = 0.05f}},
      {"greedy", {.temperature = 0.0f}},
  };
  struct kind {
    char const* name;
    std::vector<float> logits;
  };
  std::vector<kind> const kinds{{"flat", rows_with_maximum(14.0f)},
                                {"peaked", rows_with_maximum(28.0f)}};
  add(bench::read_name, [&](benchmark::State& s) {
    for (auto _ : s) benchmark::DoNotOptimize(bench::read_once(kinds[0].logits));
  });
  for (auto const& k : kinds)
    for (auto const& f : filters)
      add(std::string(k.name) + ": " + f.name,
          [&](benchmark::State& s) { summarise_all(s, k.logits, f.sampling); });
  return bench::run_as_ratios(argc, argv);
}
