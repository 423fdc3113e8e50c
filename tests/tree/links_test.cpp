#include "tev/tree/links.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "tev/core/error.hpp"
#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"
#include "tev/tree/view.hpp"
#include "tree/random_tree.hpp"

namespace {

using tev::node_id;
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
