// Parts cover the loop once, whatever the threads; failures and scratch memory.

#include "llm/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "scratch_folder.hpp"

namespace {

TEST(ThreadPool, VisitsEveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    llm::thread_pool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (std::int64_t count : {0, 1, 2, 3, 7, 8, 9, 100}) {
      for (std::int64_t grain : {1, 3, 1000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        pool.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end, int) {
          for (auto i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        for (auto const& visit : visits) ASSERT_EQ(visit, 1);
      }
    }
  }
}

TEST(ThreadPool, GivesPartsDifferentRanksAndKeepsToTheGrain) {
  llm::thread_pool pool(4);
  std::mutex mutex;
  std::vector<std::pair<int, std::int64_t>> parts;
  auto const record = [&](std::int64_t begin, std::int64_t end, int rank) {
    std::lock_guard const lock(mutex);
    parts.emplace_back(rank, end - begin);
  };
  pool.parallel_for(30, 10, record);
  std::vector<bool> seen(4);
  for (auto const& [rank, size] : parts) {
    EXPECT_FALSE(seen.at(static_cast<std::size_t>(rank)));
    seen[static_cast<std::size_t>(rank)] = true;
    EXPECT_EQ(size, 10);
  }
  EXPECT_EQ(parts.size(), 3U);
}

TEST(ThreadPool, RunsShortLoopsOnTheCaller) {
  llm::thread_pool pool(4);
  auto const caller = std::this_thread::get_id();
  pool.parallel_for(10, 6, [&](std::int64_t begin, std::int64_t end, int rank) {
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 10);
    EXPECT_EQ(rank, 0);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

TEST(ThreadPool, UsesItsThreads) {
  llm::thread_pool pool(3);
  std::mutex mutex;
  std::vector<std::thread::id> ids;
  pool.parallel_for(3, [&](std::int64_t, std::int64_t, int) {
    std::lock_guard const lock(mutex);
    ids.push_back(std::this_thread::get_id());
  });
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[1], ids[2]);
  EXPECT_NE(ids[0], ids[2]);
}

TEST(ThreadPool, PassesAFailureOnAndGoesOnWorking) {
  llm::thread_pool pool(3);
  for (int failing = 0; failing < 3; ++failing) {
    auto const body = [&](std::int64_t, std::int64_t, int rank) {
      if (rank == failing) throw std::runtime_error("part");
    };
    EXPECT_THROW(pool.parallel_for(3, body), std::runtime_error);
  }
  std::atomic<int> parts = 0;
  pool.parallel_for(3, [&](std::int64_t, std::int64_t, int) { ++parts; });
  EXPECT_EQ(parts, 3);
}

TEST(ThreadPool, StartsManyLoopsInTurn) {
  llm::thread_pool pool(3);
  std::int64_t sums[3] = {};
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(3, [&](std::int64_t begin, std::int64_t, int) { sums[begin] += begin + 1; });
  }
  EXPECT_EQ(sums[0], 2000);
  EXPECT_EQ(sums[1], 4000);
  EXPECT_EQ(sums[2], 6000);
}

TEST(ThreadPool, KeepsItsScratchMemory) {
  llm::thread_pool pool;
  auto const large = pool.scratch(1000);
  EXPECT_EQ(large.size(), 1000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % 64, 0U);
  auto const small = pool.scratch(10);
  EXPECT_EQ(small.data(), large.data());
  EXPECT_EQ(small.size(), 10U);
}

TEST(ThreadPool, RefusesImpossibleNumbersOfThreads) {
  llm_test::expect_error([] { llm::thread_pool(0); }, {"threads", "0"});
  llm_test::expect_error([] { llm::thread_pool(-3); }, {"threads", "-3"});
  llm_test::expect_error([] { llm::thread_pool(100000); }, {"threads", "100000"});
}

}  // namespace
