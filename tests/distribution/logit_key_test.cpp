#include "tev/distribution/logit_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tev/core/bits.hpp"
#include "tev/distribution/bfloat16.hpp"

namespace {

using tev::bits_float;
using tev::key_of;

constexpr float inf = std::numeric_limits<float>::infinity();

// Sorted numbers have sorted keys, and equal keys just where the numbers are equal.
void expect_order_kept(std::vector<float> logits) {
  std::ranges::sort(logits);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    auto const key = key_of(logits[i]);
    ASSERT_NE(key, tev::forbidden_key);
    ASSERT_NE(key, tev::invalid_key);
    ASSERT_EQ(tev::logit_of(key), logits[i]);
    if (i == 0) continue;
    ASSERT_EQ(logits[i - 1] < logits[i], key_of(logits[i - 1]) < key) << logits[i];
    ASSERT_LE(key_of(logits[i - 1]), key);
  }
}

TEST(LogitKey, KeepsTheOrderOfEveryBfloat16) {
  std::vector<float> finite;
  for (std::uint32_t b = 0; b < 0x10000u; ++b) {
    float const x = tev::to_float(tev::bfloat16{static_cast<std::uint16_t>(b)});
    if (std::isfinite(x)) finite.push_back(x);
  }
  ASSERT_EQ(finite.size(), 2u * 255u * 128u);
  expect_order_kept(std::move(finite));
}

TEST(LogitKey, KeepsTheOrderOfASampleOfFloatsAndOfTheirNeighbours) {
  std::vector<float> finite;
  for (std::uint64_t b = 0; b < std::uint64_t{1} << 32; b += 300007)
    for (std::uint32_t next = 0; next < 2; ++next) {
      float const x = bits_float(static_cast<std::uint32_t>(b) + next);
      if (std::isfinite(x)) finite.push_back(x);
    }
  for (std::uint32_t const b : {0u, 1u, 2u, 0x7fffffu, 0x800000u, 0x7f7fffffu})
    for (std::uint32_t const sign : {0u, 0x80000000u}) finite.push_back(bits_float(b | sign));
  expect_order_kept(std::move(finite));
}

TEST(LogitKey, SetsWhatIsNotANumberApart) {
  EXPECT_EQ(key_of(-inf), tev::forbidden_key);
  EXPECT_EQ(key_of(inf), tev::invalid_key);
  for (std::uint32_t const nan :
       {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffc00000u, 0xffffffffu})
    EXPECT_EQ(key_of(bits_float(nan)), tev::invalid_key) << nan;
}

TEST(LogitKey, IsOneForBothZeros) {
  EXPECT_EQ(key_of(-0.0f), key_of(0.0f));
  EXPECT_LT(key_of(-0x1p-149f), key_of(-0.0f));
  EXPECT_LT(key_of(0.0f), key_of(0x1p-149f));
  EXPECT_EQ(tev::float_bits(tev::logit_of(key_of(-0.0f))), 0u);
}

TEST(Bfloat16, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(tev::to_float(tev::bfloat16{0x3f80}), 1.0f);
  EXPECT_EQ(tev::to_float(tev::bfloat16{0xc0a0}), -5.0f);
  EXPECT_EQ(tev::to_float(tev::bfloat16{0xff80}), -inf);
  EXPECT_EQ(tev::to_float(tev::bfloat16{0x0001}), 0x1p-133f);
  EXPECT_EQ(tev::to_float(2.5f), 2.5f);
}

}  // namespace
