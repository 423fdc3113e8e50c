// Every algorithm compiles against the least models of its concepts, and a model that lacks one
// member, or returns another type from it, is no model.
#include "support/archetypes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/all_verifiers.hpp"
#include "tev/build/expand_rerank.hpp"
#include "tev/build/level_growth.hpp"
#include "tev/build/ranked.hpp"
#include "tev/team/locate.hpp"
#include "tev/tev.hpp"

namespace {

using namespace tev_test;

constexpr archetype_key key;

template <class... Models>
constexpr bool no_tree_among = !(tev::tree<Models> || ...);
template <class... Models>
constexpr bool no_linked_tree_among = !(tev::linked_tree<Models> || ...);
template <class... Models>
constexpr bool no_distribution_among = !(tev::distribution<Models> || ...);
template <class... Models>
constexpr bool no_drawable_among = !(tev::drawable<Models, team_archetype> || ...);
template <class... Models>
constexpr bool no_team_among = !(tev::team<Models> || ...);
template <class... Models>
constexpr bool no_source_among = !(tev::uniform_source<Models> || ...);

// Declares a model that hides one member of another, and one that returns the wrong type from it.
#define TEV_FLAWED(model, member)                \
  struct model##_without_##member : model {      \
    using model::model;                          \
    void member() const = delete;                \
  };                                             \
  struct model##_with_another_##member : model { \
    using model::model;                          \
    struct another {};                           \
    template <class... Arguments>                \
    another member(Arguments const&...) const {  \
      return {};                                 \
    }                                            \
  }

// A member that has to be const.
#define TEV_MUTABLE(model, member, Result)       \
  struct model##_with_mutable_##member : model { \
    using model::model;                          \
    template <class... Arguments>                \
    Result member(Arguments const&...) {         \
      return {};                                 \
    }                                            \
  }

TEV_FLAWED(tree_archetype, size);
TEV_FLAWED(tree_archetype, parent);
TEV_FLAWED(tree_archetype, token);
TEV_MUTABLE(tree_archetype, size, std::int32_t);
TEV_MUTABLE(tree_archetype, parent, tev::node_id);
TEV_MUTABLE(tree_archetype, token, tev::token_id);
static_assert(tev::tree<tree_archetype>);
static_assert(!tev::linked_tree<tree_archetype>);
static_assert(no_tree_among<tree_archetype_without_size, tree_archetype_without_parent,
                            tree_archetype_without_token, tree_archetype_with_another_size,
                            tree_archetype_with_another_parent, tree_archetype_with_another_token,
                            tree_archetype_with_mutable_size, tree_archetype_with_mutable_parent,
                            tree_archetype_with_mutable_token>);

TEV_FLAWED(linked_tree_archetype, size);
TEV_FLAWED(linked_tree_archetype, first_child);
TEV_FLAWED(linked_tree_archetype, next_sibling);
TEV_MUTABLE(linked_tree_archetype, first_child, tev::node_id);
TEV_MUTABLE(linked_tree_archetype, next_sibling, tev::node_id);
static_assert(tev::linked_tree<linked_tree_archetype>);
static_assert(
    no_linked_tree_among<
        linked_tree_archetype_without_size, linked_tree_archetype_without_first_child,
        linked_tree_archetype_without_next_sibling, linked_tree_archetype_with_another_first_child,
        linked_tree_archetype_with_another_next_sibling,
        linked_tree_archetype_with_mutable_first_child,
        linked_tree_archetype_with_mutable_next_sibling>);

using rows_archetype = distribution_archetype<>;
struct rows_archetype_without_mass_type : rows_archetype {
  using rows_archetype::rows_archetype;

 private:
  using mass_type = mass_archetype;
};
TEV_FLAWED(rows_archetype, vocab_size);
TEV_FLAWED(rows_archetype, total);
TEV_FLAWED(rows_archetype, mass);
TEV_FLAWED(rows_archetype, row_status);
TEV_MUTABLE(rows_archetype, vocab_size, std::int32_t);
TEV_MUTABLE(rows_archetype, row_status, tev::status);
static_assert(tev::distribution<rows_archetype>);
static_assert(!tev::drawable<rows_archetype, team_archetype>);
static_assert(no_distribution_among<
              rows_archetype_without_mass_type, rows_archetype_without_vocab_size,
              rows_archetype_without_total, rows_archetype_without_mass,
              rows_archetype_without_row_status, rows_archetype_with_another_vocab_size,
              rows_archetype_with_another_total, rows_archetype_with_another_mass,
              rows_archetype_with_another_row_status, rows_archetype_with_mutable_vocab_size,
              rows_archetype_with_mutable_row_status>);

