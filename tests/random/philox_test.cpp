#include "tev/random/philox.hpp"

#include <Random123/philox.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <limits>

#include "tev/random/concept.hpp"

namespace {

using boost::multiprecision::cpp_int;
using testing::ElementsAre;
using tev::decision;
using tev::philox;
using tev::purpose;

r123::Philox4x32::ctr_type reference(philox::block const& counter, std::uint32_t key0,
                                     std::uint32_t key1) {
  r123::Philox4x32::ctr_type const c = {{counter[0], counter[1], counter[2], counter[3]}};
  r123::Philox4x32::key_type const k = {{key0, key1}};
  return r123::Philox4x32{}(c, k);
}

// u of a decision as its 128-bit numerator, from the reference.
cpp_int numerator(philox::block const& counter, std::uint64_t seed) {
  auto const words =
      reference(counter, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  cpp_int u = 0;
  for (int i = 3; i >= 0; --i) u = (u << 32) + words[i];
  return u;
}

TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_THAT(philox::rounds({0, 0, 0, 0}, 0, 0),
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  std::uint32_t const ones = 0xffffffffu;
  EXPECT_THAT(philox::rounds({ones, ones, ones, ones}, ones, ones),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(philox::rounds({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u,
                             0x299f31d0u),
              ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u))
      << "digits of pi";
}

RC_GTEST_PROP(Philox, AgreesWithRandom123, ()) {
  for (int i = 0; i < 50; ++i) {
    auto const word = rc::gen::resize(1000, rc::gen::arbitrary<std::uint32_t>());
    philox::block const counter{*word, *word, *word, *word};
    std::uint32_t const key0 = *word, key1 = *word;
    auto const expected = reference(counter, key0, key1);
    auto const found = philox::rounds(counter, key0, key1);
    for (std::size_t w = 0; w < 4; ++w) RC_ASSERT(found[w] == expected[w]);
  }
}

TEST(Philox, IsAConstantExpression) {
  constexpr auto block = philox::rounds({0, 0, 0, 0}, 0, 0);
  static_assert(block[0] == 0x6627e8d5u);
  static_assert(philox{7}.below({1, 2, purpose::exit, 3}, 1) == 0);
}

// Key = seed low, high; counter = request low, request high, position, purpose << 24 | index; u =
// the result over 2^128, word 3 most significant. With n = 2^32 and 2^63, `below` shows the top
// bits.
TEST(Philox, LaysOutKeyAndCounterAsDocumented) {
  std::uint64_t const seed = 0x1122334455667788u, request = 0x99aabbccddeeff01u;
  std::uint32_t const position = 0xfedcba98u;
  auto const words =
      reference({0xddeeff01u, 0x99aabbccu, position, 0x02abcdefu}, 0x55667788u, 0x11223344u);
  decision const d{request, position, purpose::residual, 0xabcdefu};
  EXPECT_EQ(philox{seed}.below(d, std::uint64_t{1} << 32), words[3]);
  EXPECT_EQ(philox{seed}.below(d, std::uint64_t{1} << 63),
            (std::uint64_t{words[3]} << 32 | words[2]) >> 1);
}

TEST(Philox, NumbersThePurposes) {
  EXPECT_EQ(static_cast<std::uint32_t>(purpose::token), 0u);
  EXPECT_EQ(static_cast<std::uint32_t>(purpose::exit), 1u);
  EXPECT_EQ(static_cast<std::uint32_t>(purpose::residual), 2u);
  EXPECT_EQ(static_cast<std::uint32_t>(purpose::sibling), 3u);
  EXPECT_EQ(static_cast<std::uint32_t>(purpose::drafter), 128u);
  auto const words = reference({5, 0, 9, 0x80000001u}, 3, 0);
  EXPECT_EQ((philox{3}.below({5, 9, purpose::drafter, 1}, std::uint64_t{1} << 32)), words[3]);
}

TEST(Philox, NeverLetsAnIndexSpillIntoThePurpose) {
  std::uint64_t const n = std::uint64_t{1} << 62;
  philox const source{11};
  EXPECT_EQ(source.below({1, 2, purpose::token, 0x01000005u}, n),
            source.below({1, 2, purpose::token, 5}, n));
}

TEST(Philox, EveryPartOfADecisionMatters) {
  std::uint64_t const n = std::numeric_limits<std::uint64_t>::max();
  decision const d{1, 2, purpose::sibling, 3};
  auto const base = philox{5}.below(d, n);
  EXPECT_NE((philox{5}.below({2, 2, purpose::sibling, 3}, n)), base);
  EXPECT_NE((philox{5}.below({1 + (std::uint64_t{1} << 32), 2, purpose::sibling, 3}, n)), base);
  EXPECT_NE((philox{5}.below({1, 3, purpose::sibling, 3}, n)), base);
  EXPECT_NE((philox{5}.below({1, 2, purpose::residual, 3}, n)), base);
  EXPECT_NE((philox{5}.below({1, 2, purpose::sibling, 4}, n)), base);
  EXPECT_NE(philox{6}.below(d, n), base);
  EXPECT_NE(philox{5 + (std::uint64_t{1} << 32)}.below(d, n), base);
  EXPECT_EQ(philox{5}.below(d, n), base);
}

RC_GTEST_PROP(Philox, BelowIsTheFloorOfUTimesN, ()) {
  auto const any = rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
  auto const seed = *any, request = *any;
  auto const position = static_cast<std::uint32_t>(*any);
  auto const index = static_cast<std::uint32_t>(*any) & 0xffffffu;
  auto const u = numerator({static_cast<std::uint32_t>(request),
                            static_cast<std::uint32_t>(request >> 32), position, 3u << 24 | index},
                           seed);
  std::uint64_t const top = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t const n :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
        std::uint64_t{1} << 32, std::uint64_t{1} << 40, std::uint64_t{1} << 62,
        (std::uint64_t{1} << 62) - 1, top - 1, top, *any}) {
    auto const found = philox{seed}.below({request, position, purpose::sibling, index}, n);
    RC_ASSERT(cpp_int(found) == cpp_int(u * n >> 128));
    if (n != 0) RC_ASSERT(found < n);
  }
}

// Decisions for different n are cut from one u: what is drawn of a fraction f of n stays there.
RC_GTEST_PROP(Philox, EqualDecisionsShareOneNumber, ()) {
  auto const any = rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
  philox const source{*any};
  decision const d{*any, static_cast<std::uint32_t>(*any), purpose::token, 0};
  auto const n = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 40);
  auto const k = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 20);
  RC_ASSERT(source.below(d, n * k) / k == source.below(d, n));
}

}  // namespace
