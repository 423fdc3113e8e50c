// Error bounds of the elementary functions, and equal bits in scalar and lane form.

#include "llm/math.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "llm/lanes.hpp"

namespace {

/// Calls `check` with one in `stride` of all floats, both signs.
template <class Check>
void every_float(std::uint32_t stride, Check&& check) {
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
    float const x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(x)) check(x);
  }
}

TEST(Exp, IsWithinOneUnitInTheLastPlaceOfTheTruth) {
  double worst = 0;
  auto const check = [&](float x) {
    long double const truth = std::exp(static_cast<long double>(x));
    float const found = llm::exp(x);
    if (truth < std::numeric_limits<float>::min() || truth > std::numeric_limits<float>::max()) {
      return;
    }
    worst = std::max(worst, static_cast<double>(std::abs((found - truth) / truth)));
  };
  every_float(997, check);
  for (float x = -87.3365F; x < 88.7228F; x += 0.00037F) check(x);
  EXPECT_LT(worst, 0x1p-23);
  EXPECT_GT(worst, 0x1p-26);  // the sample holds results that had to be rounded
}

TEST(Exp, KnowsItsEnds) {
  float const infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(llm::exp(0.0F), 1.0F);
  EXPECT_EQ(llm::exp(-0.0F), 1.0F);
  EXPECT_EQ(llm::exp(-infinity), 0.0F);
  EXPECT_EQ(llm::exp(-88.0F), 0.0F);
  EXPECT_EQ(llm::exp(-3e38F), 0.0F);
  EXPECT_EQ(llm::exp(infinity), infinity);
  EXPECT_EQ(llm::exp(89.0F), infinity);
  EXPECT_TRUE(std::isfinite(llm::exp(88.7228F)));
  EXPECT_TRUE(std::isnan(llm::exp(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(llm::exp(std::bit_cast<float>(0xffc00001U))));
}

TEST(Exp, NeverDecreasesOnTheNegativeAxisByMoreThanRounding) {
  float last = 0;
  for (float x = -87.0F; x < 0; x += 0.00113F) {
    float const found = llm::exp(x);
    EXPECT_GE(found, last) << x;
    last = found;
  }
}

template <class Function>
void expect_lanes_equal_scalars(Function&& function) {
  llm::lanes x{};
  int filled = 0;
  std::int64_t different = 0;
  every_float(4099, [&](float value) {
    x[filled++] = value;
    if (filled < 8) return;
    filled = 0;
    llm::lanes const found = function(x);
    for (int i = 0; i < 8; ++i) {
      if (std::bit_cast<std::uint32_t>(float{found[i]}) !=
          std::bit_cast<std::uint32_t>(function(float{x[i]}))) {
        different += std::isnan(found[i]) && std::isnan(function(float{x[i]})) ? 0 : 1;
      }
    }
  });
  EXPECT_EQ(different, 0);
}

TEST(Exp, GivesTheSameBitsInLanes) {
  expect_lanes_equal_scalars([](auto x) { return llm::exp(x); });
}

TEST(Silu, GivesTheSameBitsInLanes) {
  expect_lanes_equal_scalars([](auto x) { return llm::silu(x); });
}

TEST(Silu, IsCloseToTheTruth) {
  for (float x = -80.0F; x < 100.0F; x += 0.0103F) {
    double const truth = double{x} / (1.0 + std::exp(-double{x}));
    EXPECT_NEAR(llm::silu(x), truth, std::abs(truth) * 0x1p-21) << x;
  }
  EXPECT_EQ(llm::silu(0.0F), 0.0F);
  EXPECT_EQ(llm::silu(-200.0F), 0.0F);
  EXPECT_EQ(llm::silu(200.0F), 200.0F);
}

TEST(SinCos, RoundsTheTruthOverTheAnglesOfTheBundledModels) {
  auto const check = [](float angle) {
    auto const found = llm::sin_cos(angle);
    long double const sine = std::sin(static_cast<long double>(angle));
    long double const cosine = std::cos(static_cast<long double>(angle));
    EXPECT_NEAR(found.sine, static_cast<double>(sine),
                std::abs(static_cast<double>(sine)) * 0x1.001p-24)
        << angle;
    EXPECT_NEAR(found.cosine, static_cast<double>(cosine),
                std::abs(static_cast<double>(cosine)) * 0x1.001p-24)
        << angle;
  };
  for (float angle = 0; angle < 520; angle += 0.0131F) check(angle);
  for (int i = 0; i < 512; ++i) check(static_cast<float>(i));
  for (float angle = 1e-30F; angle < 6e7F; angle *= 1.0137F) {
    check(angle);
    check(-angle);
  }
}

TEST(SinCos, IsExactAtZero) {
  EXPECT_EQ(llm::sin_cos(0.0F).sine, 0.0F);
  EXPECT_EQ(llm::sin_cos(0.0F).cosine, 1.0F);
}

TEST(Log, IsCloseToTheTruth) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    double const truth = static_cast<double>(std::log(static_cast<long double>(x)));
    EXPECT_NEAR(llm::log(x), truth, std::abs(truth) * 0x1p-48 + 0x1p-53) << x;
  }
  EXPECT_EQ(llm::log(1.0), 0.0);
}

TEST(Power, IsCloseToTheTruth) {
  for (double base : {2.0, 1e4, 5e5, 1e6, 5e6, 1e7, 0.3}) {
    for (double exponent = -1; exponent < 1; exponent += 0.0078125) {
      auto const truth = static_cast<double>(
          std::pow(static_cast<long double>(base), static_cast<long double>(exponent)));
      EXPECT_NEAR(llm::power(base, exponent), truth, truth * 0x1p-44) << base << " " << exponent;
    }
  }
  EXPECT_EQ(llm::power(1e6, 0.0), 1.0);
}

}  // namespace
