// Filters, bitmask and bias against a naive row that is sorted and filtered step by step.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/debug_team.hpp"
#include "tev/core/error.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/team/serial_team.hpp"

namespace {

using boost::multiprecision::cpp_int;
using tev::sampling_parameters;
using tev::status;
using tev::token_id;

constexpr tev::serial_team alone;
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// ceil(share * n) of the real number that the float is.
std::uint64_t exact_ceil(float share, std::uint64_t n) {
  int exponent = 0;
  auto const fraction = static_cast<std::uint32_t>(std::ldexp(std::frexp(share, &exponent), 24));
  cpp_int const scaled = cpp_int(fraction) * n;
  int const shift = 24 - exponent;
  return static_cast<std::uint64_t>((scaled + (cpp_int(1) << shift) - 1) >> shift);
}

// What the filters leave of effective logits (excluded tokens: -infinity), by sorting.
std::vector<std::uint64_t> naive_masses(std::vector<float> const& row, sampling_parameters s) {
  std::vector<token_id> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(
      order, [&](token_id a, token_id b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  float const maximum = row[order[0]];
  auto const scale = tev::octave_scale_of(s.temperature);
  auto const mass = [&](token_id x) {
    if (row[x] == maximum) return tev::top_mass;
    return std::isinf(row[x]) ? 0
                              : tev::mass_of_octaves(tev::octaves_below(maximum, row[x], scale));
  };
  if (s.top_k > 0 && static_cast<std::size_t>(s.top_k) < order.size())
    order.resize(static_cast<std::size_t>(s.top_k));
  if (s.top_p < 1.0f) {
    std::uint64_t total = 0, running = 0;
    for (auto const x : order) total += mass(x);
    std::size_t kept = 0;
    do running += mass(order[kept++]);
    while (running < exact_ceil(s.top_p, total));
    order.resize(kept);
  }
  std::vector<std::uint64_t> left(row.size(), 0);
  for (auto const x : order) {
    bool const stays =
        s.min_p == 1.0f ? row[x] == maximum : mass(x) >= exact_ceil(s.min_p, tev::top_mass);
    if (stays) left[x] = mass(x);
  }
  return left;
}

template <class Team, class Rows>
std::vector<std::uint64_t> prepared_masses(Team const& team, Rows const& rows) {
  rows.prepare(team, 0);
  std::vector<std::uint64_t> masses;
  for (token_id x = 0; x < rows.vocab_size(); ++x) masses.push_back(rows.mass(0, x));
  return masses;
}

template <class Rows>
void expect_consistent(Rows const& rows, std::vector<std::uint64_t> const& expected) {
  std::uint64_t total = 0;
  for (token_id x = 0; x < rows.vocab_size(); ++x) {
    if (expected[x] == 0) continue;
    RC_ASSERT(rows.draw(alone, 0, total, tev::no_tokens{}) == x);
    total += expected[x];
    RC_ASSERT(rows.draw(alone, 0, total - 1, tev::no_tokens{}) == x);
  }
  RC_ASSERT(rows.total(0) == total);
  RC_ASSERT(rows.draw(alone, 0, total, tev::no_tokens{}) == tev::no_token);
}

// Rows of all kinds: smooth, tied, wide, nearly empty, constant.
rc::Gen<std::vector<float>> logit_rows_of(std::int32_t vocab) {
  return rc::gen::exec([vocab] {
    std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
    int const kind = *rc::gen::inRange(0, 6);
    std::normal_distribution<float> normal(0.0f, kind == 2 ? 100.0f : 2.5f);
    std::vector<float> row(static_cast<std::size_t>(vocab));
    for (auto& x : row) {
      x = normal(random);
      if (kind == 1) x = std::round(x);
      if (kind == 3) x = random() % 4 != 0 ? -inf : x;
      if (kind == 4) x = 1.5f;
      if (kind == 5) x = std::ldexp(x, static_cast<int>(random() % 200u) - 150);
    }
    row[random() % row.size()] = kind == 4 ? 1.5f : kind == 5 ? 4.0f : 11.0f;
    return row;
  });
}

rc::Gen<sampling_parameters> some_parameters(std::int32_t vocab) {
  return rc::gen::exec([vocab] {
    auto const share =
        rc::gen::oneOf(rc::gen::element(0.0f, 1.0f, 0.5f, 0.95f, 0x1p-149f, 1e-9f, 0.99999994f),
                       rc::gen::map(rc::gen::inRange(0, 1 << 24),
                                    [](int n) { return static_cast<float>(n) * 0x1p-24f; }));
    auto const k =
        rc::gen::oneOf(rc::gen::element(-1, 0, 1, 2, 20, 1 << 30), rc::gen::inRange(1, vocab + 1));
    sampling_parameters s;
    s.temperature = *rc::gen::element(1.0f, 0.6f, 0.1f, 5.0f, 1e-3f, 0x1p-149f, 1e30f);
    s.top_k = *k;
    s.top_p = *rc::gen::oneOf(rc::gen::just(1.0f), rc::gen::just(1e30f), share);
    s.min_p = *rc::gen::oneOf(rc::gen::just(0.0f), share);
    return s;
  });
}

RC_GTEST_PROP(Filters, KeepWhatSortingKeeps, ()) {
  auto const vocab = *rc::gen::element(1, 7, 1024, 3 * 1024 + 5);
  auto const row = *logit_rows_of(vocab);
  auto const s = *some_parameters(vocab);
  auto const expected = naive_masses(row, s);
  tev::softmax_storage storage;
  auto rows = storage.rows(row.data(), 1, vocab, vocab, s);
  rows.space.capacity = *rc::gen::element(0, 1, 16, rows.space.capacity);
  if (rows.space.candidates == nullptr) rows.space.capacity = 0;
  RC_ASSERT(prepared_masses(alone, rows) == expected);
  expect_consistent(rows, expected);
}

RC_GTEST_PROP(Filters, AreTheSameForATeamOfThreads, ()) {
  constexpr std::int32_t vocab = 3 * 1024 + 5;
  auto const row = *logit_rows_of(vocab);
  auto const s = *some_parameters(vocab);
  auto const expected = naive_masses(row, s);
  for (auto const size : {2, 5}) {
    tev::softmax_storage storage;
    auto const rows = storage.rows(row.data(), 1, vocab, vocab, s);
    for (auto const& found :
         tev_test::run_team(size, [&](auto const& team) { return prepared_masses(team, rows); }))
      RC_ASSERT(found == expected);
  }
}

// A row with everything an engine may add, and the plain row that it has to equal.
struct adjusted_row {
  std::vector<float> logits, bias, values, effective;
  std::vector<std::uint32_t> words;
  std::vector<token_id> tokens;
  std::vector<std::int64_t> offsets;
};

adjusted_row adjust(std::vector<float> row, std::mt19937& random) {
  adjusted_row a;
  a.logits = row;
  a.offsets = {0};
  a.words.assign(row.size() / 32 + 1, 0xffffffffu);
  a.bias.assign(row.size(), 0.0f);
  a.effective = row;
  for (std::size_t x = 0; x < row.size(); ++x) {
    if (random() % 3 == 0) a.bias[x] = static_cast<float>(random() % 16u) - 8.0f;
    a.effective[x] += a.bias[x];
    if (random() % 5 == 0) {
      a.tokens.push_back(static_cast<token_id>(x));
      a.values.push_back(static_cast<float>(random() % 8u) * 0.5f);
      a.effective[x] += a.values.back();
    }
    if (x == 0 || random() % 4 != 0) continue;
    a.words[x / 32] &= ~(1u << (x % 32));
    a.effective[x] = -inf;
    if (random() % 2 == 0) a.logits[x] = random() % 2 == 0 ? nan : inf;
  }
  a.offsets.push_back(static_cast<std::int64_t>(a.tokens.size()));
  return a;
}

tev::logit_rows<float> source_of(adjusted_row const& a) {
  auto const vocab = static_cast<std::int32_t>(a.logits.size());
  return {.logits = a.logits.data(),
          .stride = vocab,
          .vocab = vocab,
          .allowed = {a.words.data(), static_cast<std::int64_t>(a.words.size())},
          .bias = {.rows = a.bias.data(),
                   .stride = vocab,
                   .offsets = a.offsets.data(),
                   .tokens = a.tokens.data(),
                   .values = a.values.data()}};
}

RC_GTEST_PROP(MaskAndBias, EqualTheRowIntoWhichTheyWereWritten, ()) {
  auto const vocab = *rc::gen::element(1, 33, 2 * 1024 + 31);
  std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
  auto const a = adjust(*logit_rows_of(vocab), random);
  auto const s = *some_parameters(vocab);
  auto source = source_of(a);
  tev::softmax_storage storage, plain_storage;
  auto const rows = storage.rows(source, 1, s);
  auto const plain = plain_storage.rows(a.effective.data(), 1, vocab, vocab, s);
  auto const expected = prepared_masses(alone, plain);
  RC_ASSERT(prepared_masses(alone, rows) == expected);
  RC_ASSERT(rows.best(alone, 0) == plain.best(alone, 0));
  RC_ASSERT(std::bit_cast<std::uint32_t>(rows.margin(alone, 0)) ==
            std::bit_cast<std::uint32_t>(plain.margin(alone, 0)));
  expect_consistent(rows, expected);
}

status state_of(std::vector<float> const& row, sampling_parameters s) {
  tev::softmax_storage storage;
  auto const vocab = static_cast<std::int32_t>(row.size());
  auto const rows = storage.rows(row.data(), 1, vocab, vocab, s);
  rows.prepare(alone, 0);
  return rows.row_status(0);
}

TEST(SamplingParameters, OutOfRangeAreBadInEveryModeAndBeforeTheRowIsJudged) {
  for (float const t : {0.0f, 1.0f})
    for (auto const& row :
         {std::vector<float>{1, 2}, std::vector<float>{nan, 1}, std::vector<float>{-inf, -inf}}) {
      for (float const bad : {-1.0f, -0x1p-149f, nan, -nan, inf, -inf}) {
        EXPECT_EQ(state_of(row, {.temperature = t, .top_p = bad}), status::bad_parameter) << bad;
        EXPECT_EQ(state_of(row, {.temperature = t, .min_p = bad}), status::bad_parameter) << bad;
      }
      EXPECT_EQ(state_of(row, {.temperature = t, .min_p = 1.0000001f}), status::bad_parameter);
    }
  EXPECT_EQ(state_of({1, 2}, {.top_k = -5, .top_p = -0.0f, .min_p = -0.0f}), status::ok);
  EXPECT_EQ(state_of({1, 2}, {.top_p = 1e38f, .min_p = 1.0f}), status::ok);
}

TEST(Filters, LeaveTheArgmaxOfTiedMaximaForTopKOneAndTopPZero) {
  std::vector<float> const row{1, 3, 3, 2};
  for (auto const s : {sampling_parameters{.top_k = 1}, sampling_parameters{.top_p = 0.0f}}) {
    tev::softmax_storage storage;
    auto const rows = storage.rows(row.data(), 1, 4, 4, s);
    EXPECT_EQ(prepared_masses(alone, rows), (std::vector<std::uint64_t>{0, tev::top_mass, 0, 0}));
  }
}

TEST(Bias, ThatOverflowsOrIsNotANumberMakesTheRowNotFinite) {
  std::vector<float> const row{3e38f, 1.0f};
  for (float const added : {3e38f, nan, inf}) {
    std::vector<float> const bias{added, 0.0f};
    tev::softmax_storage storage;
    auto const rows =
        storage.rows(tev::logit_rows<float>{.logits = row.data(),
                                            .stride = 2,
                                            .vocab = 2,
                                            .bias = {.rows = bias.data(), .stride = 2}},
                     1, sampling_parameters{});
    rows.prepare(alone, 0);
    EXPECT_EQ(rows.row_status(0), status::not_finite) << added;
  }
}

TEST(CeilShare, IsExactForEveryKindOfFloat) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    auto const bits = static_cast<std::uint32_t>(random() % (0x3f800000u + 1));
    auto const share = std::bit_cast<float>(i % 3 == 0 ? bits >> (bits % 24) : bits);
    std::uint64_t const n = random() >> (random() % 64);
    ASSERT_EQ(tev::ceil_share(share, n), exact_ceil(share, n)) << share << ' ' << n;
  }
  EXPECT_EQ(tev::ceil_share(1.0f, ~0ull), ~0ull);
  EXPECT_EQ(tev::ceil_share(0.0f, ~0ull), 0u);
}

TEST(Float16, HoldsEveryValueOfBinary16) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    float const value = tev::to_float(tev::float16{static_cast<std::uint16_t>(bits)});
    int const exponent = static_cast<int>(bits >> 10 & 31u),
              fraction = static_cast<int>(bits & 1023u);
    float const expected = exponent == 31 ? (fraction != 0 ? nan : inf)
                           : exponent == 0
                               ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    ASSERT_EQ(std::signbit(value), bits >> 15 != 0) << bits;
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(value)) << bits;
    else
      ASSERT_EQ(std::fabs(value), expected) << bits;
  }
}

