// A team of host threads: the collectives of a CUDA block, where sanitizers and debuggers reach.
#pragma once

#include <barrier>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "tev/team/concept.hpp"

namespace tev_test {

/// One thread's handle on a team; the threads share `shared_state`.
class thread_team {
 public:
  /// What the threads of a team meet in.
  struct shared_state {
    explicit shared_state(std::int32_t size) : values(size), meeting(size) {}
    std::vector<std::uint64_t> values;
    std::barrier<> meeting;
  };

  thread_team(shared_state& shared, std::int32_t rank) : shared_(&shared), rank_(rank) {}

 private:
  template <class Combine>
  auto gathered(std::uint64_t w, Combine&& combine) const {
    shared_->values[rank_] = w;
    barrier();
    auto const result = combine(shared_->values);
    barrier();
    return result;
  }

 public:
  [[nodiscard]] std::int32_t rank() const { return rank_; }
  [[nodiscard]] std::int32_t size() const {
    return static_cast<std::int32_t>(shared_->values.size());
  }
  [[nodiscard]] std::uint64_t sum(std::uint64_t w) const {
    return gathered(w, [](auto const& all) {
      std::uint64_t total = 0;
      for (auto const x : all) total += x;
      return total;
    });
  }
  [[nodiscard]] std::uint64_t max(std::uint64_t w) const {
    return gathered(w, [](auto const& all) {
      std::uint64_t largest = 0;
      for (auto const x : all) largest = largest < x ? x : largest;
      return largest;
    });
  }
  [[nodiscard]] bool any(bool b) const { return max(b ? 1 : 0) != 0; }
  [[nodiscard]] tev::picked pick(std::uint64_t w, std::uint64_t r) const {
    return gathered(w, [&](auto const& all) {
      tev::picked hit{0, r};
      while (hit.rank < size() && all[hit.rank] <= hit.rest) hit.rest -= all[hit.rank++];
      return hit;
    });
  }
  [[nodiscard]] std::uint64_t broadcast(std::uint64_t w, std::int32_t rank) const {
    return gathered(w, [&](auto const& all) { return all[rank]; });
  }
  void barrier() const { shared_->meeting.arrive_and_wait(); }

 private:
  shared_state* shared_;
  std::int32_t rank_;
};

static_assert(tev::team<thread_team>);

/// Runs `work(team)` on `size` threads and returns every thread's result, by rank.
template <class Work>
[[nodiscard]] auto run_team(std::int32_t size, Work const& work) {
  using result = decltype(work(std::declval<thread_team const&>()));
  thread_team::shared_state shared(size);
  std::vector<result> results(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { results[rank] = work(thread_team(shared, rank)); });
  for (auto& thread : threads) thread.join();
  return results;
}

}  // namespace tev_test
