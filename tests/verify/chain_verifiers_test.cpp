// The chain verifiers one call at a time: what they ask for, how a chain ends, what never happens.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/chain_instance.hpp"
#include "support/debug_team.hpp"
#include "support/fixed_sources.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/chain.hpp"
#include "tev/verify/hierarchical.hpp"
#include "tev/verify/speculative_sampling.hpp"

namespace {

using namespace tev_test;
using tev::outcome;
using tev::purpose;
using tev::status;

static_assert(
    tev::chain_verifier<tev::speculative_sampling, tev::serial_team, integer_chain, tev::philox>);
static_assert(tev::chain_verifier<tev::block, tev::serial_team, integer_chain, tev::philox>);
static_assert(tev::chain_verifier<tev::hierarchical, tev::serial_team, integer_chain, tev::philox>);

template <class Visit>
void for_each_chain_verifier(std::uint64_t unit, Visit&& visit) {
  visit("speculative_sampling", tev::speculative_sampling{unit});
  visit("block", tev::block{unit});
  visit("hierarchical", tev::hierarchical{unit});
}

// A chain as plain arrays.
struct chain {
  text drafted;
  std::int32_t vocab;
  std::vector<std::uint64_t> target;
  std::vector<std::uint64_t> draft;
  tev::mass_storage<std::uint64_t> target_storage{}, draft_storage{};

  [[nodiscard]] integer_chain problem(std::int32_t length) {
    return {drafted.data(),
            length,
            target_storage.rows(target.data(), std::max(length, 0) + 1, vocab, vocab),
            draft_storage.rows(draft.data(), std::max(length, 0), vocab, vocab),
            1,
            100};
  }
  [[nodiscard]] integer_chain problem() {
    return problem(static_cast<std::int32_t>(drafted.size()));
  }
};

// The whole range from the first case of a property on.
template <class Value>
Value any_in(Value low, Value high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Value>(low, high));
}

// Every drafted token has draft mass.
chain random_chain(std::size_t length, std::int32_t vocab, std::uint64_t largest) {
  chain c{{}, vocab, {}, {}};
  auto const row = [&](std::vector<std::uint64_t>& rows) {
    for (std::int32_t x = 0; x < vocab; ++x)
      rows.push_back(any_in(0, 3) == 0 ? 0 : any_in<std::uint64_t>(0, largest + 1));
    if (std::all_of(rows.end() - vocab, rows.end(), [](auto m) { return m == 0; })) rows.back() = 1;
  };
  for (std::size_t i = 0; i <= length; ++i) {
    row(c.target);
    if (i == length) break;
    row(c.draft);
    auto token = any_in(0, vocab);
    while (c.draft[i * vocab + token] == 0) token = (token + 1) % vocab;
    c.drafted.push_back(token);
  }
  return c;
}

// Questions as (purpose, position, index, n).
using question = std::tuple<purpose, std::uint32_t, std::uint32_t, std::uint64_t>;

template <class Verifier>
std::pair<outcome, std::vector<question>> asked(Verifier const& verifier, chain c, end which) {
  recording_source<end_source> const source{{which}};
  auto const o = verifier(tev::serial_team{}, c.problem(), source);
  std::vector<question> list;
  for (auto const& q : source.asked) {
    EXPECT_EQ(q.what.request, 1u);
    list.emplace_back(q.what.what, q.what.position, q.what.index, q.n);
  }
  return {o, list};
}

// The target gives each drafted token half of what the draft does.
chain const worked{{0, 1}, 2, {1, 2, 2, 1, 1, 3}, {2, 1, 1, 2}};

TEST(SpeculativeSampling, TestsOnlyTokensThatTheDraftFavours) {
  tev::speculative_sampling const verifier{9};
  using list = std::vector<question>;
  auto const [all, tests] = asked(verifier, worked, end::low);
  EXPECT_EQ(all, (outcome{2, 0, 2, status::ok}));
  EXPECT_EQ(tests, (list{{purpose::sibling, 101, 0, 6},
                         {purpose::sibling, 102, 0, 6},
                         {purpose::residual, 103, 0, 4}}));
  auto const [none, once] = asked(verifier, worked, end::high);
  EXPECT_EQ(none, (outcome{0, 1, 0, status::ok})) << "the residual holds token 1 alone";
  EXPECT_EQ(once, (list{{purpose::sibling, 101, 0, 6}, {purpose::residual, 101, 0, 3}}));
  chain favoured = worked;
  favoured.drafted = {1, 0};
  EXPECT_EQ(asked(verifier, favoured, end::high).second, (list{{purpose::residual, 103, 0, 4}}));
}

