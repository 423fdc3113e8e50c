// A team of host threads that checks the one rule of teams: every thread reaches every collective
// in the same order. A thread that does not is named, and nobody waits for it for ever.
#pragma once

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tev/team/concept.hpp"

namespace tev_test {

/// Threads of a team met in different collectives; `what()` names the ranks that deviated.
class divergence : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Where the threads of one team meet. A meeting ends when every thread has come or has returned.
class meeting_place {
 public:
  explicit meeting_place(std::int32_t size)
      : calls_(static_cast<std::size_t>(size)),
        values_(static_cast<std::size_t>(size)),
        gathered_(static_cast<std::size_t>(size)) {}

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(calls_.size()); }

  /// Brings `value` to the collective `name`, to which all threads give the same `argument`;
  /// returns all values [size], valid until this thread's next meeting. Throws `divergence`.
  std::vector<std::uint64_t> const& meet(std::int32_t rank, char const* name,
                                         std::uint64_t argument, std::uint64_t value) {
    std::unique_lock lock(mutex_);
    std::size_t const meeting = meetings_;
    arrive(rank, std::string(name) + "(" + std::to_string(argument) + ")", value);
    changed_.wait(lock, [&] { return meetings_ != meeting || !fault_.empty(); });
    if (!fault_.empty()) throw divergence(fault_);
    return gathered_;
  }

  /// The thread will come no more.
  void leave(std::int32_t rank) {
    std::scoped_lock const lock(mutex_);
    ++left_;
    arrive(rank, returned, 0);
  }

 private:
  static constexpr char const* returned = "nothing (it returned)";

  void arrive(std::int32_t rank, std::string call, std::uint64_t value) {
    calls_[rank] = std::move(call);
    values_[rank] = value;
    if (++arrived_ < size()) return;
    if (fault_.empty()) fault_ = deviants();
    gathered_ = values_;
    arrived_ = left_;
    ++meetings_;
    changed_.notify_all();
  }

  // One sentence for the ranks that called something else than most; empty when all agree.
  [[nodiscard]] std::string deviants() const {
    std::string const* usual = &calls_.front();
    for (auto const& call : calls_)
      if (2 * count_of(call) > size()) usual = &call;
    std::string said;
    for (std::int32_t rank = 0; rank < size(); ++rank)
      if (calls_[rank] != *usual)
        said += (said.empty() ? "" : ", ") + ("rank " + std::to_string(rank)) + " reached " +
                calls_[rank];
    if (said.empty()) return said;
    return "collective " + std::to_string(meetings_) + ": " + said + " where the others reached " +
           *usual;
  }

  [[nodiscard]] std::int32_t count_of(std::string const& call) const {
    std::int32_t count = 0;
    for (auto const& other : calls_) count += other == call;
    return count;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> calls_;
  std::vector<std::uint64_t> values_, gathered_;
  std::int32_t arrived_ = 0, left_ = 0;
  std::size_t meetings_ = 0;
  std::string fault_;
};

/// One thread's handle on a team.
class debug_team {
 public:
  debug_team(meeting_place& place, std::int32_t rank) : place_(&place), rank_(rank) {}

  [[nodiscard]] std::int32_t rank() const { return rank_; }
  [[nodiscard]] std::int32_t size() const { return place_->size(); }
  [[nodiscard]] std::uint64_t sum(std::uint64_t w) const {
    std::uint64_t total = 0;
    for (auto const x : place_->meet(rank_, "sum", 0, w)) total += x;
    return total;
  }
  [[nodiscard]] std::uint64_t max(std::uint64_t w) const { return largest("max", w); }
  [[nodiscard]] bool any(bool b) const { return largest("any", b ? 1 : 0) != 0; }
  [[nodiscard]] tev::picked pick(std::uint64_t w, std::uint64_t r) const {
    auto const& all = place_->meet(rank_, "pick", r, w);
    tev::picked hit{0, r};
    while (hit.rank < size() && all[hit.rank] <= hit.rest) hit.rest -= all[hit.rank++];
    return hit;
  }
  [[nodiscard]] std::uint64_t broadcast(std::uint64_t w, std::int32_t rank) const {
    return place_->meet(rank_, "broadcast", static_cast<std::uint64_t>(rank), w).at(rank);
  }
  void barrier() const { (void)place_->meet(rank_, "barrier", 0, 0); }

 private:
  [[nodiscard]] std::uint64_t largest(char const* name, std::uint64_t w) const {
    std::uint64_t found = 0;
    for (auto const x : place_->meet(rank_, name, 0, w)) found = found < x ? x : found;
    return found;
  }

  meeting_place* place_;
  std::int32_t rank_;
};

static_assert(tev::team<debug_team>);

/// Runs `work(team)` on `size` threads and returns every thread's result, by rank. Rethrows what a
/// thread threw; throws `divergence` when they broke the rule.
template <class Work>
[[nodiscard]] auto run_team(std::int32_t size, Work const& work) {
  using result = decltype(work(std::declval<debug_team const&>()));
  static_assert(!std::same_as<result, bool>, "threads may not share the words of a vector<bool>");
  meeting_place place(size);
  std::vector<result> results(static_cast<std::size_t>(size));
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        results[rank] = work(debug_team(place, rank));
      } catch (...) {
        thrown[rank] = std::current_exception();
      }
      place.leave(rank);
    });
  for (auto& thread : threads) thread.join();
  // A thread that fails makes the others diverge: its own words come first.
  std::exception_ptr first;
  for (auto const& each : thrown) {
    if (!each) continue;
    try {
      std::rethrow_exception(each);
    } catch (divergence const&) {
      if (!first) first = each;
    }
  }
  if (first) std::rethrow_exception(first);
  return results;
}

}  // namespace tev_test
