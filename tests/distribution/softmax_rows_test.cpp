#include "tev/distribution/softmax_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tev/core/bits.hpp"
#include "tev/core/error.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/bfloat16.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/distribution/fixed_point.hpp"
#include "tev/distribution/log_probability.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/team/serial_team.hpp"

namespace {

using tev::status;
using tev::token_id;
using logits = std::vector<float>;
using masses = std::vector<std::uint64_t>;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float largest = std::numeric_limits<float>::max();
constexpr std::uint64_t top = tev::top_mass;
constexpr tev::serial_team alone;

static_assert(tev::drawable<tev::softmax_rows<float>, tev::serial_team>);
static_assert(tev::drawable<tev::softmax_rows<tev::bfloat16>, tev::serial_team>);

// One prepared row with its logits and storage.
template <class Logit>
struct one_row {
  one_row(std::vector<Logit> row, float temperature)
      : kept(std::move(row)),
        rows(storage.rows(kept.data(), 1, static_cast<std::int32_t>(kept.size()),
                          static_cast<std::int64_t>(kept.size()), temperature)) {
    rows.prepare(alone, 0);
  }
  [[nodiscard]] status state() const { return rows.row_status(0); }
  [[nodiscard]] masses all() const {
    masses m;
    for (token_id x = 0; x < rows.vocab_size(); ++x) m.push_back(rows.mass(0, x));
    return m;
  }