template <class Change>
void expect_refused(std::string const& word, Change const& change) {
  std::vector<float> const row(8, 0.0f);
  std::vector<std::uint32_t> const words{0xff};
  tev::logit_rows<float> source{
      .logits = row.data(), .stride = 8, .vocab = 8, .allowed = {words.data(), 1}};
  change(source);
  tev::softmax_storage storage;
  try {
    (void)storage.rows(source, 1, sampling_parameters{});
    FAIL() << word;
  } catch (tev::argument_error const& e) {
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(SoftmaxStorage, NamesTheArgumentThatCannotBeMeant) {
  expect_refused("stride is 7", [](auto& s) { s.stride = 7; });
  expect_refused("vocab is 0", [](auto& s) { s.vocab = 0; });
  expect_refused("logits is null", [](auto& s) { s.logits = nullptr; });
  expect_refused("bitmask stride is 0", [](auto& s) { s.allowed.stride = 0; });
  std::vector<float> const bias(8);
  expect_refused("bias stride is 4", [&](auto& s) {
    s.bias.rows = bias.data();
    s.bias.stride = 4;
  });
  std::vector<std::int64_t> const offsets{0, 3};
  expect_refused("bias tokens", [&](auto& s) { s.bias.offsets = offsets.data(); });
}

TEST(MassBins, HoldTheMassesFromTheirLeastToTheNext) {
  for (std::uint64_t mass = 1; mass <= tev::top_mass; mass = mass < 300 ? mass + 1 : mass * 9 / 8) {
    std::int32_t const bin = tev::detail::mass_bin(mass);
    ASSERT_GE(bin, 0);
    ASSERT_LT(bin, tev::detail::mass_bins);
    ASSERT_LE(tev::detail::least_mass(bin), mass);
    ASSERT_GT(tev::detail::least_mass(bin + 1), mass);
  }
}

TEST(Cut, TriesAPlaceInsideItsBracketAndBetweenLogitsHalfway) {
  auto const at = [](float x) { return tev::floor_of(tev::key_of(x)); };
  EXPECT_EQ(tev::detail::middle_of(at(1.0f), at(3.0f)), at(2.0f));
  EXPECT_EQ(tev::detail::middle_of(at(-4.0f), at(4.0f)), at(0.0f));
  auto const forbidden = tev::floor_of(tev::forbidden_key);
  auto const invalid = tev::floor_of(tev::invalid_key);
  for (auto const& [low, high] : {std::pair{forbidden, at(1.0f)}, std::pair{at(1.0f), invalid},
                                  std::pair{at(1.0f), at(1.0f) + 9}}) {
    auto const middle = tev::detail::middle_of(low, high);
    EXPECT_EQ(middle, low + (high - low) / 2);
    EXPECT_TRUE(low < middle && middle < high);
  }
}

TEST(Bitmask, TakesOneWordPer32Tokens) {
  for (auto const& [vocab, words] : {std::pair{1, 1}, {31, 1}, {32, 1}, {33, 2}, {64, 2}, {65, 3}})
    EXPECT_EQ(tev::bitmask_words(vocab), words) << vocab;
}

TEST(LogitRows, VisitEveryTokenOnceAlsoWhereABiasListIsOutOfOrder) {
  std::vector<float> const row{0, 1, 2, 3, 4, 5};
  std::int64_t const offsets[] = {0, 3};
  float const values[] = {1, 1, 1};
  for (auto const& tokens : {std::vector<token_id>{1, 3, 5}, {3, 1, 5}, {2, 2, 2}, {1, 9, 3}}) {
    tev::logit_rows<float> const rows{
        .logits = row.data(),
        .stride = 6,
        .vocab = 6,
        .bias = {.offsets = offsets, .tokens = tokens.data(), .values = values}};
    std::vector<token_id> visited;
    rows.for_each_key(0, 0, 6, [&](token_id x, tev::logit_key) { visited.push_back(x); });
    EXPECT_EQ(visited, (std::vector<token_id>{0, 1, 2, 3, 4, 5}));
  }
}

TEST(LogitRows, FromARowOnAreTheSameRows) {
  std::vector<float> const row{0, 1, 2, 3, 4, 5};
  tev::logit_rows<float> rows{.logits = row.data(), .stride = 3, .vocab = 3};
  for (token_id x = 0; x < 3; ++x) EXPECT_EQ(rows.from(1).key(0, x), rows.key(1, x));
  std::uint32_t const words[] = {7u, 5u};
  rows.allowed = {words, 1};
  for (token_id x = 0; x < 3; ++x) EXPECT_EQ(rows.from(1).key(0, x), rows.key(1, x));
  EXPECT_EQ(rows.from(1).key(0, 1), tev::forbidden_key);
}

TEST(Filters, FindTheSameCutWithAndWithoutSpaceInManyChunks) {
  std::vector<float> row(20 * 1024 + 7);
  for (std::size_t x = 0; x < row.size(); ++x) row[x] = static_cast<float>(x * 7919 % 10007) / 900;
  auto const vocab = static_cast<std::int32_t>(row.size());
  for (auto const& s : {sampling_parameters{.top_k = 3}, {.top_k = 900}, {.top_p = 0.4f}}) {
    tev::softmax_storage storage, other;
    auto const rows = storage.rows(row.data(), 1, vocab, vocab, s);
    auto bare = other.rows(row.data(), 1, vocab, vocab, s);
    bare.space = {};
    auto const expected = naive_masses(row, s);
    EXPECT_EQ(prepared_masses(alone, rows), expected);
    EXPECT_EQ(prepared_masses(alone, bare), expected);
  }
}

}  // namespace
