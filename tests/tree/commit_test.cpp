#include "tev/tree/commit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/tree/path.hpp"
#include "tree/random_tree.hpp"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tev::commit_moves;
using tev::node_id;
using tev::slot_move;
using nodes = std::vector<node_id>;

TEST(CommitMoves, NeedsNoneForAPathThatIsInPlace) {
  EXPECT_THAT(commit_moves(nodes{0}, 7), IsEmpty());
  EXPECT_THAT(commit_moves(nodes{0, 1, 2, 3}, 7), IsEmpty());
  EXPECT_THAT(commit_moves(nodes{}, 7), IsEmpty());
}

TEST(CommitMoves, MovesOnlyWhatIsNotInPlace) {
  EXPECT_THAT(commit_moves(nodes{0, 1, 4, 9}, 100),
              ElementsAre(slot_move{104, 102}, slot_move{109, 103}));
}

TEST(CommitMoves, MayFillASlotThatWasReadBefore) {
  EXPECT_THAT(commit_moves(nodes{0, 2, 3}, 10), ElementsAre(slot_move{12, 11}, slot_move{13, 12}));
}

TEST(CommitMoves, CountsSlotsIn64Bits) {
  std::int64_t const base = std::int64_t{1} << 40;
  EXPECT_THAT(commit_moves(nodes{0, 3}, base), ElementsAre(slot_move{base + 3, base + 1}));
}

RC_GTEST_PROP(CommitMoves, ExecutedSeriallyInPlaceGiveThePathsRows, ()) {
  auto const t = tev_test::random_tree(40, 4);
  auto const path = tev::path_to(t, *rc::gen::inRange(0, t.size()));
  auto const base = *rc::gen::inRange(0, 5);

  // Row labels: earlier rows count down from -1, node i is i.
  std::vector<std::int32_t> cache;
  for (std::int32_t i = 0; i < base; ++i) cache.push_back(-1 - i);
  for (node_id v = 0; v < t.size(); ++v) cache.push_back(v);
  auto expected = std::vector<std::int32_t>(cache.begin(), cache.begin() + base);
  expected.insert(expected.end(), path.begin(), path.end());

  std::int64_t last = -1;
  for (auto const& move : commit_moves(path, base)) {
    RC_ASSERT(move.to < move.from);
    RC_ASSERT(move.to > last);
    last = move.to;
    cache[static_cast<std::size_t>(move.to)] = cache[static_cast<std::size_t>(move.from)];
  }
  cache.resize(expected.size());
  RC_ASSERT(cache == expected);
}

}  // namespace
