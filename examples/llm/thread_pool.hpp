// A fixed set of worker threads and the scratch memory of the call they work on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

namespace llm {

/// A fixed number of threads that share loops, and a buffer that grows to the largest call.
/// One owner at a time: two threads must not use the same pool concurrently. Idle workers sleep.
/// Nothing computed in this folder depends on the number of threads.
class thread_pool {
 public:
  /// Starts `threads - 1` workers; the caller of parallel_for is the remaining thread.
  /// @throws llm::error unless 1 <= threads <= 1024
  explicit thread_pool(int threads = 1);
  ~thread_pool();
  thread_pool(thread_pool const&) = delete;
  thread_pool& operator=(thread_pool const&) = delete;

  /// Number of threads, the caller included.
  [[nodiscard]] int size() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// Calls `body(begin, end, rank)` on contiguous parts that cover [0, count), each once, and
  /// returns when all are done. At most count / grain parts are made, so that short loops stay on
  /// the calling thread; rank in [0, size()) is different for parts that may run at the same time.
  /// The first exception thrown by a part is rethrown here. Calls must not be nested.
  template <class Body>
  void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
    using plain = std::remove_reference_t<Body>;
    run(
        count, grain,
        [](void* context, std::int64_t begin, std::int64_t end, int rank) {
          (*static_cast<plain*>(context))(begin, end, rank);
        },
        const_cast<std::remove_const_t<plain>*>(std::addressof(body)));
  }

  /// As above with a grain of one.
  template <class Body>
  void parallel_for(std::int64_t count, Body&& body) {
    parallel_for(count, 1, static_cast<Body&&>(body));
  }

  /// A buffer of `count` floats aligned to 64 bytes, contents unspecified, valid until the next
  /// call of scratch(). Memory is kept, so repeated calls of one size allocate once.
  [[nodiscard]] std::span<float> scratch(std::size_t count);

 private:
  using part_function = void (*)(void*, std::int64_t, std::int64_t, int);
  struct aligned_delete {
    void operator()(float* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };

  void run(std::int64_t count, std::int64_t grain, part_function function, void* context);
  void run_part(int rank) noexcept;
  void work(int rank);
  void join() noexcept;

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  std::uint64_t round_ = 0;
  bool stop_ = false;
  int pending_ = 0;
  part_function function_ = nullptr;
  void* context_ = nullptr;
  std::int64_t count_ = 0;
  std::int64_t parts_ = 0;
  std::exception_ptr failure_;

  std::unique_ptr<float[], aligned_delete> scratch_;
  std::size_t scratch_size_ = 0;
};

}  // namespace llm