// Draws only when nothing is left out, which is not enough for a residual.
struct draws_whole_rows : drawable_archetype {
  using drawable_archetype::drawable_archetype;
  template <tev::team Team>
  tev::token_id draw(Team const&, tev::node_id, std::uint64_t, tev::no_tokens) const {
    return 0;
  }
};
// Drawing needs integer masses.
struct draws_by_double : drawable_archetype {
  using drawable_archetype::drawable_archetype;
  using mass_type = double;
  double total(tev::node_id) const { return 1.0; }
  double mass(tev::node_id, tev::token_id) const { return 1.0; }
};
TEV_FLAWED(drawable_archetype, total);
TEV_FLAWED(drawable_archetype, prepare);
TEV_FLAWED(drawable_archetype, draw);
TEV_FLAWED(drawable_archetype, best);
TEV_MUTABLE(drawable_archetype, prepare, bool);
TEV_MUTABLE(drawable_archetype, draw, tev::token_id);
TEV_MUTABLE(drawable_archetype, best, tev::token_id);
static_assert(tev::preparable<drawable_archetype, team_archetype>);
static_assert(!tev::preparable<rows_archetype, team_archetype>);
static_assert(!tev::preparable<drawable_archetype_without_prepare, team_archetype>);
static_assert(tev::drawable<drawable_archetype, team_archetype>);
static_assert(!tev::drawable<drawable_archetype, int>);
static_assert(
    no_drawable_among<drawable_archetype_without_total, drawable_archetype_without_prepare,
                      drawable_archetype_without_draw, drawable_archetype_without_best,
                      drawable_archetype_with_another_draw, drawable_archetype_with_another_best,
                      drawable_archetype_with_mutable_prepare, drawable_archetype_with_mutable_draw,
                      drawable_archetype_with_mutable_best, draws_whole_rows>);
static_assert(tev::distribution<draws_by_double>);
static_assert(!tev::drawable<draws_by_double, team_archetype>);

TEV_FLAWED(team_archetype, rank);
TEV_FLAWED(team_archetype, size);
TEV_FLAWED(team_archetype, sum);
TEV_FLAWED(team_archetype, max);
TEV_FLAWED(team_archetype, any);
TEV_FLAWED(team_archetype, pick);
TEV_FLAWED(team_archetype, broadcast);
TEV_FLAWED(team_archetype, barrier);
TEV_MUTABLE(team_archetype, barrier, bool);
static_assert(tev::team<team_archetype>);
static_assert(no_team_among<
              team_archetype_without_rank, team_archetype_without_size, team_archetype_without_sum,
              team_archetype_without_max, team_archetype_without_any, team_archetype_without_pick,
              team_archetype_without_broadcast, team_archetype_without_barrier,
              team_archetype_with_another_rank, team_archetype_with_another_size,
              team_archetype_with_another_sum, team_archetype_with_another_max,
              team_archetype_with_another_any, team_archetype_with_another_pick,
              team_archetype_with_another_broadcast, team_archetype_with_mutable_barrier>);

TEV_FLAWED(source_archetype, below);
TEV_MUTABLE(source_archetype, below, std::uint64_t);
static_assert(tev::uniform_source<source_archetype>);
static_assert(no_source_among<source_archetype_without_below, source_archetype_with_another_below,
                              source_archetype_with_mutable_below>);

template <class Verifier, class Team = team_archetype, class Problem = problem_archetype,
          class Source = source_archetype>
constexpr bool is_verifier = tev::verifier<Verifier, Team, Problem, Source>;
struct gives_a_node : bare {
  using bare::bare;
  tev::node_id operator()(team_archetype const&, problem_archetype const&,
                          source_archetype const&) const {
    return 0;
  }
};
struct verifies_once : bare {
  using bare::bare;
  tev::outcome operator()(team_archetype const&, problem_archetype const&,
                          source_archetype const&) {
    return {};
  }
};
static_assert(is_verifier<verifier_archetype>);
static_assert(!is_verifier<bare>);
static_assert(!is_verifier<gives_a_node>);
static_assert(!is_verifier<verifies_once>);
static_assert(!is_verifier<verifier_archetype, team_archetype_without_any>);
static_assert(!is_verifier<verifier_archetype, team_archetype, problem_archetype,
                           source_archetype_without_below>);
static_assert(
    !is_verifier<verifier_archetype, team_archetype,
                 tev::problem<linked_tree_archetype, distribution_archetype<std::uint64_t>>>);

struct builds_a_tree_alone : bare {
  using bare::bare;
  tev::draft_tree operator()(drawable_archetype const&, std::int32_t, std::int32_t) const {
    return {};
  }
};
struct unordered_draft : distribution_archetype<mass_archetype> {
  using distribution_archetype<mass_archetype>::distribution_archetype;
  void prepare(tev::serial_team const&, tev::node_id) const {}
};
TEV_FLAWED(draft_archetype, prepare);
static_assert(tev::draft_rows<draft_archetype>);
static_assert(tev::draft_rows<drawable_archetype>);
static_assert(!tev::draft_rows<draft_archetype_without_prepare>);
static_assert(!tev::draft_rows<unordered_draft>);
static_assert(tev::builder<builder_archetype, draft_archetype>);
static_assert(!tev::builder<bare, draft_archetype>);
static_assert(!tev::builder<builds_a_tree_alone, drawable_archetype>);
static_assert(!tev::builder<builder_archetype, draft_archetype_without_prepare>);

