// Runs benchmarks and reports each as a ratio to a read of the same memory in the same run.
//
// Machines differ and are shared, so a time says little by itself: repetitions of all benchmarks
// are interleaved at random, and medians are compared.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Name of the benchmark that the others are divided by. Its arguments have to be the first
/// arguments of whatever is compared with it.
inline constexpr char const* read_name = "read";

/// Collects all runs, then prints a table of ratios, or hands the runs, with the counter `ratio`
/// added, to the reporter of another format.
class ratio_reporter : public benchmark::BenchmarkReporter {
 public:
  explicit ratio_reporter(std::unique_ptr<benchmark::BenchmarkReporter> other = nullptr)
      : other_(std::move(other)) {}

  bool ReportContext(Context const& context) override {
    return other_ == nullptr || other_->ReportContext(context);
  }

  void ReportRuns(std::vector<Run> const& runs) override {
    for (auto const& run : runs) benchmarks_[place_of(run)].push_back(run);
  }

  void Finalize() override {
    if (other_ == nullptr) return print_table();
    for (auto& [where, runs] : benchmarks_) {
      if (auto const read = read_time(runs); read.has_value())
        for (auto& run : runs)
          if (!run.error_occurred && run.aggregate_unit == benchmark::kTime)
            run.counters["ratio"] = run.GetAdjustedRealTime() / *read;
      other_->ReportRuns(runs);
    }
    other_->Finalize();
  }

 private:
  using runs_of_one = std::vector<Run>;
  using place = std::pair<std::int64_t, std::int64_t>;

  // Where a benchmark was registered: interleaved repetitions end in any order.
  [[nodiscard]] static place place_of(Run const& run) {
    return {run.family_index, run.per_family_instance_index};
  }

  // Median over the repetitions; nothing when there is none that succeeded.
  [[nodiscard]] static std::optional<double> median_time(runs_of_one const& runs) {
    std::vector<double> times;
    for (auto const& run : runs) {
      if (run.error_occurred) return std::nullopt;
      if (run.run_type == Run::RT_Iteration) times.push_back(run.GetAdjustedRealTime());
      if (run.aggregate_name == "median") return run.GetAdjustedRealTime();
    }
    if (times.empty()) return std::nullopt;
    std::ranges::sort(times);
    std::size_t const middle = times.size() / 2;
    return times.size() % 2 != 0 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  }

  // Time of the read whose arguments these runs' arguments begin with.
  [[nodiscard]] std::optional<double> read_time(runs_of_one const& runs) const {
    std::string const arguments = runs.front().run_name.args + "/";
    for (auto const& [where, other] : benchmarks_) {
      auto const& name = other.front().run_name;
      if (name.function_name == read_name && arguments.starts_with(name.args + "/"))
        return median_time(other);
    }
    return std::nullopt;
  }

  void print_table() const {
    std::printf("%-52s %10s %8s\n", "median of interleaved repetitions", "ms", "/ read");
    for (auto const& [where, runs] : benchmarks_) {
      auto const time = median_time(runs);
      auto const read = read_time(runs);
      auto const& name = runs.front().run_name;
      std::string const label = name.function_name + "/" + name.args;
      if (!time.has_value()) {
        std::printf("%-52s %s\n", label.c_str(), runs.front().error_message.c_str());
        continue;
      }
      std::printf("%-52s %10.3f ", label.c_str(), *time);
      read.has_value() ? (void)std::printf("%8.2f", *time / *read) : (void)std::printf("%8s", "-");
      for (auto const& [key, counter] : runs.front().counters)
        std::printf("   %s %.2f", key.c_str(), counter.value);
      std::printf("\n");
    }
  }

  std::unique_ptr<benchmark::BenchmarkReporter> other_;
  std::map<place, runs_of_one> benchmarks_;
};

/// Runs the registered benchmarks; the body of a benchmark program's `main`. Takes the options of
/// Google Benchmark, `--benchmark_format=json` among them; time unit of all benchmarks: ms.
inline int run_as_ratios(int argc, char** argv) {
  std::vector<std::string> arguments{argv[0], "--benchmark_repetitions=5",
                                     "--benchmark_enable_random_interleaving=true",
                                     "--benchmark_min_time=0.05"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);

  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 1;
  std::unique_ptr<benchmark::BenchmarkReporter> chosen(benchmark::CreateDefaultDisplayReporter());
  bool const console = dynamic_cast<benchmark::ConsoleReporter*>(chosen.get()) != nullptr;
  ratio_reporter reporter(console ? nullptr : std::move(chosen));
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return 0;
}

}  // namespace bench
