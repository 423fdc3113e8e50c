#include "tev/core/wide.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <limits>

namespace {

using boost::multiprecision::cpp_int;

constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

TEST(MultiplyDivide, IsExactAtTheEnds) {
  EXPECT_EQ(tev::multiply_divide(top, top, top), top);
  EXPECT_EQ(tev::multiply_divide(top, top - 1, top), top - 1);
  EXPECT_EQ(tev::multiply_divide(top, 0, 1), 0u);
  EXPECT_EQ(tev::multiply_divide(7, 1, 2), 3u);
  EXPECT_EQ(tev::multiply_divide(std::uint64_t{1} << 62, 1, 3), (std::uint64_t{1} << 62) / 3);
}

TEST(ScaleFraction, StaysBelowNForTheLargestFraction) {
  EXPECT_EQ(tev::scale_fraction(top, top, top), top - 1);
  EXPECT_EQ(tev::scale_fraction(top, top, 1), 0u);
  EXPECT_EQ(tev::scale_fraction(top, top, 0), 0u);
  EXPECT_EQ(tev::scale_fraction(0, 0, top), 0u);
  EXPECT_EQ(tev::scale_fraction(std::uint64_t{1} << 63, 0, 3), 1u);
}

TEST(ScaleFraction, CarriesFromTheLowWord) {
  // u n is 2 - 2^-127 without the low word's share of the carry and 2 with it.
  EXPECT_EQ(tev::scale_fraction(top, std::uint64_t{1} << 63, 2), 1u);
  EXPECT_EQ(tev::scale_fraction(0x5555555555555555u, 0x5555555555555556u, 3), 1u);
  EXPECT_EQ(tev::scale_fraction(0x5555555555555555u, 0x5555555555555555u, 3), 0u);
}

RC_GTEST_PROP(MultiplyDivide, AgreesWithBigIntegers, ()) {
  auto const any = rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
  std::uint64_t const a = *any, x = *any, y = *any;
  std::uint64_t const b = std::min(x, y), c = std::max<std::uint64_t>(std::max(x, y), 1);
  RC_ASSERT(cpp_int(tev::multiply_divide(a, b, c)) == cpp_int(cpp_int(a) * b / c));
}

RC_GTEST_PROP(ScaleFraction, AgreesWithBigIntegers, ()) {
  auto const any = rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
  std::uint64_t const high = *any, low = *any, n = *any;
  cpp_int const u = (cpp_int(high) << 64) + low;
  RC_ASSERT(cpp_int(tev::scale_fraction(high, low, n)) == cpp_int(u * n >> 128));
}

}  // namespace
