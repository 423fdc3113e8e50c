// The ends of `mass_of_octaves` and the scales of extreme temperatures; tests/mass looks at every
// float and compares compilers.
#include "tev/distribution/fixed_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tev/core/bits.hpp"

namespace {

using tev::mass_of_octaves;

TEST(MassOfOctaves, HalvesWithEveryWholeOctave) {
  for (int whole = 0; whole <= 40; ++whole)
    EXPECT_EQ(mass_of_octaves(static_cast<float>(whole)), tev::top_mass >> whole) << whole;
}

TEST(MassOfOctaves, EndsBeforeFortyOneOctaves) {
  EXPECT_EQ(mass_of_octaves(40.0f), 1u);
  EXPECT_EQ(mass_of_octaves(std::nextafter(40.0f, 41.0f)), 0u);
  EXPECT_EQ(mass_of_octaves(std::nextafter(41.0f, 0.0f)), 0u);
  EXPECT_EQ(mass_of_octaves(41.0f), 0u);
  EXPECT_EQ(mass_of_octaves(std::numeric_limits<float>::max()), 0u);
  EXPECT_EQ(mass_of_octaves(std::numeric_limits<float>::infinity()), 0u);
  EXPECT_EQ(mass_of_octaves(std::numeric_limits<float>::quiet_NaN()), 0u);
}

TEST(MassOfOctaves, IsWholeForNegligibleDifferences) {
  EXPECT_EQ(mass_of_octaves(0x1p-149f), tev::top_mass);
  EXPECT_EQ(mass_of_octaves(0x1p-30f), tev::top_mass);
}

// These bits are part of the interface: a seed means a text.
TEST(MassOfOctaves, KeepsItsBits) {
  EXPECT_EQ(mass_of_octaves(0.5f), 777472180224u);
  EXPECT_EQ(mass_of_octaves(1.25f), 462287667200u);
  EXPECT_EQ(mass_of_octaves(0x1.921fb6p+1f), 124590858240u);
  EXPECT_EQ(mass_of_octaves(33.3f), 103u);
}

TEST(OctaveScale, IsLog2OfEOverTheTemperatureForEveryExponent) {
  for (int exponent = -149; exponent <= 127; ++exponent) {
    float const t = std::ldexp(1.0f, exponent);
    auto const scale = tev::octave_scale_of(t);
    ASSERT_TRUE(std::isnormal(scale.after)) << exponent;
    double const product = static_cast<double>(scale.before) * static_cast<double>(scale.after);
    ASSERT_NEAR(product * static_cast<double>(t), 1.4426950408889634, 1e-6) << exponent;
  }
}

TEST(OctavesBelow, AreNeverNegativeNorNan) {
  float const all[] = {-0x1.fffffep+127f, -1.0f,     -0x1p-149f, 0.0f,
                       0x1p-149f,         0x1p-126f, 1.0f,       0x1.fffffep+127f};
  for (float const t : {0x1p-149f, 0x1p-100f, 1.0f, 0x1p100f, 0x1.000002p100f, 0x1p127f})
    for (float const maximum : all)
      for (float const logit : all) {
        if (logit > maximum) continue;
        float const octaves = tev::octaves_below(maximum, logit, tev::octave_scale_of(t));
        EXPECT_TRUE(octaves >= 0.0f) << t << ' ' << maximum << ' ' << logit;
      }
}

TEST(OctavesBelow, GrowAsTheLogitFallsAtEveryTemperature) {
  for (float const t : {0x1p-149f, 0x1.8p-101f, 0x1p-100f, 0.6f, 0x1p100f, 0x1p127f}) {
    auto const scale = tev::octave_scale_of(t);
    float last = 0.0f;
    for (float logit = 0x1p-149f; logit < 0x1p127f; logit *= 1.7f + 0x1p-149f / logit) {
      float const octaves = tev::octaves_below(0.0f, -logit, scale);
      ASSERT_GE(octaves, last) << t << ' ' << logit;
      last = octaves;
    }
  }
}

}  // namespace
