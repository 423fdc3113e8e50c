#include "tev/tree/path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tev/core/types.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tree/random_tree.hpp"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PathTo, LeadsFromTheRootToTheNode) {
  auto const t = tev::draft_tree::from_parents({-1, 0, 0, 2, 3}, {8, 4, 5, 6, 7});
  EXPECT_THAT(tev::path_to(t, 4), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(tev::path_to(t, 1), ElementsAre(0, 1));
  EXPECT_THAT(tev::path_to(t, 0), ElementsAre(0));
}

TEST(TokensTo, LeavesTheRootsTokenOut) {
  auto const t = tev::draft_tree::from_parents({-1, 0, 0, 2, 3}, {8, 4, 5, 6, 7});
  EXPECT_THAT(tev::tokens_to(t, 4), ElementsAre(5, 6, 7));
  EXPECT_THAT(tev::tokens_to(t, 0), IsEmpty());
}

RC_GTEST_PROP(PathTo, StepsFromParentToChild, ()) {
  auto const t = tev_test::random_tree(50, 7);
  for (tev::node_id v = 0; v < t.size(); ++v) {
    auto const path = tev::path_to(t, v);
    auto const tokens = tev::tokens_to(t, v);
    RC_ASSERT(path.front() == 0 && path.back() == v);
    RC_ASSERT(tokens.size() + 1 == path.size());
    for (std::size_t i = 1; i < path.size(); ++i) {
      RC_ASSERT(t.parent(path[i]) == path[i - 1]);
      RC_ASSERT(t.token(path[i]) == tokens[i - 1]);
    }
  }
}

}  // namespace
