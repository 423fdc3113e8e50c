// Nodes of a drawn tree never overlap, whatever the tree and the sizes.
#include "cli/tree_layout.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {

constexpr double tolerance = 1e-6;

struct drawn_tree {
  std::vector<tev::node_id> parents;
  std::vector<cli::node_extent> extents;
};

rc::Gen<drawn_tree> drawn_trees(int most) {
  return rc::gen::exec([most] {
    drawn_tree t;
    int const size = *rc::gen::inRange(1, most + 1);
    // Small windows give deep trees, large ones wide trees.
    int const window = *rc::gen::inRange(1, size + 1);
    for (int v = 0; v < size; ++v) {
      t.parents.push_back(v == 0 ? tev::no_node : *rc::gen::inRange(std::max(0, v - window), v));
      t.extents.push_back({double(*rc::gen::inRange(1, 120)), double(*rc::gen::inRange(1, 40)),
                           double(*rc::gen::inRange(1, 60))});
    }
    return t;
  });
}

rc::Gen<drawn_tree> sized(int most) { return rc::gen::resize(rc::kNominalSize, drawn_trees(most)); }

RC_GTEST_PROP(TreeLayout, NoTwoNodesOverlap, ()) {
  auto const t = *sized(120);
  cli::layout_gaps const gaps{.between_rows = 6};
  auto const placed = cli::place_nodes(t.parents, t.extents, gaps);
  for (std::size_t a = 0; a < t.parents.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      bool const beside = placed.x[a] + t.extents[a].width <= placed.x[b] + tolerance ||
                          placed.x[b] + t.extents[b].width <= placed.x[a] + tolerance;
      bool const apart =
          placed.y[a] + t.extents[a].below + 6 <= placed.y[b] - t.extents[b].above + tolerance ||
          placed.y[b] + t.extents[b].below + 6 <= placed.y[a] - t.extents[a].above + tolerance;
      RC_ASSERT(beside || apart);
    }
  }
}

RC_GTEST_PROP(TreeLayout, StaysInsideItsSizeAndTouchesEverySide, ()) {
  auto const t = *sized(80);
  auto const placed = cli::place_nodes(t.parents, t.extents);
  double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
  for (std::size_t v = 0; v < t.parents.size(); ++v) {
    left = std::min(left, placed.x[v]);
    right = std::max(right, placed.x[v] + t.extents[v].width);
    top = std::min(top, placed.y[v] - t.extents[v].above);
    bottom = std::max(bottom, placed.y[v] + t.extents[v].below);
  }
  RC_ASSERT(std::abs(left) < tolerance);
  RC_ASSERT(std::abs(top) < tolerance);
  RC_ASSERT(std::abs(right - placed.width) < tolerance);
  RC_ASSERT(std::abs(bottom - placed.height) < tolerance);
}

RC_GTEST_PROP(TreeLayout, ChildrenStandInTheNextColumnInOrderAroundTheirParent, ()) {
  auto const t = *sized(80);
  auto const placed = cli::place_nodes(t.parents, t.extents);
  for (std::size_t parent = 0; parent < t.parents.size(); ++parent) {
    std::vector<std::size_t> children;
    for (std::size_t v = 1; v < t.parents.size(); ++v)
      if (t.parents[v] == static_cast<tev::node_id>(parent)) children.push_back(v);
    for (std::size_t i = 0; i < children.size(); ++i) {
      RC_ASSERT(placed.x[children[i]] >=
                placed.x[parent] + t.extents[parent].width + 40 - tolerance);
      if (i > 0) RC_ASSERT(placed.y[children[i - 1]] < placed.y[children[i]]);
    }
    if (!children.empty()) {
      double const middle = (placed.y[children.front()] + placed.y[children.back()]) / 2;
      RC_ASSERT(std::abs(placed.y[parent] - middle) < tolerance);
    }
  }
}

// What is drawn between two columns meets no other node when parents of one column keep their
// children apart: the intervals of children are in the order of their parents.
RC_GTEST_PROP(TreeLayout, EdgesOfOneColumnDoNotCross, ()) {
  auto const t = *sized(60);
  auto const placed = cli::place_nodes(t.parents, t.extents);
  for (std::size_t a = 1; a < t.parents.size(); ++a) {
    for (std::size_t b = 1; b < a; ++b) {
      if (placed.x[a] != placed.x[b] || t.parents[a] == t.parents[b]) continue;
      bool const above = placed.y[a] < placed.y[b];
      RC_ASSERT(above == (placed.y[t.parents[a]] < placed.y[t.parents[b]]));
    }
  }
}

TEST(TreeLayout, ALoneRootTakesItsOwnSpace) {
  std::vector<tev::node_id> const parents{tev::no_node};
  std::vector<cli::node_extent> const extents{{30, 12, 20}};
  auto const placed = cli::place_nodes(parents, extents);
  EXPECT_EQ(placed.width, 30);
  EXPECT_EQ(placed.height, 32);
  EXPECT_EQ(placed.y.at(0), 12);
}

TEST(TreeLayout, AChainIsOneStraightLine) {
  std::vector<tev::node_id> parents(1024);
  for (std::size_t v = 0; v < parents.size(); ++v) parents[v] = static_cast<tev::node_id>(v) - 1;
  std::vector<cli::node_extent> const extents(parents.size(), {30, 12, 12});
  auto const placed = cli::place_nodes(parents, extents);
  EXPECT_EQ(placed.height, 24);
  for (double const y : placed.y) EXPECT_EQ(y, 12);
}

TEST(TreeLayout, PushesSubtreesTogetherWhereTheirOutlinesAllowIt) {
  // The root's children: one with two children of its own, one leaf that fits beside them.
  std::vector<tev::node_id> const parents{-1, 0, 0, 1, 1};
  std::vector<cli::node_extent> const extents(5, {30, 10, 10});
  auto const placed = cli::place_nodes(parents, extents, {.between_rows = 10});
  EXPECT_EQ(placed.y[2] - placed.y[1], 30);
}

}  // namespace
