// Rotary frequencies, tables and rotation against double arithmetic.

#include "llm/rotary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "model_support.hpp"

namespace {

using llm_test::floats;

TEST(Rotary, HasTheFrequenciesOfItsTheta) {
  for (double theta : {1e4, 1e6, 5e6, 1e7}) {
    auto const frequencies = llm::rotary_frequencies(theta, 128);
    ASSERT_EQ(frequencies.size(), 64U);
    EXPECT_EQ(frequencies[0], 1.0F);
    for (int i = 0; i < 64; ++i) {
      double const truth = std::pow(theta, -2.0 * i / 128);
      EXPECT_NEAR(frequencies[static_cast<std::size_t>(i)], truth, truth * 0x1p-22) << i;
    }
  }
}

TEST(Rotary, RoundsAnglesToSinglePrecisionBeforeTheSine) {
  std::vector<float> const frequencies = llm::rotary_frequencies(1e6, 32);
  std::vector<std::int32_t> const positions{0, 1, 17, 511, 40959, (1 << 24) - 1};
  floats cosines(6 * 16), sines(6 * 16);
  llm::fill_rotary(frequencies, positions, cosines.data(), sines.data());
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t i = 0; i < 16; ++i) {
      float const angle = static_cast<float>(positions[row]) * frequencies[i];
      EXPECT_NEAR(cosines[row * 16 + i], std::cos(double{angle}), 6e-8);
      EXPECT_NEAR(sines[row * 16 + i], std::sin(double{angle}), 6e-8);
    }
  }
}

TEST(Rotary, TurnsDimensionIWithDimensionIPlusHalf) {
  floats x{1, 2, 3, 4, 5, 6};
  floats const cosines{0.6F, 1.0F, 0.0F}, sines{0.8F, 0.0F, 1.0F};
  llm::rotate(x.data(), cosines.data(), sines.data(), 3);
  floats const expected{0.6F - 3.2F, 2, -6, 2.4F + 0.8F, 5, 3};
  EXPECT_LT(llm_test::largest_difference(x, expected), 1e-6);
}

TEST(Rotary, MakesScoresDependOnDistanceAlone) {
  std::mt19937 source(1);
  auto const frequencies = llm::rotary_frequencies(1e4, 16);
  floats const query = llm_test::random_floats(source, 16),
               key = llm_test::random_floats(source, 16);
  auto const score = [&](std::int32_t at_query, std::int32_t at_key) {
    floats q = query, k = key, cosines(8), sines(8);
    llm::fill_rotary(frequencies, {&at_query, 1}, cosines.data(), sines.data());
    llm::rotate(q.data(), cosines.data(), sines.data(), 8);
    llm::fill_rotary(frequencies, {&at_key, 1}, cosines.data(), sines.data());
    llm::rotate(k.data(), cosines.data(), sines.data(), 8);
    double sum = 0;
    for (std::size_t i = 0; i < 16; ++i) sum += double{q[i]} * k[i];
    return sum;
  };
  EXPECT_NEAR(score(7, 3), score(104, 100), 1e-4);
  EXPECT_GT(std::abs(score(7, 3) - score(7, 5)), 1e-3);
}

}  // namespace