struct executor_archetype : bare {
  using bare::bare;
  [[nodiscard]] std::int32_t workers() const { return 1; }
  template <class Work>
  void for_each(std::int32_t count, Work&& work) const {
    for (std::int32_t task = 0; task < count; ++task) work(task, std::int32_t{0});
  }
};
TEV_FLAWED(executor_archetype, workers);
TEV_FLAWED(executor_archetype, for_each);
static_assert(tev::executor<executor_archetype>);
static_assert(!tev::executor<executor_archetype_without_workers>);
static_assert(!tev::executor<executor_archetype_without_for_each>);
static_assert(!tev::executor<executor_archetype_with_another_workers>);

TEST(Archetypes, AreEnoughForTheTreeAlgorithms) {
  tree_archetype const t(key);
  EXPECT_EQ(tev::depths(t), std::vector{0});
  EXPECT_EQ(tev::positions(t, 4), std::vector{4});
  EXPECT_EQ(tev::ancestor_mask(t), std::vector{1u});
  EXPECT_EQ(tev::path_to(t, 0), std::vector{0});
  EXPECT_TRUE(tev::tokens_to(t, 0).empty());

  linked_tree_archetype const linked(key);
  EXPECT_EQ(tev::find_child(linked, 0, [](tev::node_id) { return true; }), tev::no_node);
  tev::for_each_child(linked, 0, [](tev::node_id) { FAIL(); });
  EXPECT_FALSE(tev::contains(tev::child_tokens<linked_tree_archetype>{linked, 0}, 0));
}

TEST(Archetypes, AreEnoughForTheExitLaw) {
  linked_tree_archetype const t(key);
  distribution_archetype<> const rows(key);
  auto const law = tev::exit_law_of<field_archetype>(t, rows);
  EXPECT_EQ(law.exit.size(), 1u);
  EXPECT_EQ(tev::accepted_length_distribution(t, law).size(), 1u);
  (void)tev::accepted_length_variance(t, law);

  distribution_archetype<std::uint64_t> const integers(key);
  tev::flow_interval interval;
  tev::split_flow(t, integers, 12, &interval);
  EXPECT_EQ(interval.exit, 12u);
}

TEST(Archetypes, AreEnoughForDraws) {
  team_archetype const team(key);
  drawable_archetype const rows(key);
  EXPECT_EQ(tev::locate(team, 0, 3, [](std::int32_t) { return std::uint64_t{1}; }, 2).index, 2);
  tev::prepare_all(team, rows, 1);

  float const logits[] = {1.0f, 2.0f};
  tev::softmax_storage storage;
  auto const softmax = storage.rows(logits, 1, 2, 2, 0.0f);
  softmax.prepare(team, 0);
  EXPECT_EQ(softmax.best(team, 0), 1);
  EXPECT_EQ(softmax.draw(team, 0, 0, tev::no_tokens{}), 1);

  std::uint64_t const masses[] = {1, 2};
  tev::mass_storage<std::uint64_t> kept;
  auto const integers = kept.rows(masses, 1, 2, 2);
  integers.prepare(team, 0);
  EXPECT_EQ(integers.best(team, 0), 1);
  EXPECT_EQ(integers.draw(team, 0, 0, tev::no_tokens{}), 0);
}

TEST(Archetypes, AreEnoughForEveryVerifier) {
  auto const p = archetype_problem();
  verifier_workspace space(1);
  auto const verify = [&](std::string const& name, auto const& verifier) {
    static_assert(is_verifier<std::remove_cvref_t<decltype(verifier)>>);
    tev::outcome const o = verifier(team_archetype(key), p, source_archetype(key));
    EXPECT_EQ(o, (tev::outcome{0, 0, 0, tev::status::ok})) << name;
  };
  verify("greedy", tev::greedy{});
  for_each_verifier([&](std::string const& name, auto const& make) {
    verify(name, make(std::uint64_t{1}, space));
  });
}

template <class Builder>
void expect_a_token(Builder const& builder) {
  static_assert(tev::builder<Builder, draft_archetype>);
  EXPECT_EQ(builder(draft_archetype(key), 1, 1).tree.size(), 2);
}

TEST(Archetypes, AreEnoughForEveryBuilder) {
  expect_a_token(tev::chain{});
  expect_a_token(tev::best_first{});
  expect_a_token(tev::expand_rerank{});
  expect_a_token(tev::level_growth{});
  expect_a_token(tev::ranked{{0.5}});
}

}  // namespace