  std::vector<Logit> kept;
  tev::softmax_storage storage;
  tev::softmax_rows<Logit> rows;
};

status state_of(logits const& row, float temperature) {
  return one_row<float>(row, temperature).state();
}
masses masses_of(logits const& row, float temperature) {
  return one_row<float>(row, temperature).all();
}

TEST(SoftmaxRows, AreBadForATemperatureThatIsNegativeOrNotFinite) {
  for (float const t : {-1.0f, -0x1p-149f, -inf, inf, nan, -nan}) {
    one_row<float> const row({1.0f, 2.0f}, t);
    EXPECT_EQ(row.state(), status::bad_parameter) << t;
    EXPECT_EQ(row.rows.total(0), 0u);
    EXPECT_EQ(row.all(), (masses{0, 0}));
    EXPECT_EQ(row.rows.best(alone, 0), tev::no_token);
    EXPECT_EQ(row.rows.draw(alone, 0, 0, tev::no_tokens{}), tev::no_token);
  }
}

TEST(SoftmaxRows, AreNotFiniteForANanOrAnInfinityAtAnyTemperature) {
  for (float const t : {0.0f, 0x1p-149f, 1.0f, largest})
    for (auto const& row : {logits{1.0f, nan}, logits{-nan, 1.0f}, logits{inf, 1.0f}, logits{inf},
                            logits{-inf, nan, -inf}}) {
      one_row<float> const found(row, t);
      EXPECT_EQ(found.state(), status::not_finite) << t;
      EXPECT_EQ(found.rows.total(0), 0u);
      EXPECT_EQ(found.rows.best(alone, 0), tev::no_token);
    }
}

TEST(SoftmaxRows, HaveNoMassWhereEverythingIsForbidden) {
  for (float const t : {0.0f, 1.0f}) EXPECT_EQ(state_of({-inf, -inf}, t), status::no_mass);
}

TEST(SoftmaxRows, NameTheParameterBeforeTheLogitsAndThoseBeforeMissingMass) {
  EXPECT_EQ(state_of({nan, -inf}, -1.0f), status::bad_parameter);
  EXPECT_EQ(state_of({-inf, -inf}, nan), status::bad_parameter);
  EXPECT_EQ(state_of({-inf, nan}, 1.0f), status::not_finite);
}

TEST(SoftmaxRows, GiveForbiddenTokensNothing) {
  EXPECT_EQ(masses_of({-inf, 1.0f, -inf, 1.0f}, 1.0f), (masses{0, top, 0, top}));
  EXPECT_EQ(masses_of({-inf, -largest}, largest), (masses{0, top}));
}

TEST(SoftmaxRows, PutAllMassOnTheLowestMaximumAtTemperatureZero) {
  for (float const t : {0.0f, -0.0f}) {
    one_row<float> const row({1.0f, 3.0f, -inf, 3.0f, 2.0f}, t);
    EXPECT_EQ(row.state(), status::ok);
    EXPECT_EQ(row.all(), (masses{0, top, 0, 0, 0}));
    EXPECT_EQ(row.rows.total(0), top);
    EXPECT_EQ(row.rows.best(alone, 0), 1);
    EXPECT_EQ(row.rows.draw(alone, 0, 0, tev::no_tokens{}), 1);
    EXPECT_EQ(row.rows.draw(alone, 0, top - 1, tev::no_tokens{}), 1);
    EXPECT_EQ(row.rows.draw(alone, 0, top, tev::no_tokens{}), tev::no_token);
  }
}

TEST(SoftmaxRows, TakeBothZerosForEqual) {
  EXPECT_EQ(masses_of({-0.0f, 0.0f, -1.0f}, 0.0f), (masses{top, 0, 0}));
  EXPECT_EQ(masses_of({0.0f, -0.0f}, 0x1p-149f), (masses{top, top}));
}

TEST(SoftmaxRows, CompareDenormalLogitsExactly) {
  float const d = 0x1p-149f;
  EXPECT_EQ(masses_of({-d, 0.0f, d}, 0.0f), (masses{0, 0, top}));
  EXPECT_EQ(masses_of({0.0f, 3 * d, 2 * d}, 0.0f), (masses{0, top, 0}));
  // One denormal step is log2(e) octaves at the least temperature.
  auto const found = masses_of({3 * d, 2 * d, 0.0f}, d);
  EXPECT_EQ(found[0], top);
  EXPECT_NEAR(static_cast<double>(found[1]) / 0x1p40, std::exp(-1.0), 1e-6);
  EXPECT_NEAR(static_cast<double>(found[2]) / 0x1p40, std::exp(-3.0), 1e-6);
  EXPECT_EQ(masses_of({2 * d, d}, 1.0f), (masses{top, top}));
}

TEST(SoftmaxRows, ShareTheMassOfTiesAtAnyPositiveTemperature) {
  for (float const t : {0x1p-149f, 1e-40f, 1e-6f, 1.0f, largest})
    EXPECT_EQ(masses_of({7.0f, 7.0f, -1e30f}, t)[1], top) << t;
  EXPECT_EQ(masses_of({7.0f, 7.0f, 6.0f}, 0x1p-149f), (masses{top, top, 0}));
  EXPECT_EQ(masses_of({7.0f, 7.0f, 6.0f}, 1e-4f), (masses{top, top, 0}));
}

TEST(SoftmaxRows, KeepTheLargestDifferenceOfFloatsFinite) {
  EXPECT_EQ(masses_of({largest, -largest}, 1.0f), (masses{top, 0}));
  EXPECT_EQ(masses_of({largest, -largest}, 0x1p100f), (masses{top, 0}));
  for (float const t : {0x1p127f, 0x1p126f, 0x1.8p125f, largest}) {
    auto const found = masses_of({3e38f, -3e38f, 0.0f, 1.0f}, t);
    double const scale = 3e38 / static_cast<double>(t);
    EXPECT_EQ(found[0], top);
    EXPECT_NEAR(static_cast<double>(found[1]) / 0x1p40 / std::exp(-2 * scale), 1.0, 1e-5) << t;
    EXPECT_NEAR(static_cast<double>(found[2]) / 0x1p40 / std::exp(-scale), 1.0, 1e-5) << t;
    EXPECT_EQ(found[2], found[3]);
  }
}

TEST(SoftmaxRows, ServeAVocabularyOfOne) {
  for (float const t : {0.0f, 1e-40f, 1.0f, largest}) {
    one_row<float> const row({-3.0f}, t);
    EXPECT_EQ(row.all(), (masses{top}));
    EXPECT_EQ(row.rows.total(0), top);
    EXPECT_EQ(row.rows.best(alone, 0), 0);
  }
}

TEST(SoftmaxRows, GiveForeignTokensNoMass) {
  for (float const t : {0.0f, 1.0f}) {
    one_row<float> const row({1.0f, 2.0f}, t);
    EXPECT_EQ(row.rows.mass(0, -1), 0u);
    EXPECT_EQ(row.rows.mass(0, 2), 0u);
    EXPECT_EQ(row.rows.mass(0, std::numeric_limits<token_id>::max()), 0u);
  }
}

TEST(SoftmaxRows, NeverReadWhatLiesBetweenRows) {
  logits const table{1.0f, 2.0f, nan, inf, 2.0f, 1.0f, nan, inf};
  tev::softmax_storage storage;
  auto const rows = storage.rows(table.data(), 2, 2, 4, 1.0f);
  for (tev::node_id v = 0; v < 2; ++v) rows.prepare(alone, v);
  EXPECT_EQ(rows.row_status(0), status::ok);
  EXPECT_EQ(rows.row_status(1), status::ok);
  EXPECT_EQ(rows.mass(0, 1), top);
  EXPECT_EQ(rows.mass(1, 0), top);
  EXPECT_EQ(rows.mass(0, 0), rows.mass(1, 1));
  EXPECT_EQ(rows.total(0), rows.total(1));
}

TEST(SoftmaxRows, PrepareOneRowAndLeaveTheOthers) {
  logits const table{1.0f, 2.0f, nan, 1.0f};
  tev::softmax_storage storage;
  auto const rows = storage.rows(table.data(), 2, 2, 2, 1.0f);
  rows.prepare(alone, 0);
  EXPECT_TRUE(rows.summaries[0].ready);
  EXPECT_FALSE(rows.summaries[1].ready);
}

TEST(SoftmaxStorage, ForgetsTheRowsItServedBefore) {
  tev::softmax_storage storage;
  logits const first{1.0f, 5.0f}, second{5.0f, 1.0f};
  storage.rows(first.data(), 1, 2, 2, 0.0f).prepare(alone, 0);
  auto const rows = storage.rows(second.data(), 1, 2, 2, 0.0f);
  rows.prepare(alone, 0);
  EXPECT_EQ(rows.best(alone, 0), 0);
}

TEST(SoftmaxStorage, RefusesSizesThatCannotBeMeant) {
  tev::softmax_storage storage;
  float const x = 0.0f;
  EXPECT_THROW((void)storage.rows(&x, -1, 1, 1, 1.0f), tev::argument_error);
  EXPECT_THROW((void)storage.rows(&x, 1, 0, 1, 1.0f), tev::argument_error);
  EXPECT_THROW((void)storage.rows(&x, 1, tev::vocab_limit, tev::vocab_limit, 1.0f),
               tev::argument_error);
  EXPECT_THROW((void)storage.rows(&x, 1, 2, 1, 1.0f), tev::argument_error);
  EXPECT_EQ(storage.rows(&x, 0, 1, 1, 1.0f).vocab_size(), 1);
}

logits random_logits(std::int32_t vocab, float spread, std::uint32_t seed) {
  std::mt19937 random(seed);
  logits row(static_cast<std::size_t>(vocab));
  for (auto& x : row) x = (static_cast<float>(random() % 100001u) * 2e-5f - 1.0f) * spread;
  return row;
}

TEST(SoftmaxRows, AreProportionalToTheExponentials) {
  for (std::int32_t const vocab : {1, 2, 1000, 1024, 1025, 2500})
    for (float const t : {0.3f, 0.6f, 1.0f, 2.0f}) {
      auto const row = random_logits(vocab, 4.0f, static_cast<std::uint32_t>(vocab));
      double maximum = -1e9, sum = 0.0;
      for (float const x : row) maximum = std::max(maximum, static_cast<double>(x));
      for (float const x : row) sum += std::exp((x - maximum) / t);
      one_row<float> const found(row, t);
      for (token_id x = 0; x < vocab; ++x) {
        double const exact = std::exp((row[x] - maximum) / t) / sum;
        double const probability =
            static_cast<double>(found.rows.mass(0, x)) / static_cast<double>(found.rows.total(0));
        // One unit of mass below the floor, and 1e-5 of what is left.
        ASSERT_NEAR(probability, exact, exact * 1e-5 + 0x1p-40) << x;
      }
    }
}

// The row written out: every token's mass from the maximum, nothing pruned.
masses reference_masses(logits const& row, float temperature) {
  float maximum = -inf;
  for (float const x : row) maximum = std::max(maximum, x);
  auto const scale = tev::octave_scale_of(temperature);
  masses m;
  for (float const x : row)
    m.push_back(x == maximum ? top
                : x == -inf  ? 0
                             : tev::mass_of_octaves(tev::octaves_below(maximum, x, scale)));
  return m;
}

TEST(SoftmaxRows, LoseNothingByLeavingChunksOut) {
  for (std::int32_t const vocab : {900, 1024, 4000, 6144})
    for (float const t : {1e-39f, 0.05f, 0.7f, 1.0f, 30.0f}) {
      auto row = random_logits(vocab, 15.0f, 7);
      for (std::int32_t x = 1024; x < vocab && x < 2048; ++x) row[x] -= 33.0f;  // Far below.
      for (std::int32_t x = 2048; x < vocab && x < 3072; ++x) row[x] = -inf;
      auto const expected = reference_masses(row, t);
      std::uint64_t total = 0;
      for (auto const m : expected) total += m;
      one_row<float> const found(row, t);
      ASSERT_EQ(found.all(), expected);
      ASSERT_EQ(found.rows.total(0), total) << vocab << " tokens at " << t;
    }
}

TEST(SoftmaxRows, AreTheSameFromBfloat16WhereItHoldsTheLogits) {
  std::mt19937 random(3);
  std::vector<tev::bfloat16> narrow;
  logits wide;
  for (std::int32_t x = 0; x < 2100; ++x) {
    auto const bits =
        static_cast<std::uint16_t>((random() % 2 << 15) | (0x3c00 + random() % 0x500));
    narrow.push_back({x % 50 == 0 ? std::uint16_t{0xff80} : bits});
    wide.push_back(tev::to_float(narrow.back()));
  }
  for (float const t : {0.0f, 1e-40f, 0.6f, 1.0f, 1e30f}) {
    one_row<tev::bfloat16> const a(narrow, t);
    one_row<float> const b(wide, t);
    EXPECT_EQ(a.state(), status::ok);
    EXPECT_EQ(a.all(), b.all()) << t;
    EXPECT_EQ(a.rows.total(0), b.rows.total(0));
    EXPECT_EQ(a.rows.best(alone, 0), b.rows.best(alone, 0));
  }
  for (std::uint16_t const bad : {0x7f80, 0x7fc0, 0xffc0}) {
    narrow[1500].bits = bad;
    EXPECT_EQ(one_row<tev::bfloat16>(narrow, 1.0f).state(), status::not_finite);
  }
}

TEST(SoftmaxRows, GiveTheLowestTokenOfTheLargestLogitAsBest) {
  logits row(3000, 1.0f);
  row[2999] = row[2100] = row[2050] = 4.0f;
  for (float const t : {0.0f, 1.0f, 0x1p100f})
    EXPECT_EQ(one_row<float>(row, t).rows.best(alone, 0), 2050) << t;
}

struct listed_tokens {
  std::vector<token_id> tokens;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (token_id const x : tokens) visit(x);
  }
};

