#include "tev/build/vocab_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "build/draft_rows.hpp"
#include "tev/build/best_first.hpp"
#include "tev/build/concept.hpp"
#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/mass_rows.hpp"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tev::no_token;
using tev::node_id;
using tev::token_id;
using tev::tree_check;
using tev::tree_fault;
using tev_test::draft_rows;
using tev_test::path;
using tev_test::paths_of;
using offsets = std::vector<std::int64_t>;

static_assert(tev::builder<tev::mapped_builder<tev::best_first>, tev::mass_rows<std::uint64_t>>);

// The fault of drafted tokens that are siblings, or a chain.
tree_check check_of(offsets const& offset, std::int32_t vocab, path const& drafted, bool siblings) {
  std::vector<node_id> parents{-1};
  path tokens{no_token};
  for (auto const token : drafted) {
    parents.push_back(siblings ? 0 : static_cast<node_id>(parents.size()) - 1);
    tokens.push_back(token);
  }
  return tev::map_tokens(parents, tokens, tev::vocab_map<>{offset, vocab}).check;
}

TEST(VocabMap, AddsTheOffset) {
  offsets const offset{0, 2, 7};
  tev::vocab_map<> const map{offset, 10};
  EXPECT_EQ(map(0), 0);
  EXPECT_EQ(map(1), 3);
  EXPECT_EQ(map(2), 9);
  std::vector<std::int8_t> const backwards{3, 1, -1, -3};
  EXPECT_EQ((tev::vocab_map<std::int8_t>{backwards, 4}(3)), 0);
}

TEST(VocabMap, GivesNoTokenOutsideEitherVocabulary) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  offsets const offset{-1, 8, 7, least, most};
  tev::vocab_map<> const map{offset, 9};
  for (token_id const drafted : {0, 1, 2, 3, 4, 5, -1})
    EXPECT_EQ(map(drafted), no_token) << drafted;
  EXPECT_EQ((tev::vocab_map<>{offset, 10}(2)), 9);
  EXPECT_EQ((tev::vocab_map<>{}(0)), no_token);
}

TEST(VocabMap, ReportsWhatItWouldDoToATree) {
  EXPECT_EQ(check_of({0, 2, 7}, 6, {0, 2}, true), (tree_check{tree_fault::token_range, 2}));
  EXPECT_EQ(check_of({0, 2, 7}, 6, {0, 1}, true), tree_check{}) << "only drafted tokens count";
  EXPECT_EQ(check_of({0, 2, 3}, 6, {3}, true), (tree_check{tree_fault::token_range, 1}));
  EXPECT_EQ(check_of({0, 2, 3}, 6, {-1}, true), (tree_check{tree_fault::token_range, 1}));
  EXPECT_EQ(check_of({2, 1, 0}, 6, {0, 1}, true), (tree_check{tree_fault::duplicate_sibling, 2}));
  EXPECT_EQ(check_of({2, 1, 0}, 6, {0, 1}, false), tree_check{}) << "a chain may repeat a token";
}

TEST(VocabMap, FindsTheFirstFaultOfAWholeTable) {
  auto const check = [](offsets const& offset, std::int32_t vocab) {
    return tev::validate(tev::vocab_map<>{offset, vocab});
  };
  EXPECT_TRUE(check({0, 2, 3}, 6).ok());
  EXPECT_TRUE(check({}, 6).ok());
  auto const range = check({0, -2, 9}, 6);
  EXPECT_EQ(range.fault, tree_fault::token_range);
  EXPECT_EQ(range.drafted, 1);
  auto const repeated = check({1, 3, 3, -2}, 6);
  EXPECT_EQ(repeated.fault, tree_fault::duplicate_sibling);
  EXPECT_EQ(repeated.drafted, 3);
}

draft_rows const draft{2, 3, {3, 5, 2, 0, 1, 4}};

TEST(VocabMap, MapsATreeAndKeepsTheRest) {
  offsets const offset{10, 20, 30};
  auto const built = draft.best(4);
  auto const mapped = tev::map_tokens(built, tev::vocab_map<>{offset, 40});
  EXPECT_THAT(paths_of(built), ElementsAre(path{1}, path{1, 2}, path{0}, path{0, 2}));
  EXPECT_THAT(paths_of(mapped), ElementsAre(path{21}, path{21, 32}, path{10}, path{10, 32}));
  EXPECT_EQ(mapped.score, built.score);
  EXPECT_EQ(mapped.tree.token(0), no_token);
  tev::mapped_builder<tev::best_first> const builder{{}, {offset, 40}};
  EXPECT_EQ(draft.built_by(builder, 4).tree, mapped.tree);
}

TEST(VocabMap, RefusesATreeThatItWouldSpoil) {
  auto const refusal = [](offsets const& offset, std::int32_t vocab) -> std::string {
    try {
      (void)draft.built_by(tev::mapped_builder<tev::best_first>{{}, {offset, vocab}}, 4);
    } catch (tev::argument_error const& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({0, 0, 0}, 3), "accepted");
  EXPECT_THAT(refusal({0, 0, 0}, 2), HasSubstr("map_tokens: token_range at node 2"));
  EXPECT_THAT(refusal({1, 0, 0}, 3), HasSubstr("map_tokens: duplicate_sibling at node 3"));
  EXPECT_THAT(refusal({0, 0}, 3), HasSubstr("the vocabulary of draft is 3, needs the 2 entries"));
}

RC_GTEST_PROP(VocabMap, SpoilsNoTreeWhenTheTablePasses, ()) {
  auto const rows = *tev_test::drafts(4, 4);
  auto const targets = *rc::gen::unique<offsets>(static_cast<std::size_t>(rows.vocab),
                                                 rc::gen::inRange<std::int64_t>(0, 9));
  auto offset = targets;
  for (std::size_t i = 0; i < offset.size(); ++i) offset[i] -= static_cast<std::int64_t>(i);
  tev::vocab_map<> const map{offset, 9};
  RC_ASSERT(tev::validate(map).ok());
  auto const built = rows.best(20);
  auto const mapped = tev::map_tokens(built, map);
  auto const before = paths_of(built);
  auto const after = paths_of(mapped);
  for (std::size_t i = 0; i < before.size(); ++i)
    for (std::size_t d = 0; d < before[i].size(); ++d)
      RC_ASSERT(after[i][d] == targets[static_cast<std::size_t>(before[i][d])]);
}

}  // namespace
