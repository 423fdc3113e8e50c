// Who executes a verifier: one host thread, or the threads of one CUDA block.
#pragma once

#include <concepts>
#include <cstdint>

namespace tev {

/// Answer of `pick`: the rank that was hit, and what of `r` is left inside its weight.
struct picked {
  std::int32_t rank;
  std::uint64_t rest;
};

/// Threads that run the same code over one problem and meet in collectives.
///
/// Syntax: `rank()`, `size()`, `sum(w)`, `max(w)`, `any(b)`, `pick(w, r)`, `broadcast(w, rank)`,
/// `barrier()`, all const.
/// Semantics:
///   M1. rank() is in [0, size()).
///   M2. sum, max and any combine one value of each thread; every thread gets the result.
///   M3. pick(w, r) = the least rank whose running sum of weights passes r, and r less the weights
///       before it; rank size() when the weights sum to r or less. Every thread gets the result.
///   M4. broadcast(w, rank) = that rank's w.
///   M5. What was written before a barrier is seen by every thread of the team after it.
/// One rule for callers: every thread reaches every collective in the same order.
template <class T>
concept team = requires(T const& t, std::uint64_t w, bool b, std::int32_t n) {
  { t.rank() } -> std::same_as<std::int32_t>;
  { t.size() } -> std::same_as<std::int32_t>;
  { t.sum(w) } -> std::same_as<std::uint64_t>;
  { t.max(w) } -> std::same_as<std::uint64_t>;
  { t.any(b) } -> std::same_as<bool>;
  { t.pick(w, w) } -> std::same_as<picked>;
  { t.broadcast(w, n) } -> std::same_as<std::uint64_t>;
  t.barrier();
};

}  // namespace tev