TEST(Block, TestsTheWholeChainFirstAndThenShorterPrefixes) {
  // Ratios 1/2 and 1/4: the second residual, of 1/2 target - draft, is empty and is not tested.
  using list = std::vector<question>;
  auto const [all, tests] = asked(tev::block{36}, worked, end::low);
  EXPECT_EQ(all, (outcome{2, 0, 2, status::ok}));
  EXPECT_EQ(tests, (list{{purpose::sibling, 102, 0, 36}, {purpose::residual, 103, 0, 4}}));
  auto const [none, once] = asked(tev::block{36}, worked, end::high);
  EXPECT_EQ(none, (outcome{0, 1, 0, status::ok}));
  EXPECT_EQ(once, (list{{purpose::sibling, 102, 0, 36}, {purpose::residual, 101, 0, 12}}));
  // After token 1 the ratio is 1 and the prefix passes without a test, if the chain does not.
  chain favoured = worked;
  favoured.drafted = {1, 1};
  auto const [one, twice] = asked(tev::block{36}, favoured, end::high);
  EXPECT_EQ(one, (outcome{1, 0, 1, status::ok}));
  EXPECT_EQ(twice, (list{{purpose::sibling, 102, 0, 36}, {purpose::residual, 102, 0, 12}}));
  // 3/4 - 1/5 on token 0 beside a ratio of 1/2: 7/40 of 27/40.
  chain mixed{{0, 1}, 2, {1, 2, 3, 1, 1, 3}, {2, 1, 1, 4}};
  auto const three = asked(tev::block{120}, mixed, end::high).second;
  EXPECT_EQ(three, (list{{purpose::sibling, 102, 0, 120},
                         {purpose::sibling, 101, 0, 81},
                         {purpose::residual, 101, 0, 40}}));
}

TEST(ChainVerifiers, PrepareNoRowBehindTheDecision) {
  chain c = worked;
  auto p = c.problem();
  (void)tev::speculative_sampling{}(tev::serial_team{}, p, end_source{end::high});
  EXPECT_TRUE(p.target.summaries[0].ready && p.draft.summaries[0].ready);
  EXPECT_FALSE(p.target.summaries[1].ready || p.draft.summaries[1].ready);
  p = c.problem();
  (void)tev::block{}(tev::serial_team{}, p, end_source{end::high});
  EXPECT_TRUE(p.target.summaries[1].ready && p.draft.summaries[1].ready);
  EXPECT_FALSE(p.target.summaries[2].ready);
}

TEST(ChainVerifiers, SampleTheTargetWhenNothingWasDrafted) {
  chain none{{}, 3, {0, 2, 5}, {}};
  for_each_chain_verifier(4, [&](std::string const& name, auto const& verifier) {
    auto const [o, list] = asked(verifier, none, end::high);
    EXPECT_EQ(o, (outcome{0, 2, 0, status::ok})) << name;
    EXPECT_EQ(list, (std::vector<question>{{purpose::residual, 101, 0, 7}})) << name;
    EXPECT_EQ(verifier(tev::serial_team{}, none.problem(-3), end_source{}),
              (outcome{0, 1, 0, status::ok}))
        << name;
  });
}

TEST(ChainVerifiers, RefuseAUnitOfZero) {
  for_each_chain_verifier(0, [&](std::string const& name, auto const& verifier) {
    auto const [o, list] = asked(verifier, worked, end::low);
    EXPECT_EQ(o, (outcome{0, -1, 0, status::bad_parameter})) << name;
    EXPECT_TRUE(list.empty()) << name;
  });
}

// The draft's masses are three times the target's: the same law.
RC_GTEST_PROP(ChainVerifiers, AcceptEverythingWhenTheDraftIsTheTarget, ()) {
  auto const length = any_in<std::size_t>(0, 6);
  auto c = random_chain(length, any_in(1, 5), 9);
  for (std::size_t i = 0; i < c.draft.size(); ++i) c.target[i] = 3 * c.draft[i];
  auto const unit = *rc::gen::element<std::uint64_t>(1, 10, 2520, tev::default_flow_unit);
  for_each_chain_verifier(unit, [&](std::string const&, auto const& verifier) {
    for (auto const which : {end::low, end::high}) {
      auto const [o, list] = asked(verifier, c, which);
      RC_ASSERT(o.accepted_length == static_cast<std::int32_t>(length));
      RC_ASSERT(list.size() == 1u);
    }
  });
}

// Whatever the numbers, units and sizes of masses, also where shares round to nothing.
RC_GTEST_PROP(ChainVerifiers, NeitherAcceptNorEmitWhatTheTargetForbids, ()) {
  auto const largest = *rc::gen::element<std::uint64_t>(1, 4, std::uint64_t{1} << 61);
  auto const unit =
      *rc::gen::element<std::uint64_t>(1, 3, 60, tev::default_flow_unit, ~std::uint64_t{0});
  auto c = random_chain(any_in<std::size_t>(0, 5), any_in(1, 5), largest);
  auto const seed = *rc::gen::arbitrary<std::uint64_t>();
  for_each_chain_verifier(unit, [&](std::string const&, auto const& verifier) {
    auto const judge = [&](auto const& source) {
      auto const o = verifier(tev::serial_team{}, c.problem(), source);
      RC_ASSERT(o.state == status::ok);
      RC_ASSERT(o.exit_node == o.accepted_length);
      for (std::int32_t i = 0; i < o.accepted_length; ++i)
        RC_ASSERT(c.target[i * c.vocab + c.drafted[i]] != 0u);
      RC_ASSERT(o.bonus_token >= 0 && o.bonus_token < c.vocab);
      RC_ASSERT(c.target[o.exit_node * c.vocab + o.bonus_token] != 0u);
    };
    judge(end_source{end::low});
    judge(end_source{end::high});
    judge(tev::philox{seed});
  });
}

