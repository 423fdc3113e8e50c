// The loops and waits of thread_pool.

#include "thread_pool.hpp"

#include <algorithm>
#include <utility>

#include "error.hpp"

namespace llm {

thread_pool::thread_pool(int threads) {
  if (threads < 1 || threads > 1024) {
    throw make_error("threads: {} is not a number of threads; give 1 to 1024", threads);
  }
  try {
    workers_.reserve(static_cast<std::size_t>(threads) - 1);
    for (int rank = 1; rank < threads; ++rank) workers_.emplace_back([this, rank] { work(rank); });
  } catch (...) {
    join();
    throw;
  }
}

thread_pool::~thread_pool() { join(); }

void thread_pool::join() noexcept {
  {
    std::lock_guard const lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void thread_pool::run_part(int rank) noexcept {
  try {
    function_(context_, count_ * rank / parts_, count_ * (rank + 1) / parts_, rank);
  } catch (...) {
    std::lock_guard const lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void thread_pool::work(int rank) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    if (rank >= parts_) continue;
    lock.unlock();
    run_part(rank);
    lock.lock();
    if (--pending_ == 0) done_.notify_one();
  }
}

void thread_pool::run(std::int64_t count, std::int64_t grain, part_function function,
                      void* context) {
  if (count <= 0) return;
  std::int64_t const parts =
      std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1, size());
  if (parts == 1) {
    function(context, 0, count, 0);
    return;
  }
  {
    std::lock_guard const lock(mutex_);
    function_ = function;
    context_ = context;
    count_ = count;
    parts_ = parts;
    pending_ = static_cast<int>(parts) - 1;
    failure_ = nullptr;
    ++round_;
  }
  start_.notify_all();
  run_part(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return pending_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

std::span<float> thread_pool::scratch(std::size_t count) {
  if (count > scratch_size_) {
    scratch_.reset();
    scratch_size_ = 0;
    scratch_.reset(new (std::align_val_t{64}) float[count]);
    scratch_size_ = count;
  }
  return {scratch_.get(), count};
}

}  // namespace llm
