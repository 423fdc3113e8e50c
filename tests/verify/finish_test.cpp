#include "tev/verify/finish.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tev/core/types.hpp"

namespace {

using tev::block_end;
using tev::finish;
using tokens = std::vector<tev::token_id>;

block_end end_of(tokens const& path, tev::token_id bonus, tokens const& stop,
                 std::int64_t remaining = tev::no_token_limit) {
  return tev::end_of_block(path.data(), static_cast<std::int32_t>(path.size()), bonus,
                           {stop.data(), static_cast<std::int32_t>(stop.size()), remaining});
}

TEST(EndOfBlock, EmitsTheWholeBlockWhenNothingEndsIt) {
  EXPECT_EQ(end_of({11, 12}, 14, {2}), (block_end{3, 2, 3, true, finish::none}));
  EXPECT_EQ(end_of({}, 14, {}), (block_end{1, 0, 1, true, finish::none}));
  EXPECT_EQ(end_of({0, 0}, 0, {2, -1}), (block_end{3, 2, 3, true, finish::none}));
}

TEST(EndOfBlock, KeepsTheFirstStopTokenAndNothingBehindIt) {
  EXPECT_EQ(end_of({11, 2, 12, 2}, 14, {7, 2}), (block_end{2, 2, 3, false, finish::stop}));
  EXPECT_EQ(end_of({11, 2}, 14, {2}), (block_end{2, 2, 3, false, finish::stop}));
  EXPECT_EQ(end_of({11}, 2, {2}), (block_end{2, 1, 2, true, finish::stop}));
}

TEST(EndOfBlock, CutsAtTheLimitWhereAStopTokenCountsAsStop) {
  EXPECT_EQ(end_of({11, 12}, 14, {2}, 1), (block_end{1, 1, 2, false, finish::length}));
  EXPECT_EQ(end_of({11, 12}, 14, {2}, 3), (block_end{3, 2, 3, true, finish::length}));
  EXPECT_EQ(end_of({11, 12}, 14, {2}, 4), (block_end{3, 2, 3, true, finish::none}));
  EXPECT_EQ(end_of({11, 2}, 14, {2}, 2), (block_end{2, 2, 3, false, finish::stop}));
}

TEST(EndOfBlock, EmitsNothingWhenNothingRemains) {
  block_end const nothing{0, 0, 1, false, finish::length};
  EXPECT_EQ(end_of({2, 12}, 14, {2}, 0), nothing);
  EXPECT_EQ(end_of({2, 12}, 14, {2}, -7), nothing);
  EXPECT_EQ(end_of({2}, 14, {2}, std::numeric_limits<std::int64_t>::min()), nothing);
}

TEST(EndOfBlock, LetsThePathStandAloneWithoutABonusToken) {
  EXPECT_EQ(end_of({11, 12}, -1, {-1}), (block_end{2, 2, 3, false, finish::none}));
  EXPECT_EQ(end_of({11, 12}, -1, {}, 2), (block_end{2, 2, 3, false, finish::length}));
  EXPECT_EQ(end_of({11, 2}, -1, {2}), (block_end{2, 2, 3, false, finish::stop}));
  EXPECT_EQ(end_of({}, -1, {-1}), (block_end{0, 0, 1, false, finish::none}));
}

TEST(StopRule, NeverStopsAtPadding) {
  tokens const stop{-1, 2};
  tev::stop_rule const rule{stop.data(), 2};
  EXPECT_FALSE(rule.stops(-1));
  EXPECT_TRUE(rule.stops(2));
}

TEST(EndOfBlock, DiffersByAnyOfItsNumbers) {
  auto const end = end_of({11, 2}, 14, {2});
  EXPECT_NE(end, (block_end{1, 2, 3, false, finish::stop}));
  EXPECT_NE(end, (block_end{2, 1, 3, false, finish::stop}));
  EXPECT_NE(end, (block_end{2, 2, 2, false, finish::stop}));
  EXPECT_NE(end, (block_end{2, 2, 3, true, finish::stop}));
  EXPECT_NE(end, (block_end{2, 2, 3, false, finish::none}));
}

TEST(EndOfBlock, HasAWordForEveryReason) {
  EXPECT_EQ(name(finish::none), std::string("none"));
  EXPECT_EQ(name(finish::stop), std::string("stop"));
  EXPECT_EQ(name(finish::length), std::string("length"));
  EXPECT_EQ(name(static_cast<finish>(9)), std::string("unknown"));
}

// Token by token, as plain decoding does it.
RC_GTEST_PROP(EndOfBlock, AgreesWithDecodingTokenByToken, ()) {
  auto const path = *rc::gen::container<tokens>(rc::gen::inRange(0, 9));
  auto const bonus = *rc::gen::inRange(-1, 9);
  auto const stop = *rc::gen::resize(3, rc::gen::container<tokens>(rc::gen::inRange(-1, 9)));
  auto const remaining = *rc::gen::inRange<std::int64_t>(-1, 12);

  tokens block = path;
  if (bonus >= 0) block.push_back(bonus);
  block_end expected;
  if (remaining <= 0) expected.reason = finish::length;
  for (auto const token : block) {
    if (expected.reason != finish::none) break;
    ++expected.emitted;
    if (std::ranges::count(stop, token) > 0)
      expected.reason = finish::stop;
    else if (expected.emitted == remaining)
      expected.reason = finish::length;
  }
  expected.accepted = std::min(expected.emitted, static_cast<std::int32_t>(path.size()));
  expected.bonus_emitted = expected.emitted > expected.accepted;
  expected.cache_rows = expected.accepted + 1;
  RC_ASSERT(end_of(path, bonus, stop, remaining) == expected);
}

}  // namespace
