#include "tev/tree/commit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tev/core/error.hpp"
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

TEST(PlanCommit, CountsLengthPagesAndOverlap) {
  std::vector<std::int32_t> const pages{3, 1};
  auto const plan =
      tev::plan_commit(nodes{0, 2, 4, 5}, 2, 4, tev::paged_slots<>{pages.data(), 2, 4});
  EXPECT_THAT(plan.moves, ElementsAre(slot_move{4, 15}, slot_move{6, 4}, slot_move{7, 5}));
  EXPECT_EQ(plan.length, 6);
  EXPECT_EQ(plan.pages_used, 2);
  EXPECT_TRUE(plan.overlap);
}

TEST(PlanCommit, KeepsTheFrontOfThePath) {
  auto const plan = tev::plan_commit(nodes{0, 2, 3, 5}, 2, 2);
  EXPECT_THAT(plan.moves, ElementsAre(slot_move{4, 3}));
  EXPECT_EQ(plan.length, 4);
  EXPECT_FALSE(plan.overlap);
  EXPECT_NE(plan.moves.front(), (slot_move{5, 3}));
  EXPECT_NE(plan.moves.front(), (slot_move{4, 2}));
  auto const nothing = tev::plan_commit(nodes{0, 2, 3, 5}, 2, 0);
  EXPECT_THAT(nothing.moves, IsEmpty());
  EXPECT_EQ(nothing.length, 2);
}

TEST(PlanCommit, ReadsPageNumbersOf64Bits) {
  std::vector<std::int64_t> const pages{std::int64_t{1} << 40};
  tev::paged_slots<std::int64_t> const slots{pages.data(), 1, 16};
  EXPECT_THAT(tev::plan_commit(nodes{0, 2}, 3, 2, slots).moves,
              ElementsAre(slot_move{(std::int64_t{1} << 44) + 5, (std::int64_t{1} << 44) + 4}));
  EXPECT_EQ((tev::paged_slots<>{nullptr, INT64_MAX / 16 + 1, 16}.limit()), INT64_MAX)
      << "more slots than a number names";
}

TEST(CommitMoves, NamesWhatIsWrong) {
  std::vector<std::int32_t> const pages{0, 1};
  std::vector<slot_move> moves(8);
  auto const message = [&](nodes const& path, std::int64_t base, std::int64_t keep,
                           std::int64_t size, std::size_t room) {
    try {
      (void)commit_moves(path, base, keep, tev::paged_slots<>{pages.data(), 2, size},
                         std::span(moves).first(room));
    } catch (tev::argument_error const& e) {
      return std::string(e.what()).substr(14);
    }
    return std::string("accepted");
  };
  nodes const path{0, 2, 3};
  EXPECT_EQ(message(path, 4, 3, 4, 2), "accepted");
  EXPECT_EQ(message(path, 4, 4, 4, 2), "keep is 4, needs [0, 3]");
  EXPECT_EQ(message(path, 4, -1, 4, 2), "keep is -1, needs [0, 3]");
  EXPECT_EQ(message(path, 4, 3, 0, 2), "the page size is 0, needs at least 1");
  EXPECT_EQ(message(path, 5, 3, 4, 2), "the number of slots on the pages is 8, needs 9");
  EXPECT_EQ(message(path, 5, 2, 4, 2), "accepted") << "only what is kept needs a page";
  EXPECT_EQ(message(path, 9, 0, 4, 2), "the number of slots on the pages is 8, needs 9");
  EXPECT_EQ(message(path, -1, 3, 4, 2), "base is -1, needs a slot number");
  EXPECT_EQ(message(path, 4, 3, 4, 1), "room for moves is 1, needs 2");
  EXPECT_EQ(message({0, 1, 2}, 4, 3, 4, 0), "accepted") << "nothing moves";
  EXPECT_EQ(message({1, 2}, 4, 2, 4, 2),
            "a node of the path is 1, needs ascending nodes from the root on");
  EXPECT_EQ(message({0, 2, 2}, 4, 3, 4, 2),
            "a node of the path is 2, needs ascending nodes from the root on");
  EXPECT_THROW((void)commit_moves(nodes{0, 5}, INT64_MAX - 2), tev::argument_error);
  EXPECT_THROW((void)commit_moves(nodes{0, 5}, -1), tev::argument_error);
  EXPECT_THROW((void)commit_moves(nodes{0, 5, 4}, 0), tev::argument_error);
  EXPECT_THROW((void)tev::plan_commit(nodes{0}, 0, 2), tev::argument_error);
  EXPECT_THROW((void)tev::plan_commit(nodes{0}, 0, -1), tev::argument_error);
  EXPECT_THROW((void)tev::plan_commit(nodes{0}, 0, 1, tev::flat_slots{0}), tev::argument_error);
}

