// The cache's slots, moves and bounds.

#include "llm/kv_cache.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "scratch_folder.hpp"
#include "tev/tree/commit.hpp"

namespace {

constexpr int layers = 2, heads = 3, dim = 10;

float key_at(llm::kv_cache const& cache, int layer, int head, std::int64_t slot, int i) {
  return cache.keys(layer, head)[(slot / 8 * dim + i) * 8 + slot % 8];
}

float value_at(llm::kv_cache const& cache, int layer, int head, std::int64_t slot, int i) {
  return cache.values(layer, head)[slot * cache.value_stride() + i];
}

float mark(int layer, int head, std::int64_t tag, int i) {
  return static_cast<float>(((layer * heads + head) * 100 + tag) * dim + i);
}

/// A cache whose slots [0, length) are marked with their number.
llm::kv_cache marked(std::int64_t capacity, std::int64_t length) {
  llm::kv_cache cache(layers, heads, dim, capacity);
  for (int layer = 0; layer < layers; ++layer) {
    for (int head = 0; head < heads; ++head) {
      for (std::int64_t slot = 0; slot < length; ++slot) {
        std::vector<float> key, value;
        for (int i = 0; i < dim; ++i) {
          key.push_back(mark(layer, head, slot, i));
          value.push_back(-mark(layer, head, slot, i));
        }
        cache.put(layer, head, slot, key.data(), value.data());
      }
    }
  }
  cache.advance(length);
  return cache;
}

/// Expects that slot s carries the mark tags[s], for keys and values of all layers and heads.
void expect_marks(llm::kv_cache const& cache, std::vector<std::int64_t> const& tags) {
  ASSERT_EQ(cache.length(), static_cast<std::int64_t>(tags.size()));
  for (int layer = 0; layer < layers; ++layer) {
    for (int head = 0; head < heads; ++head) {
      for (std::size_t slot = 0; slot < tags.size(); ++slot) {
        for (int i = 0; i < dim; ++i) {
          auto const s = static_cast<std::int64_t>(slot);
          ASSERT_EQ(key_at(cache, layer, head, s, i), mark(layer, head, tags[slot], i));
          ASSERT_EQ(value_at(cache, layer, head, s, i), -mark(layer, head, tags[slot], i));
        }
      }
    }
  }
}

TEST(KvCache, KeepsWhatIsPut) { expect_marks(marked(11, 11), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}); }

TEST(KvCache, PadsValuesWithZero) {
  auto const cache = marked(11, 11);
  ASSERT_EQ(cache.value_stride(), 16);
  for (int i = dim; i < 16; ++i) EXPECT_EQ(cache.values(1, 2)[3 * 16 + i], 0.0F);
}

TEST(KvCache, GathersAPathInPlace) {
  auto cache = marked(20, 18);
  std::vector<tev::node_id> const path{0, 1, 4, 5, 12};
  cache.gather(tev::commit_moves(path, 5), 10);
  expect_marks(cache, {0, 1, 2, 3, 4, 5, 6, 9, 10, 17});
}

TEST(KvCache, ExecutesMovesOneAfterTheOther) {
  auto cache = marked(8, 8);
  std::vector<tev::slot_move> const moves{{3, 2}, {2, 1}, {7, 3}, {4, 4}};
  cache.gather(moves, 5);
  expect_marks(cache, {0, 3, 3, 7, 4});
}

TEST(KvCache, CropsAndGrowsAgain) {
  auto cache = marked(9, 9);
  cache.crop(4);
  expect_marks(cache, {0, 1, 2, 3});
  cache.advance(5);
  EXPECT_EQ(cache.length(), 9);
  cache.crop(0);
  EXPECT_EQ(cache.length(), 0);
}

TEST(KvCache, RefusesLengthsItDoesNotHave) {
  auto cache = marked(9, 6);
  llm_test::expect_error([&] { cache.crop(7); }, {"7", "6"});
  llm_test::expect_error([&] { cache.crop(-1); }, {"-1"});
  llm_test::expect_error([&] { cache.advance(4); }, {"6", "4", "9"});
  llm_test::expect_error([&] { cache.advance(-1); }, {"-1"});
  llm_test::expect_error([&] { cache.advance(std::numeric_limits<std::int64_t>::max()); }, {"9"});
  EXPECT_EQ(cache.length(), 6);
}

TEST(KvCache, RefusesMovesOutsideAndMovesNothingThen) {
  auto cache = marked(9, 4);
  for (tev::slot_move const bad : std::vector<tev::slot_move>{{4, 0}, {0, 4}, {-1, 0}, {0, -1}}) {
    std::vector<tev::slot_move> const moves{{3, 0}, bad};
    llm_test::expect_error([&] { cache.gather(moves, 2); }, {"slot"});
  }
  llm_test::expect_error([&] { cache.gather({}, 5); }, {"5", "4"});
  llm_test::expect_error([&] { cache.gather({}, -1); }, {"-1"});
  expect_marks(cache, {0, 1, 2, 3});
}

TEST(KvCache, KeepsSpareSlotsOutOfItsCapacity) {
  llm::kv_cache cache(1, 1, 4, 5, 3);
  EXPECT_EQ(cache.capacity(), 5);
  EXPECT_EQ(cache.slots(), 8);
  cache.advance(5);
  cache.require(0, 3);
  llm_test::expect_error([&] { cache.require(0, 4); }, {"4", "8"});
  llm_test::expect_error([&] { cache.advance(1); }, {"capacity"});
}

TEST(KvCache, RefusesSizesThatMakeNoCache) {
  for (auto const& bad : std::vector<std::vector<int>>{
           {0, 1, 4, 5, 0}, {1, 0, 4, 5, 0}, {1, 1, 0, 5, 0}, {1, 1, 4, 0, 0}, {1, 1, 4, 5, -1}}) {
    llm_test::expect_error([&] { llm::kv_cache(bad[0], bad[1], bad[2], bad[3], bad[4]); },
                           {"cache"});
  }
  llm_test::expect_error([] { llm::kv_cache(1000, 1000, 1 << 20, std::int64_t{1} << 40); },
                         {"capacity"});
  llm_test::expect_error([] { llm::kv_cache(1, 1, 4, std::numeric_limits<std::int64_t>::max()); },
                         {"capacity"});
}

}  // namespace