TEST(SoftmaxRows, DrawPastSkippedTokensWhereverTheyLie) {
  logits row(2049, -inf);
  row[3] = row[2048] = 0.0f;
  one_row<float> const r(row, 1.0f);
  EXPECT_EQ(r.rows.draw(alone, 0, 0, listed_tokens{{-1, 2049, 3}}), 2048);
  EXPECT_EQ(r.rows.draw(alone, 0, 0, listed_tokens{{-1, 2048, 1 << 30}}), 3);
  EXPECT_EQ(r.rows.draw(alone, 0, top, listed_tokens{{2048}}), tev::no_token);
  EXPECT_EQ(r.rows.draw(alone, 0, 0, listed_tokens{{3, 2048}}), tev::no_token);
  EXPECT_EQ(r.rows.draw(alone, 0, 0, listed_tokens{{3, 3}}), 2048);
}

TEST(SoftmaxRows, GiveLogarithmsAndMarginsOnlyWhereThereAreAny) {
  one_row<float> const good({1.0f, 0.0f, -inf}, 1.0f);
  EXPECT_EQ(tev::log_probability(good.rows, 0, 2), -inf);
  EXPECT_EQ(tev::raw_log_probability(good.rows, 0, 2), -inf);
  EXPECT_EQ(good.rows.margin(alone, 0), 1.0f);
  one_row<float> const bad({1.0f, nan, 0.0f}, 1.0f);
  EXPECT_TRUE(std::isnan(tev::raw_log_probability(bad.rows, 0, 0)));
  EXPECT_TRUE(std::isnan(bad.rows.margin(alone, 0)));
  EXPECT_EQ(tev::log_probability(bad.rows, 0, 0), -inf);
}

}  // namespace