TEST(ChainVerifiers, RejectATokenWhoseSharesAreBothRoundedToNothing) {
  std::uint64_t const much = std::uint64_t{1} << 63;
  chain c{{0, 0}, 2, {0, 1, 1, 1, 1, 1}, {1, much, 1, 1}};
  for_each_chain_verifier(
      tev::default_flow_unit, [&](std::string const& name, auto const& verifier) {
        EXPECT_EQ(asked(verifier, c, end::low).first, (outcome{0, 1, 0, status::ok})) << name;
      });
}

// One fault in a chain cuts it there: the rest of the decision is that of the shorter chain.
RC_GTEST_PROP(ChainVerifiers, EndAChainAtARowOrTokenThatCannotBeJudged, ()) {
  auto const length = any_in<std::int32_t>(1, 5);
  auto c = random_chain(static_cast<std::size_t>(length), 3, 4);
  auto const at = any_in<std::int32_t>(0, length + 1);
  chain cut = c;
  auto const fill = [&](std::vector<std::uint64_t>& rows, std::uint64_t mass) {
    std::fill_n(rows.begin() + at * c.vocab, c.vocab, mass);
  };
  status expected = status::no_mass;
  switch (any_in(0, at == length ? 2 : 7)) {
    case 0:
      fill(c.target, 0);
      break;
    case 1:
      fill(c.target, ~std::uint64_t{0}), expected = status::not_finite;
      break;
    case 2:
      fill(c.draft, 0);
      break;
    case 3:
      fill(c.draft, ~std::uint64_t{0}), expected = status::not_finite;
      break;
    case 4:
      c.drafted[at] = -1, expected = status::bad_tree;
      break;
    case 5:
      c.drafted[at] = 3, expected = status::bad_tree;
      break;
    default:
      c.draft[at * c.vocab + c.drafted[at]] = 0;
      c.draft[at * c.vocab + (c.drafted[at] + 1) % c.vocab] = 1;
      expected = status::bad_tree;
  }
  tev::philox const source{*rc::gen::arbitrary<std::uint64_t>()};
  for_each_chain_verifier(tev::default_flow_unit, [&](std::string const&, auto const& verifier) {
    auto const o = verifier(tev::serial_team{}, c.problem(), source);
    auto const shorter = verifier(tev::serial_team{}, cut.problem(at), source);
    RC_ASSERT(o == (shorter.accepted_length < at ? shorter : outcome{at, -1, at, expected}));
  });
}

RC_GTEST_PROP(ChainVerifiers, DecideTheSameWithAnyNumberOfThreads, ()) {
  auto c = random_chain(3, 41, 1000);
  auto const seed = any_in<std::uint64_t>(0, 1000);
  for_each_chain_verifier(tev::default_flow_unit, [&](std::string const&, auto const& verifier) {
    auto const alone = verifier(tev::serial_team{}, c.problem(), tev::philox{seed});
    for (std::int32_t const threads : {2, 5}) {
      auto const p = c.problem();
      auto const all = run_team(
          threads, [&](debug_team const& team) { return verifier(team, p, tev::philox{seed}); });
      for (auto const& o : all) RC_ASSERT(o == alone);
    }
  });
}

// Target and draft may be different kinds of rows.
TEST(ChainVerifiers, TakeLogitsOfTheTargetBesideMassesOfTheDraft) {
  std::vector<float> const logits{0.0f, 1.0f, -1.0f, 2.0f, 2.0f, -INFINITY};
  std::vector<std::uint64_t> const draft{0, 1, 0};
  text const drafted{1};
  tev::softmax_storage target_rows;
  tev::mass_storage<std::uint64_t> draft_rows;
  for_each_chain_verifier(tev::default_flow_unit, [&](std::string const& name,
                                                      auto const& verifier) {
    tev::chain_problem<tev::softmax_rows<float>, integer_rows> const p{
        drafted.data(), 1, target_rows.rows(logits.data(), 2, 3, 3, 1.0f),
        draft_rows.rows(draft.data(), 1, 3, 3)};
    EXPECT_EQ(verifier(tev::serial_team{}, p, end_source{end::low}), (outcome{1, 0, 1})) << name;
    EXPECT_EQ(verifier(tev::serial_team{}, p, end_source{end::high}), (outcome{0, 2, 0})) << name;
  });
}

}  // namespace
