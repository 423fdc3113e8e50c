// The exit law in integers: how one random number in [0, unit) names an exit node.
#pragma once

#include <cstdint>

#include "tev/core/host_device.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/core/wide.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/tree/concept.hpp"

namespace tev {

/// Flow that enters the root, unless a caller asks for another: 2^62.
inline constexpr std::uint64_t default_flow_unit = std::uint64_t{1} << 62;

/// Share of `flow` that goes to the children whose masses sum to `running` of `total`.
///
/// Consecutive shares differ by exactly the child's flow, the last one by what leaves: flows sum
/// to the unit, and a node whose children hold all its mass lets exactly nothing leave.
[[nodiscard]] TEV_HOST_DEVICE constexpr std::uint64_t flow_share(std::uint64_t flow,
                                                                 std::uint64_t running,
                                                                 std::uint64_t total) {
  return multiply_divide(flow, running, total);
}

/// The interval [begin, begin + flow) of a node; its last `exit` values name the node itself.
struct flow_interval {
  std::uint64_t begin = 0;
  std::uint64_t flow = 0;
  std::uint64_t exit = 0;
};

/// Fills the intervals [size] of all nodes, level-parallel in nature: a node needs only its
/// parent's. Rows have to be prepared, the tree valid. O(size).
///
/// The exit flow of a node over the unit differs from its exit law by less than depth + 1 parts of
/// the unit, so the total variation is at most size / unit.
template <linked_tree Tree, distribution Target>
TEV_HOST_DEVICE void split_flow(Tree const& t, Target const& target, std::uint64_t unit,
                                flow_interval* intervals) {
  for (node_id v = 0; v < t.size(); ++v) intervals[v] = {};
  intervals[0].flow = unit;
  for (node_id v = 0; v < t.size(); ++v) {
    flow_interval& node = intervals[v];
    std::uint64_t running = 0, passed = 0;
    if (target.row_status(v) == status::ok)
      for_each_child(t, v, [&](node_id child) {
        running += target.mass(v, t.token(child));
        std::uint64_t const next = flow_share(node.flow, running, target.total(v));
        intervals[child].begin = node.begin + passed;
        intervals[child].flow = next - passed;
        passed = next;
      });
    node.exit = node.flow - passed;
  }
}

}  // namespace tev
