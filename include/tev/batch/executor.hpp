// Who runs the requests of a batch.
#pragma once

#include <concepts>
#include <cstdint>

namespace tev {

/// Runs independent tasks.
///
/// Syntax: `workers()`, `for_each(count, work)`, const.
/// Semantics:
///   E1. for_each calls work(task, worker) once for every task in [0, count) and returns when all
///       calls have. `worker` is in [0, workers()); no two calls with one worker overlap.
/// Not required: an order, any parallelism. `work` does not throw.
template <class E>
concept executor = requires(E const& e, std::int32_t n, void (*work)(std::int32_t, std::int32_t)) {
  { e.workers() } -> std::same_as<std::int32_t>;
  e.for_each(n, work);
};

/// The calling thread.
struct inline_executor {
  [[nodiscard]] constexpr std::int32_t workers() const { return 1; }
  template <class Work>
  constexpr void for_each(std::int32_t count, Work&& work) const {
    for (std::int32_t task = 0; task < count; ++task) work(task, 0);
  }
};

static_assert(executor<inline_executor>);

}  // namespace tev
