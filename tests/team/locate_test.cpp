#include "tev/team/locate.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "support/debug_team.hpp"
#include "tev/team/serial_team.hpp"

namespace {

using tev::serial_team;
using tev_test::debug_team;
using tev_test::run_team;
using weights = std::vector<std::uint64_t>;
using answer = std::pair<std::int32_t, std::uint64_t>;

template <class Team>
answer locate_in(Team const& team, weights const& w, std::uint64_t r, std::int32_t begin = 0) {
  auto const found = tev::locate(
      team, begin, begin + static_cast<std::int32_t>(w.size()),
      [&](std::int32_t x) { return w[static_cast<std::size_t>(x - begin)]; }, r);
  return {found.index, found.rest};
}

TEST(Locate, IsHalfOpenAtEveryBoundary) {
  weights const w{0, 3, 0, 0, 2, 1, 0};
  std::vector<answer> found;
  for (std::uint64_t r = 0; r < 7; ++r) found.push_back(locate_in(serial_team{}, w, r));
  EXPECT_EQ(found, (std::vector<answer>{{1, 0}, {1, 1}, {1, 2}, {4, 0}, {4, 1}, {5, 0}, {-1, 0}}));
}

TEST(Locate, FindsNothingInAnEmptyOrWeightlessRange) {
  EXPECT_EQ(locate_in(serial_team{}, {}, 0), (answer{-1, 0}));
  EXPECT_EQ(locate_in(serial_team{}, {0, 0}, 5), (answer{-1, 5}));
  for (std::int32_t size = 2; size <= 5; ++size) {
    for (auto const& found :
         run_team(size, [](debug_team const& t) { return locate_in(t, {}, 4); }))
      EXPECT_EQ(found, (answer{-1, 4})) << size;
  }
}

TEST(Locate, CarriesWeightsOfSixtyFourBits) {
  std::uint64_t const half = std::uint64_t{1} << 63;
  weights const w{half, half - 1};
  EXPECT_EQ(locate_in(serial_team{}, w, half - 1), (answer{0, half - 1}));
  EXPECT_EQ(locate_in(serial_team{}, w, half), (answer{1, 0}));
  EXPECT_EQ(locate_in(serial_team{}, w, 2 * half - 2), (answer{1, half - 2}));
  EXPECT_EQ(locate_in(serial_team{}, w, 2 * half - 1), (answer{-1, 0}));
}

TEST(Locate, EvaluatesNoWeightMoreThanTwice) {
  std::int32_t const count = 23;
  for (std::int32_t size = 1; size <= 5; ++size) {
    std::vector<int> calls(count, 0);  // Each entry belongs to one thread.
    (void)run_team(size, [&](debug_team const& t) {
      return tev::locate(
                 t, 0, count, [&](std::int32_t x) { return ++calls[x], std::uint64_t{1}; }, 17)
          .index;
    });
    for (auto const n : calls) EXPECT_LE(n, 2);
  }
}

RC_GTEST_PROP(Locate, GivesEveryThreadOfAnyTeamTheSerialAnswer, ()) {
  auto const w = *rc::gen::container<weights>(rc::gen::inRange<std::uint64_t>(0, 4));
  auto const begin = *rc::gen::inRange(0, 3000);
  auto const total = std::accumulate(w.begin(), w.end(), std::uint64_t{0});
  auto const r = *rc::gen::inRange<std::uint64_t>(0, total + 3);
  auto const size = *rc::gen::inRange(2, 8);
  auto const expected = locate_in(serial_team{}, w, r, begin);
  for (auto const& found :
       run_team(size, [&](debug_team const& t) { return locate_in(t, w, r, begin); }))
    RC_ASSERT(found == expected);
}

TEST(SerialTeam, IsATeamOfOne) {
  serial_team const t;
  EXPECT_EQ(t.rank(), 0);
  EXPECT_EQ(t.size(), 1);
  EXPECT_EQ(t.sum(7), 7u);
  EXPECT_EQ(t.max(7), 7u);
  EXPECT_TRUE(t.any(true));
  EXPECT_FALSE(t.any(false));
  EXPECT_EQ(t.broadcast(7, 0), 7u);
  EXPECT_EQ(t.pick(7, 6).rank, 0);
  EXPECT_EQ(t.pick(7, 6).rest, 6u);
  EXPECT_EQ(t.pick(7, 7).rank, 1);
  EXPECT_EQ(t.pick(7, 9).rest, 2u);
}

}  // namespace
