#include "tev/core/bits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "tev/core/status.hpp"

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Sampled over all bit patterns with a stride coprime to every power of two.
TEST(Bits, AgreeWithTheStandardLibraryOnEveryKindOfNumber) {
  for (std::uint64_t b = 0; b < std::uint64_t{1} << 32; b += 65521) {
    auto const bits = static_cast<std::uint32_t>(b);
    float const x = tev::bits_float(bits);
    ASSERT_EQ(tev::is_finite(x), std::isfinite(x)) << bits;
    ASSERT_EQ(tev::is_negative(x), x < 0.0f) << bits;
    if (!std::isnan(x)) {
      ASSERT_EQ(tev::float_bits(x), bits);
      ASSERT_EQ(tev::bits_float(tev::magnitude_bits(x)), std::abs(x)) << bits;
    }
  }
}

TEST(Bits, KnowTheSpecialValues) {
  EXPECT_FALSE(tev::is_finite(inf));
  EXPECT_FALSE(tev::is_finite(-inf));
  EXPECT_FALSE(tev::is_finite(nan));
  EXPECT_FALSE(tev::is_finite(-nan));
  EXPECT_TRUE(tev::is_finite(std::numeric_limits<float>::max()));
  EXPECT_TRUE(tev::is_finite(0x1p-149f));
  EXPECT_TRUE(tev::is_negative(-inf));
  EXPECT_TRUE(tev::is_negative(-0x1p-149f));
  EXPECT_FALSE(tev::is_negative(-0.0f));
  EXPECT_FALSE(tev::is_negative(-nan));
  EXPECT_EQ(tev::magnitude_bits(-0.0f), 0u);
  EXPECT_EQ(tev::magnitude_bits(-inf), 0x7f800000u);
}

TEST(Status, EveryOneHasItsOwnWord) {
  std::set<std::string> words;
  for (auto const s : {tev::status::ok, tev::status::no_mass, tev::status::not_finite,
                       tev::status::bad_parameter, tev::status::bad_tree})
    words.insert(name(s));
  EXPECT_EQ(words,
            (std::set<std::string>{"ok", "no_mass", "not_finite", "bad_parameter", "bad_tree"}));
  EXPECT_EQ(name(static_cast<tev::status>(99)), std::string("unknown"));
}

}  // namespace
