// Coverage is the truth: what verifiers accept is what the exit law says they accept.
// ctest-timeout: 600
// ctest-optimised
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include "llm/decoder.hpp"
#include "support/bundled.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"

namespace {

// Sums over decoding cycles of accepted length D, coverage C and the variance of D, before any
// stop or length cut.
struct tally {
  std::int64_t cycles = 0;
  std::int64_t unequal = 0;
  double accepted = 0;
  double coverage = 0;
  double variance = 0;

  void add(llm::cycle const& c) {
    if (c.index == 0) return;
    tev::prepare_all(tev::serial_team{}, c.rows, c.tree.size());
    auto const law = tev::exit_law_of(c.tree, c.rows);
    ++cycles;
    accepted += c.outcome.accepted_length;
    coverage += law.coverage;
    variance += tev::accepted_length_variance(c.tree, law);
    unequal += c.outcome.accepted_length != law.coverage ? 1 : 0;
  }
};

tally decode_all(tev::test::bundled_models const& models, llm::verifier verify, float temperature,
                 std::size_t texts) {
  auto const prompts = models.prompts();
  tally sum;
  std::mutex mutex;
  tev::test::for_each_index(texts, [&](std::size_t i, llm::thread_pool& pool) {
    auto options = models.options();
    options.verify = verify;
    options.sampling.temperature = temperature;
    options.budget = 16;
    options.request = i;
    (void)llm::decode(models.target, &models.base, prompts[i % prompts.size()], options, pool,
                      [&](llm::cycle const& c) {
                        std::scoped_lock const lock(mutex);
                        sum.add(c);
                      });
  });
  return sum;
}

// D - C is a martingale difference, so the sum's variance is the sum of the variances; 3.5 standard
// deviations are exceeded once in 2,000 times, and the seed is fixed.
TEST(Coverage, IsTheMeanAcceptedLengthOfEveryExactVerifier) {
  tev::test::bundled_models const models;
  for (auto const verify :
       {llm::verifier::tree_exit, llm::verifier::predraw, llm::verifier::sequential_residual})
    for (float const temperature : {0.6f, 1.0f}) {
      auto const sum = decode_all(models, verify, temperature, 360);
      double const deviations = (sum.accepted - sum.coverage) / std::sqrt(sum.variance);
      auto const cycles = static_cast<double>(sum.cycles);
      std::printf("%s at %.1f: %ld cycles, tau %.4f, 1 + C %.4f, %.2f standard deviations\n",
                  llm::name(verify).data(), static_cast<double>(temperature),
                  static_cast<long>(sum.cycles), 1 + sum.accepted / cycles,
                  1 + sum.coverage / cycles, deviations);
      EXPECT_GE(sum.cycles, 2000);
      EXPECT_LE(std::abs(deviations), 3.5);
    }
}

TEST(Coverage, IsTheAcceptedLengthOfEveryCycleAtTemperatureZero) {
  tev::test::bundled_models const models;
  for (auto const verify : llm::all_verifiers) {
    auto const sum = decode_all(models, verify, 0.0f, 128);
    EXPECT_GE(sum.cycles, 500);
    EXPECT_EQ(sum.unequal, 0);
    EXPECT_EQ(sum.variance, 0.0);
  }
}

}  // namespace
