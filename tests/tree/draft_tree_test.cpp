#include "tev/tree/draft_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/path.hpp"
#include "tree/random_tree.hpp"

namespace {

using testing::ElementsAre;
using tev::draft_tree;
using tev::node_id;
using tev::token_id;
using path = std::vector<token_id>;

TEST(DraftTree, StartsAsALoneRoot) {
  draft_tree const t;
  EXPECT_EQ(t.size(), 1);
  EXPECT_EQ(t.parent(0), tev::no_node);
  EXPECT_EQ(t.first_child(0), tev::no_node);
  EXPECT_EQ(t.next_sibling(0), tev::no_node);
}

TEST(DraftTree, KeepsParentsAndTokens) {
  auto const t = draft_tree::from_parents({-1, 0, 0, 2}, {9, 4, 5, 6});
  EXPECT_THAT(t.parents(), ElementsAre(-1, 0, 0, 2));
  EXPECT_THAT(t.tokens(), ElementsAre(9, 4, 5, 6));
  EXPECT_EQ(t.first_child(2), 3);
  EXPECT_EQ(t.next_sibling(1), 2);
}

TEST(DraftTree, SaysWhatIsWrongAndWhere) {
  auto const message = [](std::vector<node_id> parents, std::vector<token_id> tokens) {
    try {
      (void)draft_tree::from_parents(std::move(parents), std::move(tokens));
    } catch (tev::argument_error const& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message({-1, 0, 0}, {0, 3, 3}), "draft_tree: duplicate_sibling at node 2");
  EXPECT_EQ(message({-1, 2, 0}, {0, 3, 4}), "draft_tree: parent_order at node 1");
  EXPECT_EQ(message({-1, 0}, {0, -3}), "draft_tree: token_range at node 1");
  EXPECT_THAT(message({}, {}), testing::HasSubstr("empty"));
}

TEST(DraftTree, SharesThePrefixesOfPaths) {
  std::vector<path> const paths{{3, 1}, {3, 2, 5}, {}, {4}, {3}, {3, 1}};
  auto const t = draft_tree::from_paths(paths);
  EXPECT_THAT(t.parents(), ElementsAre(-1, 0, 1, 1, 3, 0));
  EXPECT_THAT(t.tokens(), ElementsAre(-1, 3, 1, 2, 5, 4));
}

TEST(DraftTree, RefusesPathsWithoutUsableTokens) {
  EXPECT_THROW((void)draft_tree::from_paths(std::vector<path>{{1, -1}}), tev::argument_error);
}

TEST(DraftTree, IsSeenUnchangedThroughItsView) {
  auto const t = draft_tree::from_parents({-1, 0, 0, 2}, {9, 4, 5, 6});
  auto const view = t.view();
  ASSERT_EQ(view.size(), t.size());
  for (node_id v = 0; v < t.size(); ++v) {
    EXPECT_EQ(view.parent(v), t.parent(v));
    EXPECT_EQ(view.token(v), t.token(v));
    EXPECT_EQ(view.first_child(v), t.first_child(v));
    EXPECT_EQ(view.next_sibling(v), t.next_sibling(v));
  }
}

RC_GTEST_PROP(DraftTree, FromPathsHoldsExactlyThePrefixes, ()) {
  auto const paths = *rc::gen::container<std::vector<path>>(
      rc::gen::resize(5, rc::gen::container<path>(rc::gen::inRange(0, 3))));
  std::set<path> expected;
  for (auto const& p : paths)
    for (std::size_t n = 0; n <= p.size(); ++n)
      expected.insert({p.begin(), p.begin() + static_cast<std::ptrdiff_t>(n)});
  expected.insert(path{});

  auto const t = draft_tree::from_paths(paths);
  std::set<path> found;
  for (node_id v = 0; v < t.size(); ++v) found.insert(tev::tokens_to(t, v));
  RC_ASSERT(found == expected);
  RC_ASSERT(found.size() == static_cast<std::size_t>(t.size()));
}

TEST(DraftTree, SortsASetOfPathsByLengthAndThenByPath) {
  std::vector<path> const paths{{7, 1}, {3, 2, 5}, {}, {4}, {7, 1}, {3, 0}};
  auto const t = draft_tree::from_path_set(paths);
  EXPECT_THAT(t.parents(), ElementsAre(-1, 0, 0, 0, 1, 1, 3, 5));
  EXPECT_THAT(t.tokens(), ElementsAre(-1, 3, 4, 7, 0, 2, 1, 5));
  EXPECT_EQ(draft_tree::from_path_set({}), draft_tree());
  EXPECT_THROW((void)draft_tree::from_path_set(std::vector<path>{{-1}}), tev::argument_error);
}

RC_GTEST_PROP(DraftTree, FromPathSetSortsWhateverTheOrder, ()) {
  auto const t = tev_test::random_tree(25, 5);
  std::set<std::pair<std::size_t, path>> sorted;
  std::vector<path> paths;
  for (node_id v = 0; v < t.size(); ++v) {
    paths.push_back(tev::tokens_to(t, v));
    sorted.emplace(paths.back().size(), paths.back());
  }
  std::swap(paths[0], paths[*rc::gen::inRange<std::size_t>(0, paths.size())]);
  auto const u = draft_tree::from_path_set(paths);
  node_id v = 0;
  RC_ASSERT(static_cast<std::size_t>(u.size()) == sorted.size());
  for (auto const& [length, p] : sorted) RC_ASSERT(tev::tokens_to(u, v++) == p);
}

TEST(DraftTree, IsEqualWhereParentsAndTokensAre) {
  auto const t = draft_tree::from_parents({-1, 0, 0}, {-1, 4, 5});
  EXPECT_EQ(t, draft_tree::from_parents({-1, 0, 0}, {-1, 4, 5}));
  EXPECT_NE(t, draft_tree::from_parents({-1, 0, 1}, {-1, 4, 5}));
  EXPECT_NE(t, draft_tree::from_parents({-1, 0, 0}, {-1, 4, 6}));
}

RC_GTEST_PROP(DraftTree, ComesBackFromItsOwnPaths, ()) {
  auto const t = tev_test::random_tree(30, 5);
  std::vector<path> paths;
  for (node_id v = 0; v < t.size(); ++v) paths.push_back(tev::tokens_to(t, v));
  RC_ASSERT(draft_tree::from_paths(paths) == t);
}

}  // namespace
