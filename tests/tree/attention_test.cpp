#include "tev/tree/attention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/path.hpp"
#include "tree/random_tree.hpp"

namespace {

using testing::ElementsAre;
using tev::draft_tree;
using tev::node_id;

TEST(Depths, AreCountedFromTheRoot) {
  auto const t = draft_tree::from_parents({-1, 0, 1, 0, 2}, {0, 1, 2, 3, 4});
  EXPECT_THAT(tev::depths(t), ElementsAre(0, 1, 2, 1, 3));
  EXPECT_THAT(tev::positions(t, 40), ElementsAre(40, 41, 42, 41, 43));
}

TEST(AncestorMask, SetsANodeAndItsAncestorsLowestBitFirst) {
  auto const t = draft_tree::from_parents({-1, 0, 0, 1, 2}, {0, 1, 2, 3, 4});
  EXPECT_THAT(tev::ancestor_mask(t), ElementsAre(0b1u, 0b11u, 0b101u, 0b1011u, 0b10101u));
}

TEST(AncestorMask, NeedsOneWordForThirtyTwoNodes) {
  EXPECT_EQ(tev::mask_words(1), 1);
  EXPECT_EQ(tev::mask_words(32), 1);
  EXPECT_EQ(tev::mask_words(33), 2);
  EXPECT_EQ(tev::mask_words(64), 2);
  EXPECT_EQ(tev::mask_words(65), 3);
}

TEST(AncestorMask, CrossesAWordBoundary) {
  std::vector<node_id> parents{-1};
  std::vector<tev::token_id> tokens{0};
  for (node_id v = 1; v < 34; ++v) {
    parents.push_back(v - 1);
    tokens.push_back(0);
  }
  auto const mask = tev::ancestor_mask(draft_tree::from_parents(parents, tokens));
  ASSERT_EQ(mask.size(), 68u);
  EXPECT_EQ(mask[2 * 31], 0xffffffffu);
  EXPECT_EQ(mask[2 * 31 + 1], 0u);
  EXPECT_EQ(mask[2 * 33], 0xffffffffu);
  EXPECT_EQ(mask[2 * 33 + 1], 0b11u);
}

RC_GTEST_PROP(AncestorMask, HoldsThePathAndNothingElse, ()) {
  auto const t = tev_test::random_tree(100, 9);
  auto const mask = tev::ancestor_mask(t);
  auto const depth = tev::depths(t);
  auto const words = tev::mask_words(t.size());
  RC_ASSERT(mask.size() == static_cast<std::size_t>(t.size()) * words);
  for (node_id v = 0; v < t.size(); ++v) {
    std::vector<node_id> seen;
    for (std::int32_t bit = 0; bit < 32 * words; ++bit)
      if ((mask[static_cast<std::size_t>(v) * words + bit / 32] >> (bit % 32) & 1u) != 0)
        seen.push_back(bit);
    RC_ASSERT(seen == tev::path_to(t, v));
    RC_ASSERT(static_cast<std::int32_t>(seen.size()) == depth[v] + 1);
  }
}

}  // namespace
