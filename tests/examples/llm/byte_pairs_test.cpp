// Merging by rank: against the plain quadratic rule, and on long words.
#include "llm/byte_pairs.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace {

using tev::token_id;
using ids = std::vector<token_id>;

struct merge_rule {
  token_id left;
  token_id right;
  token_id merged;
};

/// Applies the earliest rule at its leftmost place until none applies.
ids merge_plainly(std::vector<merge_rule> const& rules, ids symbols) {
  for (bool changed = true; changed;) {
    changed = false;
    for (merge_rule const& rule : rules) {
      for (std::size_t i = 0; i + 1 < symbols.size() && !changed; ++i) {
        if (symbols[i] != rule.left || symbols[i + 1] != rule.right) continue;
        symbols[i] = rule.merged;
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        changed = true;
      }
      if (changed) break;
    }
  }
  return symbols;
}

RC_GTEST_PROP(BytePairs, MergeAsThePlainRuleDoes, ()) {
  auto const count = *rc::gen::inRange(0, 12);
  std::vector<merge_rule> rules;
  llm::byte_pairs pairs;
  for (int i = 0; i < count; ++i) {
    // Symbols 0 to 2 are bytes; rule i makes 3 + i, of symbols that may come later or be equal.
    auto const left = *rc::gen::inRange<token_id>(0, 3 + i);
    auto const right = *rc::gen::inRange<token_id>(0, 3 + i);
    if (pairs.add(left, right, 3 + i)) rules.push_back({left, right, 3 + i});
  }
  auto const word = *rc::gen::container<ids>(rc::gen::inRange<token_id>(0, 3));
  ids merged;
  pairs.merge(word, merged);
  RC_ASSERT(merged == merge_plainly(rules, word));
}

TEST(BytePairs, PreferTheEarlierRuleThenTheLeftmostPlace) {
  llm::byte_pairs pairs;
  EXPECT_TRUE(pairs.add(1, 2, 4));
  EXPECT_TRUE(pairs.add(0, 1, 3));
  EXPECT_TRUE(pairs.add(0, 0, 5));
  ids merged;
  pairs.merge(ids{0, 1, 2}, merged);
  EXPECT_EQ(merged, (ids{0, 4}));
  merged.clear();
  pairs.merge(ids{0, 0, 0}, merged);
  EXPECT_EQ(merged, (ids{5, 0}));
}

TEST(BytePairs, KeepTheFirstMergeOfAPair) {
  llm::byte_pairs pairs;
  EXPECT_TRUE(pairs.add(0, 1, 2));
  EXPECT_FALSE(pairs.add(0, 1, 3));
  ids merged;
  pairs.merge(ids{0, 1}, merged);
  EXPECT_EQ(merged, ids{2});
}

TEST(BytePairs, AppendToWhatIsThere) {
  llm::byte_pairs const pairs;
  ids merged{9};
  pairs.merge({}, merged);
  pairs.merge(ids{4}, merged);
  EXPECT_EQ(merged, (ids{9, 4}));
}

TEST(BytePairs, MergeAMillionSymbolsToOne) {
  llm::byte_pairs pairs;
  for (token_id i = 0; i < 20; ++i) pairs.add(i, i, i + 1);
  ids merged;
  pairs.merge(ids(std::size_t{1} << 20, 0), merged);
  EXPECT_EQ(merged, ids{20});
}

}  // namespace