RC_GTEST_PROP(PlanCommit, ExecutedSeriallyInPlaceGivesThePathsRowsOnPages, ()) {
  auto const t = tev_test::random_tree(40, 4);
  auto const path = tev::path_to(t, *rc::gen::inRange(0, t.size()));
  auto const keep = *rc::gen::inRange<std::int64_t>(0, std::ssize(path) + 1);
  auto const base = *rc::gen::inRange<std::int64_t>(0, 9);
  auto const size = *rc::gen::inRange<std::int64_t>(1, 6);
  auto const count = (base + t.size() + size - 1) / size;
  std::vector<std::int32_t> pages(static_cast<std::size_t>(count));
  std::iota(pages.begin(), pages.end(), 0);
  for (auto& page : pages) std::swap(page, pages[*rc::gen::inRange<std::size_t>(0, pages.size())]);
  tev::paged_slots<> const slots{pages.data(), count, size};
  auto const at = [&](std::int64_t s) { return pages[s / size] * size + s % size; };

  std::vector<std::int64_t> cache(static_cast<std::size_t>(count * size), -100), expected;
  for (std::int64_t s = 0; s < base + t.size(); ++s) cache[at(s)] = s - base;
  for (std::int64_t s = 0; s < base; ++s) expected.push_back(s - base);
  expected.insert(expected.end(), path.begin(), path.begin() + keep);

  auto const plan = tev::plan_commit(path, base, keep, slots);
  std::set<std::int64_t> sources, both;
  for (auto const& move : plan.moves) sources.insert(move.from);
  for (auto const& move : plan.moves)
    if (sources.contains(move.to)) both.insert(move.to);
  RC_ASSERT(plan.overlap == !both.empty());
  RC_ASSERT(plan.length == std::ssize(expected));
  RC_ASSERT(plan.pages_used == (plan.length + size - 1) / size);
  for (auto const& move : plan.moves) {
    RC_ASSERT(move.from != move.to);
    cache[move.to] = cache[move.from];
  }
  for (std::int64_t s = 0; s < plan.length; ++s) RC_ASSERT(cache[at(s)] == expected[s]);
}

TEST(GatherRows, CopiesTheRowsOfThePathInOrder) {
  std::vector<float> const features{0, 1, 10, 11, 20, 21, 30, 31};
  std::vector<float> rows(4);
  tev::gather_rows(std::span(features), 2, nodes{0, 3}, std::span(rows));
  EXPECT_THAT(rows, ElementsAre(0, 1, 30, 31));
  for (node_id const v : {4, -1}) {
    try {
      tev::gather_rows(std::span(features), 2, nodes{0, v}, std::span(rows));
      ADD_FAILURE() << v;
    } catch (tev::argument_error const& e) {
      EXPECT_EQ(e.what(), "gather_rows: path[1] is " + std::to_string(v) +
                              ", needs a node with a row in features");
    }
  }
  EXPECT_THROW(tev::gather_rows(std::span(features), 2, nodes{0, 1, 2}, std::span(rows)),
               tev::argument_error);
}

}  // namespace
