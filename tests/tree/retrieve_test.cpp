#include "tev/tree/retrieve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/tree/fault.hpp"
#include "tree/random_tree.hpp"

namespace {

using testing::ElementsAre;
using tev::node_id;
using tev::tree_check;
using tev::tree_fault;
using nodes = std::vector<node_id>;

tree_check parents_of(nodes const& table, std::size_t length, nodes& parents) {
  std::vector<std::int64_t> const wide(table.begin(), table.end());
  nodes wide_parents(parents.size(), 66);
  auto const found = tev::parents_of_retrieve(table, length, parents);
  EXPECT_EQ(tev::parents_of_retrieve(wide, length, wide_parents), found);
  EXPECT_TRUE(!found.ok() || wide_parents == parents);
  return found;
}

TEST(RetrieveTable, ListsTheWayToEachLeafInAscendingOrder) {
  auto const t = tev::draft_tree::from_parents({-1, 0, 1, 0, 2, 1, 3}, {0, 1, 2, 3, 4, 5, 6});
  auto const table = tev::retrieve_table_of(t);
  EXPECT_THAT(table.leaves, ElementsAre(4, 5, 6));
  EXPECT_EQ(table.length, 4);
  EXPECT_THAT(table.nodes, ElementsAre(0, 1, 2, 4, 0, 1, 5, -1, 0, 3, 6, -1));
  EXPECT_THAT(table.row(1), ElementsAre(0, 1, 5, -1));
}

TEST(RetrieveTable, OfALoneRootIsTheRoot) {
  auto const table = tev::retrieve_table_of(tev::draft_tree());
  EXPECT_THAT(table.leaves, ElementsAre(0));
  EXPECT_THAT(table.nodes, ElementsAre(0));
}

TEST(LeafPaths, AreTheTokensOfTheLeaves) {
  auto const t = tev::draft_tree::from_parents({-1, 0, 0, 2}, {9, 4, 5, 6});
  EXPECT_THAT(tev::leaf_paths(t), ElementsAre(ElementsAre(4), ElementsAre(5, 6)));
  EXPECT_THAT(tev::leaf_paths(tev::draft_tree()), ElementsAre(ElementsAre()));
}

TEST(ParentsOfRetrieve, NamesContradictions) {
  nodes parents(4);
  auto const found = [&](nodes const& table, std::size_t length, tree_fault fault, node_id v) {
    return parents_of(table, length, parents) == tree_check{fault, v};
  };
  EXPECT_TRUE(found({0, 1, 3, 0, 2, -1}, 3, tree_fault::none, -1));
  EXPECT_THAT(parents, ElementsAre(-1, 0, 0, 1));
  EXPECT_TRUE(found({-1, -1, -1, 0, 1, 3, 0, 2, -1, 0, 2, -1}, 3, tree_fault::none, -1));
  EXPECT_TRUE(found({0, 1, 3, 0, 2}, 3, tree_fault::size_mismatch, -1));
  EXPECT_TRUE(found({0}, 0, tree_fault::size_mismatch, -1));
  EXPECT_TRUE(found({}, 0, tree_fault::unreached, 0));
  EXPECT_TRUE(found({0, 1, 4, 0, 2, -1}, 3, tree_fault::node_range, 1));
  EXPECT_TRUE(found({0, 1, 3, -2, 2, -1}, 3, tree_fault::node_range, -1));
  EXPECT_TRUE(found({0, 1, 3, 2, -1, -1}, 3, tree_fault::second_root, 2));
  EXPECT_TRUE(found({0, 1, 3, 0, -1, 2}, 3, tree_fault::second_root, 2)) << "behind padding";
  EXPECT_TRUE(found({0, 1, 0, 0, 2, 3}, 3, tree_fault::bad_root, 0));
  EXPECT_TRUE(found({0, 1, 3, 0, 2, 3}, 3, tree_fault::two_parents, 3));
  EXPECT_TRUE(found({0, 1, 3}, 3, tree_fault::unreached, 2));
  EXPECT_TRUE(found({0, 2, 1, 0, 3, -1}, 3, tree_fault::parent_order, 1));
  nodes none;
  EXPECT_EQ(parents_of({0}, 1, none), (tree_check{tree_fault::empty, -1}));
}

RC_GTEST_PROP(ParentsOfRetrieve, TakesEveryTableBackAndAnyEntryInIt, ()) {
  auto const t = tev_test::random_tree(20, 5);
  auto table = tev::retrieve_table_of(t);
  auto const length = static_cast<std::size_t>(table.length);
  nodes parents(t.size(), 77);
  RC_ASSERT(parents_of(table.nodes, length, parents).ok());
  RC_ASSERT(std::ranges::equal(parents, t.parents()));

  auto& entry = table.nodes[*rc::gen::inRange<std::size_t>(0, table.nodes.size())];
  entry = *rc::gen::inRange(-2, t.size() + 2);
  if (!parents_of(table.nodes, length, parents).ok()) return;
  // A table that is still taken is that of some tree, each of whose rows is a way from the root.
  for (std::size_t i = 0; i < table.nodes.size(); ++i) {
    node_id const v = table.nodes[i];
    if (v > 0) RC_ASSERT(parents[v] == table.nodes[i - 1]);
    if (v == 0) RC_ASSERT(i % length == 0);
  }
}

RC_GTEST_PROP(LeafPaths, HoldEveryPrefix, ()) {
  auto const t = tev_test::random_tree(20, 5);
  auto const paths = tev::leaf_paths(t);
  auto const again = tev::draft_tree::from_path_set(paths);
  RC_ASSERT(again.size() == t.size());
  RC_ASSERT(tev::draft_tree::from_path_set(tev::leaf_paths(again)) == again);
}

}  // namespace
