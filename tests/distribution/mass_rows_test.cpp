#include "tev/distribution/mass_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "tev/core/status.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/exit_law/exit_law.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"

namespace {

using boost::multiprecision::cpp_rational;
using tev::status;
using tev::token_id;
using masses = std::vector<std::uint64_t>;

constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
constexpr tev::serial_team alone;

static_assert(tev::drawable<tev::mass_rows<std::uint64_t>, tev::serial_team>);
static_assert(tev::distribution<tev::mass_rows<cpp_rational>>);

struct skipped {
  std::vector<token_id> tokens;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (auto const x : tokens) visit(x);
  }
};

TEST(MassRows, SumARowToItsTotal) {
  masses const m{1, 0, 5, 99, 2, 2, 0, 99};
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(m.data(), 2, 3, 4);
  EXPECT_EQ(rows.vocab_size(), 3);
  for (tev::node_id v = 0; v < 2; ++v) rows.prepare(alone, v);
  EXPECT_EQ(rows.total(0), 6u);
  EXPECT_EQ(rows.total(1), 4u) << "the stride's padding has to be left alone";
  EXPECT_EQ(rows.mass(0, 2), 5u);
  EXPECT_EQ(rows.mass(1, 0), 2u);
}

TEST(MassRows, GiveForeignTokensNoMass) {
  masses const m{1, 2, 3};
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(m.data(), 1, 3, 3);
  rows.prepare(alone, 0);
  EXPECT_EQ(rows.mass(0, -1), 0u);
  EXPECT_EQ(rows.mass(0, 3), 0u);
  EXPECT_EQ(rows.mass(0, std::numeric_limits<token_id>::min()), 0u);
}

TEST(MassRows, WithoutMassSaySoAndGiveNothing) {
  masses const m{0, 0, 0};
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(m.data(), 1, 3, 3);
  rows.prepare(alone, 0);
  EXPECT_EQ(rows.row_status(0), status::no_mass);
  EXPECT_EQ(rows.total(0), 0u);
  EXPECT_EQ(rows.draw(alone, 0, 0, tev::no_tokens{}), tev::no_token);
  EXPECT_EQ(rows.best(alone, 0), tev::no_token);
}

TEST(MassRows, ThatPassSixtyFourBitsAreNotFinite) {
  tev::mass_storage<std::uint64_t> storage;
  for (auto const& m : {masses{top, 1, 0}, masses{top, top, top}, masses{top / 2 + 1, 0, top}}) {
    auto const rows = storage.rows(m.data(), 1, 3, 3);
    rows.prepare(alone, 0);
    EXPECT_EQ(rows.row_status(0), status::not_finite);
    EXPECT_EQ(rows.total(0), 0u);
    EXPECT_EQ(rows.mass(0, 0), 0u);
    EXPECT_EQ(rows.draw(alone, 0, 0, tev::no_tokens{}), tev::no_token);
  }
  masses const full{top - 3, 1, 2};
  auto const rows = storage.rows(full.data(), 1, 3, 3);
  rows.prepare(alone, 0);
  EXPECT_EQ(rows.row_status(0), status::ok);
  EXPECT_EQ(rows.total(0), top);
  EXPECT_EQ(rows.draw(alone, 0, top - 1, tev::no_tokens{}), 2);
}

TEST(MassRows, MayGiveAPartOfAnExplicitTotal) {
  masses const m{1, 0, 5, 4, 4, 4, 0, 0, 0, 3, 3, 4};
  masses const totals{10, 11, 7, 10};
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(m.data(), 4, 3, 3, totals.data());
  for (tev::node_id v = 0; v < 4; ++v) rows.prepare(alone, v);
  EXPECT_EQ(rows.total(0), 10u);
  EXPECT_EQ(rows.draw(alone, 0, 5, tev::no_tokens{}), 2);
  EXPECT_EQ(rows.draw(alone, 0, 6, tev::no_tokens{}), tev::no_token);
  EXPECT_EQ(rows.row_status(1), status::not_finite) << "12 of 11";
  EXPECT_EQ(rows.row_status(2), status::no_mass) << "nothing of 7";
  EXPECT_EQ(rows.row_status(3), status::ok) << "10 of 10";
}

TEST(MassRows, GiveTheLowestOfEqualTokensAsBest) {
  masses const m{3, 7, 0, 7, 7};
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(m.data(), 1, 5, 5);
  rows.prepare(alone, 0);
  EXPECT_EQ(rows.best(alone, 0), 1);
}

TEST(MassRows, AreSummedOnce) {
  masses m{3, 7};
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(m.data(), 1, 2, 2);
  rows.prepare(alone, 0);
  m[0] = 100;
  rows.prepare(alone, 0);
  EXPECT_EQ(rows.total(0), 10u);
}

TEST(MassRows, OfRationalsServeTheExitLaw) {
  std::vector<cpp_rational> const m{{1, 3}, {1, 6}, {1, 2}, {2, 7}, 0, {1, 7}};
  tev::mass_storage<cpp_rational> storage;
  auto const rows = storage.rows(m.data(), 2, 3, 3);
  for (tev::node_id v = 0; v < 2; ++v) rows.prepare(alone, v);
  EXPECT_EQ(rows.total(1), cpp_rational(3, 7));
  auto const t = tev::draft_tree::from_parents({-1, 0}, {0, 2});
  auto const law = tev::exit_law_of<cpp_rational>(t, rows);
  EXPECT_EQ(law.reach[1], cpp_rational(1, 2));
  EXPECT_EQ(law.exit[0], cpp_rational(1, 2));
  EXPECT_EQ(law.coverage, cpp_rational(1, 2));
}

// The draw spelled out: one slot per unit of mass.
RC_GTEST_PROP(MassRows, DrawEveryTokenAsOftenAsItsMass, ()) {
  auto const m = *rc::gen::container<masses>(6, rc::gen::inRange<std::uint64_t>(0, 4));
  auto const skip = *rc::gen::container<std::vector<token_id>>(*rc::gen::inRange<std::size_t>(0, 4),
                                                               rc::gen::inRange(-1, 8));
  std::vector<token_id> slots;
  for (token_id x = 0; x < 6; ++x)
    if (std::ranges::find(skip, x) == skip.end()) slots.insert(slots.end(), m[x], x);
  tev::mass_storage<std::uint64_t> storage;
  auto const rows = storage.rows(m.data(), 1, 6, 6);
  rows.prepare(alone, 0);
  for (std::size_t r = 0; r < slots.size(); ++r)
    RC_ASSERT(rows.draw(alone, 0, r, skipped{skip}) == slots[r]);
  RC_ASSERT(rows.draw(alone, 0, slots.size(), skipped{skip}) == tev::no_token);
}

}  // namespace
