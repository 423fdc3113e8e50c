// The law tests stand on this source: here it meets laws known by hand.
#include "support/enumerating_source.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>

namespace {

using tev_test::enumerating_source;
using tev_test::rational;
using pair = std::pair<std::uint64_t, std::uint64_t>;

tev::decision decision_at(std::uint32_t position) { return {7, position, tev::purpose::token, 0}; }

template <class Function>
auto law_of(Function const& function) {
  std::map<decltype(function(std::declval<enumerating_source const&>())), rational> law;
  enumerating_source source;
  do {
    auto const result = function(source);
    law[result] += source.weight();
  } while (source.next());
  return law;
}

TEST(EnumeratingSource, GivesEveryPairOfTwoIndependentDraws) {
  auto const law = law_of([](auto const& s) {
    auto const first = s.below(decision_at(1), 2);
    return pair{first, s.below(decision_at(2), 3)};
  });
  EXPECT_EQ(law.size(), 6u);
  for (auto const& [values, weight] : law) EXPECT_EQ(weight, rational(1, 6)) << values.first;
}

TEST(EnumeratingSource, FollowsDrawsThatDependOnEarlierOnes) {
  auto const law = law_of([](auto const& s) {
    auto const first = s.below(decision_at(1), 2);
    return first == 0 ? pair{0, 9} : pair{1, s.below(decision_at(2), 2)};
  });
  std::map<pair, rational> const expected{
      {{0, 9}, rational(1, 2)}, {{1, 0}, rational(1, 4)}, {{1, 1}, rational(1, 4)}};
  EXPECT_EQ(law, expected);
}

TEST(EnumeratingSource, AnswersAnEqualQuestionEqually) {
  auto const law = law_of([](auto const& s) {
    auto const first = s.below(decision_at(1), 5);
    return pair{first, s.below(decision_at(1), 5)};
  });
  EXPECT_EQ(law.size(), 5u);
  for (auto const& [values, weight] : law) {
    EXPECT_EQ(values.first, values.second);
    EXPECT_EQ(weight, rational(1, 5));
  }
}

TEST(EnumeratingSource, RefinesOneNumberAskedWithAnotherRange) {
  // Thirds and halves of the same u cut [0, 1) at 1/3, 1/2 and 2/3.
  auto const law = law_of([](auto const& s) {
    auto const third = s.below(decision_at(1), 3);
    return pair{third, s.below(decision_at(1), 2)};
  });
  std::map<pair, rational> const expected{{{0, 0}, rational(1, 3)},
                                          {{1, 0}, rational(1, 6)},
                                          {{1, 1}, rational(1, 6)},
                                          {{2, 1}, rational(1, 3)}};
  EXPECT_EQ(law, expected);
}

TEST(EnumeratingSource, RefinesAcrossADrawInBetween) {
  auto const law = law_of([](auto const& s) {
    auto const half = s.below(decision_at(1), 2);
    auto const coin = s.below(decision_at(2), 2);
    return pair{half * 2 + coin, s.below(decision_at(1), 4)};
  });
  EXPECT_EQ(law.size(), 8u);
  for (auto const& [values, weight] : law) {
    EXPECT_EQ(values.first / 2, values.second / 2);
    EXPECT_EQ(weight, rational(1, 8));
  }
}

TEST(EnumeratingSource, TellsDecisionsApartByEveryField) {
  tev::decision const base{7, 1, tev::purpose::token, 0};
  tev::decision const others[] = {{8, 1, tev::purpose::token, 0},
                                  {7, 2, tev::purpose::token, 0},
                                  {7, 1, tev::purpose::exit, 0},
                                  {7, 1, tev::purpose::token, 1}};
  for (auto const& other : others) {
    auto const law = law_of([&](auto const& s) {
      auto const first = s.below(base, 2);
      return pair{first, s.below(other, 2)};
    });
    EXPECT_EQ(law.size(), 4u);
  }
}

TEST(EnumeratingSource, NoticesAFunctionWithAMemory) {
  int calls = 0;
  auto const forgetful = [&](auto const& s) {
    return s.below(decision_at(static_cast<std::uint32_t>(calls++)), 2);
  };
  EXPECT_THROW(law_of(forgetful), std::logic_error);
}

}  // namespace
