// Placing the nodes of a tree by the outlines of their subtrees.
#include "tree_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cli {
namespace {

/// What a subtree covers at one depth, relative to its root's anchor.
struct reach_of_level {
  double top;
  double bottom;
};

/// A subtree's levels from its deepest to its root's, so that a root is added at the end.
using outline = std::vector<reach_of_level>;

void shift(outline& levels, double by) {
  for (reach_of_level& level : levels) {
    level.top += by;
    level.bottom += by;
  }
}

/// Returns how far `below` has to move down to be `gap` below `above`, level by level.
double clearance(outline const& above, outline const& below, double gap) {
  double needed = 0;
  auto a = above.rbegin();
  for (auto b = below.rbegin(); a != above.rend() && b != below.rend(); ++a, ++b)
    needed = std::max(needed, a->bottom + gap - b->top);
  return needed;
}

/// Joins `below`, already moved, to `above`.
outline joined(outline above, outline below) {
  bool const deeper = below.size() > above.size();
  outline& longer = deeper ? below : above;
  outline const& shorter = deeper ? above : below;
  auto into = longer.rbegin();
  for (auto from = shorter.rbegin(); from != shorter.rend(); ++from, ++into)
    *into = {std::min(into->top, from->top), std::max(into->bottom, from->bottom)};
  return std::move(longer);
}

/// Fills y relative to the parent's, children before parents, and returns the whole outline.
outline place_rows(std::vector<std::vector<std::size_t>> const& children,
                   std::span<node_extent const> extents, double gap, std::vector<double>& y) {
  std::vector<outline> outlines(extents.size());
  for (std::size_t v = extents.size(); v-- > 0;) {
    outline all;
    for (std::size_t const child : children[v]) {
      outline& next = outlines[child];
      if (!all.empty()) {
        y[child] = clearance(all, next, gap);
        shift(next, y[child]);
      }
      all = all.empty() ? std::move(next) : joined(std::move(all), std::move(next));
    }
    if (!children[v].empty()) {
      double const middle = (y[children[v].front()] + y[children[v].back()]) / 2;
      for (std::size_t const child : children[v]) y[child] -= middle;
      shift(all, -middle);
    }
    all.push_back({-extents[v].above, extents[v].below});
    outlines[v] = std::move(all);
  }
  return std::move(outlines.front());
}

}  // namespace

tree_layout place_nodes(std::span<tev::node_id const> parents, std::span<node_extent const> extents,
                        layout_gaps const& gaps) {
  std::size_t const size = parents.size();
  tree_layout placed{std::vector<double>(size), std::vector<double>(size), {}, 0, 0};
  if (size == 0) return placed;

  std::vector<std::vector<std::size_t>> children(size);
  std::vector<std::size_t> depth(size);
  for (std::size_t v = 1; v < size; ++v) {
    auto const parent = static_cast<std::size_t>(parents[v]);
    children[parent].push_back(v);
    depth[v] = depth[parent] + 1;
  }
  outline const whole = place_rows(children, extents, gaps.between_rows, placed.y);
  double top = whole.front().top;
  double bottom = whole.front().bottom;
  for (reach_of_level const& level : whole) {
    top = std::min(top, level.top);
    bottom = std::max(bottom, level.bottom);
  }
  placed.height = bottom - top;
  placed.y[0] = -top;
  for (std::size_t v = 1; v < size; ++v) placed.y[v] += placed.y[parents[v]];

  std::size_t const columns = *std::ranges::max_element(depth) + 1;
  std::vector<double> width(columns), climb(columns);
  for (std::size_t v = 0; v < size; ++v) {
    width[depth[v]] = std::max(width[depth[v]], extents[v].width);
    if (v == 0) continue;
    double const rise = placed.y[v] - placed.y[parents[v]];
    climb[depth[v]] = std::max(climb[depth[v]], rise < 0 ? -rise : rise);
  }
  std::vector<double> begin(columns);
  for (std::size_t d = 1; d < columns; ++d) {
    begin[d] = begin[d - 1] + width[d - 1] +
               std::clamp(climb[d] / 4, gaps.between_columns, gaps.most_between_columns);
  }
  for (std::size_t d = 0; d < columns; ++d) placed.column_end.push_back(begin[d] + width[d]);
  for (std::size_t v = 0; v < size; ++v) placed.x[v] = begin[depth[v]];
  placed.width = placed.column_end.back();
  return placed;
}

}  // namespace cli
