// Threads for those who have no pool of their own.
#pragma once

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "tev/batch/executor.hpp"

namespace tev {

/// The calling thread and `threads - 1` that live as long as a call. Starting them allocates and
/// takes some tens of microseconds; an engine with a pool adapts that instead.
struct thread_executor {
  std::int32_t threads = 1;  ///< Below 1 counts as 1.

  [[nodiscard]] std::int32_t workers() const { return threads < 1 ? 1 : threads; }

  template <class Work>
  void for_each(std::int32_t count, Work const& work) const {
    std::atomic<std::int32_t> next = 0;
    auto const run = [&](std::int32_t worker) {
      for (std::int32_t task = next++; task < count; task = next++) work(task, worker);
    };
    std::vector<std::jthread> others;
    try {
      for (std::int32_t worker = 1; worker < workers() && worker < count; ++worker)
        others.emplace_back(run, worker);
    } catch (std::system_error const&) {
      // The system gives no more threads: those there are do all of the work.
    }
    run(0);
  }
};

static_assert(executor<thread_executor>);

}  // namespace tev
