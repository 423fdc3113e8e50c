// Randomness as a pure function of where it is used.
#pragma once

#include <concepts>
#include <cstdint>

#include "tev/core/types.hpp"

namespace tev {

/// What a random number is for. Values below 128 belong to verifiers, the others to drafters, so
/// that the two sides of a decision can never share a number by accident.
enum class purpose : std::uint32_t {
  token = 0,     ///< The token drawn at a position (predraw, plain sampling).
  exit = 1,      ///< The exit node (tree_exit).
  residual = 2,  ///< The bonus token from a residual (tree_exit, sequential_residual).
  sibling = 3,   ///< The test of the index-th child of a node (sequential_residual).
  drafter = 128  ///< First of the purposes that drafters may use.
};

/// Names one random number. The position is that of the token being decided: a token drawn at node
/// v uses the root's position + depth(v) + 1, an exit draw the root's own.
struct decision {
  std::uint64_t request = 0;
  std::uint32_t position = 0;
  purpose what = purpose::token;
  std::uint32_t index = 0;  ///< Below 2^24.

  friend bool operator==(decision const&, decision const&) = default;
};

/// A source of uniform integers.
///
/// Syntax: `below(decision, n)`, const.
/// Semantics:
///   S1. A decision names one number u in [0, 1); below(d, n) = floor(u n), so in [0, n) for n > 0.
///   S2. Equal decisions share one u, also for different n. Different decisions are independent.
///   S3. The result depends on nothing else: no state, no order of calls, no thread.
/// Not required: a meaning for n = 0.
template <class S>
concept uniform_source = requires(S const& s, decision d, std::uint64_t n) {
  { s.below(d, n) } -> std::same_as<std::uint64_t>;
};

}  // namespace tev
