#include "tev/tree/links.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/fault.hpp"
#include "tev/tree/parents_of_links.hpp"
#include "tev/tree/view.hpp"
#include "tree/random_tree.hpp"

namespace {

using tev::node_id;
using tev::tree_fault;
using nodes = std::vector<node_id>;

TEST(LinkChildren, ListsSiblingsInIndexOrder) {
  nodes const parents{-1, 0, 0, 1, 0, 1};
  nodes children(6, 77), siblings(6, 77);
  tev::link_children(parents, children, siblings);
  EXPECT_EQ(children, (nodes{1, 3, -1, -1, -1, -1}));
  EXPECT_EQ(siblings, (nodes{-1, 2, 4, 5, -1, -1}));
}

TEST(LinkChildren, LeavesOutParentsThatAreNotBefore) {
  nodes const parents{-1, 0, 2, 9, -5, 4, 7};
  nodes children(7), siblings(7);
  tev::link_children(parents, children, siblings);
  EXPECT_EQ(children, (nodes{1, -1, -1, -1, 5, -1, -1}));
  EXPECT_EQ(siblings, nodes(7, -1));
}

TEST(LinkChildren, RefusesArraysOfAnotherLength) {
  nodes const parents{-1, 0};
  nodes two(2), one(1);
  EXPECT_THROW(tev::link_children(parents, one, two), tev::argument_error);
  EXPECT_THROW(tev::link_children(parents, two, one), tev::argument_error);
}

RC_GTEST_PROP(LinkChildren, GivesTheParentsBack, ()) {
  auto const t = tev_test::random_tree(60, 9);
  nodes parents(t.size(), -1);
  std::int32_t visited = 0;
  for (node_id v = 0; v < t.size(); ++v) {
    node_id last = v;
    tev::for_each_child(t, v, [&](node_id child) {
      RC_ASSERT(child > last);
      last = child;
      parents[child] = v;
      ++visited;
    });
  }
  RC_ASSERT(visited == t.size() - 1);
  RC_ASSERT(parents == nodes(t.parents().begin(), t.parents().end()));
}

tev::tree_check parents_of(nodes const& children, nodes const& siblings, nodes& parents) {
  parents.assign(children.size(), 77);
  std::vector<std::int64_t> const wide_children(children.begin(), children.end());
  std::vector<std::int64_t> const wide_siblings(siblings.begin(), siblings.end());
  nodes wide_parents(children.size(), 66);
  auto const found = tev::parents_of_links(children, siblings, parents);
  EXPECT_EQ(tev::parents_of_links(wide_children, wide_siblings, wide_parents), found);
  EXPECT_TRUE(!found.ok() || wide_parents == parents);
  return found;
}

TEST(ParentsOfLinks, TakesSiblingsInAnyOrder) {
  nodes parents;
  nodes const children{3, -1, -1, -1}, siblings{-1, -1, 1, 2};
  EXPECT_TRUE(parents_of(children, siblings, parents).ok());
  EXPECT_EQ(parents, (nodes{-1, 0, 0, 0}));
  nodes listed;
  tev::for_each_linked(std::span<node_id const>(children), std::span<node_id const>(siblings), 0,
                       [&](node_id c) { listed.push_back(c); });
  EXPECT_EQ(listed, (nodes{3, 2, 1}));
  // Damaged lists end: outside the arrays, and when a circle has been walked once.
  auto const visits = [](nodes const& first, nodes const& next) {
    int count = 0;
    tev::for_each_linked(std::span(first), std::span(next), 0, [&](node_id) { ++count; });
    return count;
  };
  EXPECT_EQ(visits({1, -1, -1}, {-1, 3, -1}), 1);
  EXPECT_EQ(visits({1, -1, -1}, {-1, 2, 1}), 3);
}

TEST(ParentsOfLinks, NamesWhatIsWrong) {
  nodes parents;
  auto const found = [&](nodes const& children, nodes const& siblings, tree_fault fault,
                         node_id v) {
    return parents_of(children, siblings, parents) == tev::tree_check{fault, v};
  };
  EXPECT_TRUE(found({}, {}, tree_fault::empty, -1));
  EXPECT_TRUE(found({-1}, {-1}, tree_fault::none, -1)) << "a lone root";
  EXPECT_TRUE(found({1, -1}, {1, -1}, tree_fault::bad_root, 0)) << "the root has a sibling";
  EXPECT_TRUE(found({1, 0}, {-1, -1}, tree_fault::bad_root, 0)) << "the root is a child";
  EXPECT_TRUE(found({1, 3, -1}, {-1, 2, -1}, tree_fault::node_range, 1));
  EXPECT_TRUE(found({1, -1, -1}, {-1, -2, -1}, tree_fault::node_range, 1));
  EXPECT_TRUE(found({1, 2, -1}, {-1, 2, -1}, tree_fault::two_parents, 2));
  EXPECT_TRUE(found({1, -1, -1}, {-1, 2, 1}, tree_fault::two_parents, 1)) << "a circle";
  EXPECT_TRUE(found({1, -1, -1}, {-1, -1, -1}, tree_fault::unreached, 2));
  EXPECT_TRUE(found({2, -1, 1}, {-1, -1, -1}, tree_fault::parent_order, 1));
  EXPECT_TRUE(found({1, -1, 3, 2}, {-1, -1, -1, -1}, tree_fault::cycle, 2));
  EXPECT_EQ(tev::parents_of_links(nodes{-1}, nodes{-1, -1}, parents),
            (tev::tree_check{tree_fault::size_mismatch, -1}));
  EXPECT_EQ(tev::parents_of_links(nodes{-1, -1}, nodes{-1}, parents),
            (tev::tree_check{tree_fault::size_mismatch, -1}));
  std::vector<std::int64_t> const one{-1}, two{-1, -1};
  EXPECT_EQ(tev::parents_of_links(one, two, parents),
            (tev::tree_check{tree_fault::size_mismatch, -1}));
  EXPECT_EQ(tev::parents_of_links(two, one, parents),
            (tev::tree_check{tree_fault::size_mismatch, -1}));
}

TEST(ParentsOfLinks, NeverCutsWideIdsToOtherOnes) {
  std::vector<std::int64_t> const children{(std::int64_t{1} << 32) + 1, -1}, siblings{-1, -1};
  nodes parents(2);
  EXPECT_EQ(tev::parents_of_links(children, siblings, parents),
            (tev::tree_check{tree_fault::node_range, 0}));
}

// The definition: one way from the root to each node, by steps that go up.
RC_GTEST_PROP(ParentsOfLinks, AcceptsExactlyTheLinksOfTrees, ()) {
  auto const t = tev_test::random_tree(7, 9);
  nodes children(t.size()), siblings(t.size()), parents;
  tev::link_children(t.parents(), children, siblings);
  RC_ASSERT(parents_of(children, siblings, parents).ok());
  RC_ASSERT(std::ranges::equal(parents, t.parents()));

  auto& changed = *rc::gen::arbitrary<bool>() ? children : siblings;
  changed[*rc::gen::inRange(0, t.size())] = *rc::gen::inRange(-2, t.size() + 2);
  nodes reached(t.size(), 0);
  bool tree = siblings[0] == -1;
  for (node_id v = 0; v < t.size(); ++v) {
    node_id c = children[v];
    for (node_id steps = 0; c != -1; c = siblings[c]) {
      tree = tree && c > v && c < t.size() && ++steps <= t.size();
      if (!tree) break;
      ++reached[c];
    }
  }
  for (node_id v = 1; v < t.size(); ++v) tree = tree && reached[v] == 1;
  RC_ASSERT(parents_of(children, siblings, parents).ok() == tree);
}

// A walk over links that nobody checked, as a verifier meets them.
RC_GTEST_PROP(FindChild, EndsForAnyLinks, ()) {
  auto const size = *rc::gen::inRange(1, 12);
  auto const links = rc::gen::container<nodes>(size, rc::gen::inRange(-2, 14));
  auto const children = *links, siblings = *links;
  nodes const zeros(size, 0);
  tev::tree_view const t{size, zeros.data(), zeros.data(), children.data(), siblings.data()};
  for (node_id v = 0; v < size; ++v) {
    std::int32_t visits = 0;
    tev::for_each_child(t, v, [&](node_id child) {
      RC_ASSERT(child > v && child < size);
      ++visits;
    });
    RC_ASSERT(visits < size);
  }
}

TEST(FindChild, StopsAtTheFirstThatIsTaken) {
  nodes const parents{-1, 0, 0, 0};
  auto const t = tev::draft_tree::from_parents(parents, {0, 5, 6, 7});
  std::int32_t visits = 0;
  EXPECT_EQ(tev::find_child(t, 0, [&](node_id c) { return ++visits, t.token(c) == 6; }), 2);
  EXPECT_EQ(visits, 2);
  EXPECT_EQ(tev::find_child(t, 0, [&](node_id c) { return t.token(c) == 8; }), tev::no_node);
  EXPECT_EQ(tev::find_child(t, 3, [](node_id) { return true; }), tev::no_node);
}

}  // namespace
