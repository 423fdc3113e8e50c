// tree_layout: where the nodes of a tree are drawn, left to right, so that none overlaps another.
#pragma once

#include <span>
#include <vector>

#include "tev/core/types.hpp"

namespace cli {

/// The space of one node around the height of its anchor: [x, x + width] by [y - above, y + below].
/// All in pixels and not negative.
struct node_extent {
  double width = 0;
  double above = 0;
  double below = 0;
};

/// What is kept free between nodes, in pixels.
struct layout_gaps {
  double between_rows = 10;
  double between_columns = 40;
  double most_between_columns = 110;  ///< Columns joined by steep edges move apart up to this.
};

/// Anchors of the nodes and the size of the whole; the upper left corner is (0, 0).
struct tree_layout {
  std::vector<double> x;           ///< [size] left edge
  std::vector<double> y;           ///< [size] height of the anchor
  std::vector<double> column_end;  ///< [depths] right edge of the widest node of each depth
  double width = 0;
  double height = 0;
};

/// Places the nodes of a tree given by `parents` [size]: parents[0] is -1, parents stand before
/// children.
///
/// Nodes of one depth share their x. Children keep their order from top to bottom, a parent stands
/// midway between its first and its last child, and subtrees are pushed together until their
/// outlines are `between_rows` apart (after Reingold and Tilford, Tidier Drawings of Trees, 1981).
/// No two extents overlap, and what is drawn between two columns from a parent to its children
/// meets no other node. O(size * depth). `extents` has one entry a node.
[[nodiscard]] tree_layout place_nodes(std::span<tev::node_id const> parents,
                                      std::span<node_extent const> extents,
                                      layout_gaps const& gaps = {});

}  // namespace cli
