// The concepts of chains, levels and caches: least models are enough for their algorithms, and
// lesser ones are none.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <type_traits>

#include "support/archetypes.hpp"
#include "tev/build/expand_rerank.hpp"
#include "tev/build/level_drafter.hpp"
#include "tev/build/level_growth.hpp"
#include "tev/tree/commit.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/chain.hpp"
#include "tev/verify/hierarchical.hpp"
#include "tev/verify/speculative_sampling.hpp"

namespace {

using namespace tev_test;

constexpr archetype_key key;

using chain_archetype = tev::chain_problem<drawable_archetype>;
template <class Verifier, class Team = team_archetype, class Problem = chain_archetype,
          class Source = source_archetype>
constexpr bool is_chain_verifier = tev::chain_verifier<Verifier, Team, Problem, Source>;

struct chain_verifier_archetype : bare {
  using bare::bare;
  tev::outcome operator()(team_archetype const&, chain_archetype const&,
                          source_archetype const&) const {
    return {};
  }
};
struct returns_a_length : bare {
  using bare::bare;
  std::int32_t operator()(team_archetype const&, chain_archetype const&,
                          source_archetype const&) const {
    return 0;
  }
};
struct without_drafted {
  using target_type = drawable_archetype;
  using draft_type = drawable_archetype;
  std::int32_t length;
};
struct without_length {
  using target_type = drawable_archetype;
  using draft_type = drawable_archetype;
  tev::token_id const* drafted;
};
static_assert(tev::chain_drawable<chain_archetype, team_archetype>);
static_assert(!tev::chain_drawable<without_drafted, team_archetype>);
static_assert(!tev::chain_drawable<without_length, team_archetype>);
static_assert(!tev::chain_drawable<
              tev::chain_problem<drawable_archetype, distribution_archetype<std::uint64_t>>,
              team_archetype>);
static_assert(is_chain_verifier<chain_verifier_archetype>);
static_assert(!is_chain_verifier<bare>);
static_assert(!is_chain_verifier<returns_a_length>);

TEST(ChainArchetypes, AreEnoughForEveryChainVerifier) {
  tev::token_id const drafted[] = {0};
  chain_archetype const p{drafted, 1, drawable_archetype(key), drawable_archetype(key), 0, 0};
  auto const verify = [&](auto const& verifier) {
    static_assert(is_chain_verifier<std::remove_cvref_t<decltype(verifier)>>);
    auto const o = verifier(team_archetype(key), p, source_archetype(key));
    EXPECT_EQ(o, (tev::outcome{1, 0, 1, tev::status::ok}));
  };
  verify(tev::speculative_sampling{});
  verify(tev::block{});
  verify(tev::hierarchical{});
}

struct slot_map_archetype : bare {
  using bare::bare;
  [[nodiscard]] std::int64_t slot(exactly<std::int64_t> s) const { return s.value + 100; }
  [[nodiscard]] std::int64_t page_size() const { return 1; }
  [[nodiscard]] std::int64_t limit() const { return 50; }
};
struct without_slot : slot_map_archetype {
  void slot() const = delete;
};
struct without_page_size : slot_map_archetype {
  void page_size() const = delete;
};
struct without_limit : slot_map_archetype {
  void limit() const = delete;
};
struct slots_of_32_bits : slot_map_archetype {
  std::int32_t slot(std::int64_t) const;
};
static_assert(tev::slot_map<slot_map_archetype>);
static_assert(!tev::slot_map<without_slot>);
static_assert(!tev::slot_map<without_page_size>);
static_assert(!tev::slot_map<without_limit>);
static_assert(!tev::slot_map<slots_of_32_bits>);

TEST(SlotMapArchetype, IsEnoughForACommit) {
  std::array<tev::node_id, 2> const path{0, 2};
  std::array<tev::slot_move, 1> moves{};
  auto const counts = tev::commit_moves(path, 10, 2, slot_map_archetype(key), moves);
  EXPECT_EQ(counts.moves, 1);
  EXPECT_EQ(moves[0], (tev::slot_move{112, 111}));
}

// Answers with the same rows at every level.
struct level_drafter_archetype : bare {
  explicit level_drafter_archetype(archetype_key k) : bare(k), rows(k) {}
  draft_archetype const& operator()(tev::frontier const& level) {
    for (auto& row : level.row) row = 0;
    return rows;
  }
  draft_archetype rows;
};
struct answers_without_rows : bare {
  using bare::bare;
  int operator()(tev::frontier const&) { return 0; }
};
static_assert(tev::level_drafter<level_drafter_archetype>);
static_assert(!tev::level_drafter<answers_without_rows>);
static_assert(!tev::level_drafter<bare>);
static_assert(tev::drafts_levels<draft_archetype>);
static_assert(tev::drafts_levels<level_drafter_archetype>);
static_assert(!tev::drafts_levels<bare>);

TEST(LevelDrafterArchetype, IsEnoughForBuildersByLevel) {
  level_drafter_archetype drafter(key);
  EXPECT_EQ(tev::expand_rerank{}(drafter, 2, 4).tree.size(), 3);
  EXPECT_EQ(tev::level_growth{}(drafter, 2, 4).tree.size(), 3);
}

}  // namespace
