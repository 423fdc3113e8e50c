// Normalisation against double arithmetic, for widths with and without a rest.

#include "llm/norm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "llm/thread_pool.hpp"
#include "model_support.hpp"

namespace {

using llm_test::floats;

TEST(RmsNorm, FollowsItsDefinitionForEveryWidth) {
  std::mt19937 source(1);
  for (std::size_t width = 1; width <= 100; ++width) {
    floats const x = llm_test::random_floats(source, width, 3);
    floats const weight = llm_test::random_floats(source, width);
    for (float eps : {1e-6F, 0.5F}) {
      double squares = 0;
      for (float v : x) squares += double{v} * v;
      double const scale = 1 / std::sqrt(squares / static_cast<double>(width) + eps);
      floats y(width);
      llm::rms_norm(x.data(), weight.data(), static_cast<std::int64_t>(width), eps, y.data());
      for (std::size_t i = 0; i < width; ++i) {
        double const truth = x[i] * scale * weight[i];
        EXPECT_NEAR(y[i], truth, std::abs(truth) * 1e-6) << width << " " << i;
      }
    }
  }
}

TEST(RmsNorm, GivesTheSameBitsForARowAloneInPlaceAndAmongOthers) {
  std::mt19937 source(2);
  constexpr std::size_t n = 4000, width = 77;
  floats const x = llm_test::random_floats(source, n * width);
  floats const weight = llm_test::random_floats(source, width);
  floats one(n * width), many(n * width), in_place = x;
  for (std::size_t row = 0; row < n; ++row) {
    llm::rms_norm(&x[row * width], weight.data(), width, 1e-6F, &one[row * width]);
    llm::rms_norm(&in_place[row * width], weight.data(), width, 1e-6F, &in_place[row * width]);
  }
  for (int threads : {1, 3}) {
    llm::thread_pool pool(threads);
    llm::rms_norm_rows(x.data(), weight.data(), n, width, 1e-6F, many.data(), pool);
    EXPECT_TRUE(llm_test::same_bits(one, many));
  }
  EXPECT_TRUE(llm_test::same_bits(one, in_place));
}

TEST(RmsNorm, KeepsAZeroRowZero) {
  floats const x(5), weight(5, 2.0F);
  floats y(5, 1.0F);
  llm::rms_norm(x.data(), weight.data(), 5, 1e-6F, y.data());
  EXPECT_EQ(y, floats(5));
}

}  // namespace
