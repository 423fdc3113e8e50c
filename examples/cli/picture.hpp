// tree_picture: one verified draft tree as a standalone SVG.
#pragma once

#include <string>
#include <vector>

#include "tev/exit_law/exit_law.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/verify/concept.hpp"

namespace cli {

/// What one cycle's picture shows. The tree and its exit law have to outlive it.
struct tree_picture {
  tev::draft_tree const& tree;
  tev::exit_law<double> const& law;
  std::vector<std::string>
      labels;            ///< [size] bytes of the tokens; the root's is the last committed
  tev::outcome outcome;  ///< What the verifier decided.
  std::string bonus;     ///< Bytes of the bonus token; shown when the outcome has one.
  std::string title;     ///< The line above the tree.
};

/// Returns the picture as a standalone SVG 1.1 document: no scripts, style sheets or outside fonts.
///
/// Depth goes from left to right. An edge is as wide as the child's reach, 14 px at 1, leaves its
/// parent at its share of the flow, and is dashed below 1e-4, where a hairline of 0.75 px remains.
/// A disc of area proportional to the exit law hangs below its node, 12 px in radius at 1, with the
/// number where it is at least 0.1 %. The accepted path and the exit node are marked by colour,
/// outline and weight; the bonus token follows the exit node. Tokens are shown by `make_visible`,
/// whole in the tooltip; an empty one by its id.
///
/// Each node v is a `<g class="node" id="nv">`, each edge a `<path class="edge" id="ev">` of its
/// child. Throws `llm::error` when the sizes or the exit node do not belong to the tree.
/// O(size * depth).
[[nodiscard]] std::string draw_svg(tree_picture const& picture);

}  // namespace cli
