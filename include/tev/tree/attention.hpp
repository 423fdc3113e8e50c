// What a transformer needs to evaluate a tree in one forward: depths, positions, ancestor mask.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/tree/concept.hpp"

namespace tev {

/// Depth of every node [size]; the root's is 0. O(size).
template <tree Tree>
[[nodiscard]] std::vector<std::int32_t> depths(Tree const& t) {
  std::vector<std::int32_t> depth(t.size(), 0);
  for (node_id v = 1; v < t.size(); ++v) depth[v] = depth[t.parent(v)] + 1;
  return depth;
}

/// Sequence position of every node [size]: the root's position plus the depth.
template <tree Tree>
[[nodiscard]] std::vector<std::int32_t> positions(Tree const& t, std::int32_t root_position) {
  auto position = depths(t);
  for (auto& p : position) p += root_position;
  return position;
}

/// Words of one row of an ancestor mask over `size` nodes.
[[nodiscard]] constexpr std::int32_t mask_words(std::int32_t size) { return (size + 31) / 32; }

/// Ancestor mask [size, mask_words(size)] in 32-bit words, lowest bit first: bit u of row v is set
/// when u is v or an ancestor of v. Parents come first, so ascending bits are ascending positions.
/// O(size^2 / 32).
template <tree Tree>
[[nodiscard]] std::vector<std::uint32_t> ancestor_mask(Tree const& t) {
  std::int32_t const words = mask_words(t.size());
  std::vector<std::uint32_t> mask(static_cast<std::size_t>(t.size()) * words, 0u);
  for (node_id v = 0; v < t.size(); ++v) {
    auto* const row = mask.data() + static_cast<std::size_t>(v) * words;
    if (v > 0) std::copy_n(mask.data() + static_cast<std::size_t>(t.parent(v)) * words, words, row);
    row[v / 32] |= 1u << (v % 32);
  }
  return mask;
}

}  // namespace tev
