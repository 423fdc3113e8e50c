// Exactness by enumeration under filters, bitmask and bias: the law of every verifier over rows of
// logits is the exit law of the rows that sorting and filtering by hand leave.
//
// ctest-optimised
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/enumerating_source.hpp"
#include "support/expected_law.hpp"
#include "support/generators.hpp"
#include "support/instance.hpp"
#include "support/law_tally.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/block.hpp"
#include "tev/verify/chain.hpp"
#include "tev/verify/hierarchical.hpp"
#include "tev/verify/speculative_sampling.hpp"

namespace {

using namespace tev_test;

// At this temperature a difference of 1 between logits is one octave of mass, exactly.
constexpr float octave_temperature = 0x1.715476p+0f;
// Logits lie within this many octaves, so that dividing by the least mass leaves small integers.
constexpr int octaves = 3;
constexpr std::uint64_t divisor = tev::top_mass >> octaves;
constexpr std::size_t outcome_limit = 20'000;

// Rows whose masses are all multiples of a divisor, as rows of the quotients: draws go through the
// rows themselves.
template <class Rows>
struct divided_rows {
  using mass_type = std::uint64_t;
  Rows rows;

  [[nodiscard]] std::int32_t vocab_size() const { return rows.vocab_size(); }
  [[nodiscard]] std::uint64_t total(tev::node_id v) const { return rows.total(v) / divisor; }
  [[nodiscard]] std::uint64_t mass(tev::node_id v, tev::token_id x) const {
    return rows.mass(v, x) / divisor;
  }
  [[nodiscard]] tev::status row_status(tev::node_id v) const { return rows.row_status(v); }
  template <tev::team Team>
  void prepare(Team const& team, tev::node_id v) const {
    rows.prepare(team, v);
  }
  template <tev::team Team, class Tokens>
  [[nodiscard]] tev::token_id draw(Team const& team, tev::node_id v, std::uint64_t r,
                                   Tokens const& skip) const {
    return rows.draw(team, v, r * divisor, skip);
  }
  template <tev::team Team>
  [[nodiscard]] tev::token_id best(Team const& team, tev::node_id v) const {
    return rows.best(team, v);
  }
};

// A tree whose rows are logits with everything that may be done to them.
struct filtered_case {
  instance tree;  // Its masses are not used.
  std::vector<float> logits, bias;
  std::vector<std::uint32_t> words;
  tev::sampling_parameters sampling;
};

rc::Gen<filtered_case> filtered_cases() {
  // The whole range from the first case on.
  auto const generator = rc::gen::exec([] {
    filtered_case c{.tree = *tree_instances({.nodes = 4, .vocab = 4}),
                    .logits = {},
                    .bias = {},
                    .words = {},
                    .sampling = {}};
    std::size_t const size = c.tree.parents.size() * static_cast<std::size_t>(c.tree.vocab);
    float const inf = std::numeric_limits<float>::infinity();
    auto const pick = [](auto... values) { return *rc::gen::element(values...); };
    bool const biased = pick(true, false), masked = pick(true, false);
    for (std::size_t i = 0; i < size; ++i) {
      c.logits.push_back(pick(5.0f, 5.0f, 4.0f, 4.0f, -inf));
      c.bias.push_back(biased ? pick(0.0f, 0.0f, 1.0f, -1.0f) : 0.0f);
    }
    if (pick(0, 0, 0, 0, 1) == 1) c.logits[size - 1] = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t v = 0; v < c.tree.parents.size(); ++v)
      c.words.push_back(masked ? *rc::gen::inRange<std::uint32_t>(0, 16) | 0xfffffff0u : ~0u);
    c.sampling = {pick(octave_temperature, octave_temperature, octave_temperature, 0.0f),
                  pick(0, 0, 1, 2, 3), pick(1.0f, 1.0f, 0.0f, 0.25f, 0.5f, 0.75f, 0.875f),
                  pick(0.0f, 0.0f, 0.25f, 0.3f, 0.5f, 1.0f)};
    return c;
  });
  return rc::gen::resize(rc::kNominalSize, generator);
}

tev::logit_rows<float> source_of(filtered_case const& c) {
  tev::logit_rows<float> source;
  source.logits = c.logits.data();
  source.stride = source.vocab = c.tree.vocab;
  source.allowed = {c.words.data(), 1};
  source.bias.rows = c.bias.data();
  source.bias.stride = c.tree.vocab;
  return source;
}

// The quotients that row v should have, by sorting.
std::vector<std::uint64_t> naive_row(filtered_case const& c, std::size_t v) {
  auto const vocab = static_cast<std::size_t>(c.tree.vocab);
  std::vector<float> row(vocab);
  for (std::size_t x = 0; x < vocab; ++x) {
    bool const allowed = (c.words[v] >> x & 1u) != 0;
    row[x] = allowed ? c.logits[v * vocab + x] + c.bias[v * vocab + x]
                     : -std::numeric_limits<float>::infinity();
    if (row[x] != row[x]) return std::vector<std::uint64_t>(vocab, 0);
  }
  std::vector<std::size_t> order(vocab);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order,
                    [&](auto a, auto b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  float const maximum = row[order[0]];
  auto const mass = [&](std::size_t x) {
    return row[x] < 0 ? std::uint64_t{0}
                      : std::uint64_t{1} << (octaves - static_cast<int>(maximum - row[x]));
  };
  auto const& s = c.sampling;
  if (s.temperature == 0.0f) order.resize(1);
  if (s.temperature != 0.0f && s.top_k > 0 && static_cast<std::size_t>(s.top_k) < vocab)
    order.resize(static_cast<std::size_t>(s.top_k));
  double total = 0, running = 0;
  for (auto const x : order) total += static_cast<double>(mass(x));
  std::vector<std::uint64_t> left(vocab, 0);
  for (auto const x : order) {
    bool const first = x == order[0];
    bool const in_nucleus = first || s.top_p >= 1.0f || running < s.top_p * total;
    bool const in_min_p = static_cast<double>(mass(x)) >= s.min_p * (1 << octaves);
    if (s.temperature == 0.0f || (in_nucleus && in_min_p)) left[x] = mass(x);
    running += static_cast<double>(mass(x));
  }
  return left;
}

struct tally : law_tally {
  std::size_t filtered = 0;
};

void expect_exact(filtered_case const& c, tally& t) {
  instance naive = c.tree;
  for (std::size_t v = 0; v < naive.parents.size(); ++v) {
    auto const row = naive_row(c, v);
    naive.masses.insert(naive.masses.end(), row.begin(), row.end());
    t.filtered += std::ranges::count(row, 0u) > 0;
  }
  integer_scene scene(naive);
  auto const expected_problem = scene.prepared();
  auto const expected = expected_law(expected_problem);

  tev::softmax_storage storage;
  using rows = divided_rows<tev::softmax_rows<float>>;
  auto const& tree = scene.tree();
  tev::problem<tev::tree_view, rows> const p{
      tree.view(), {storage.rows(source_of(c), tree.size(), c.sampling)}, 5, 9};
  expect_laws(p, expected, exact_unit(expected_problem), outcome_limit, t);
}

TEST(FilteredLaw, OfEveryVerifierIsTheExitLawOfTheFilteredRows) {
  tally t;
  bool const held = rc::check("the enumerated law equals the exit law", [&t] {
    for (int k = 0; k < 3; ++k) expect_exact(*filtered_cases(), t);
  });
  EXPECT_TRUE(held);
  std::cout << t.laws << " laws over " << t.outcomes << " outcomes, " << t.too_large
            << " too large, " << t.filtered << " rows with tokens removed\n";
  EXPECT_GE(t.laws, 1000u);
  EXPECT_GE(t.filtered, 500u);
  EXPECT_LE(t.too_large * 10, t.laws);
}

// Chain verifiers ask rows for the same three things, so equal masses mean equal laws: their
// outcomes over rows of logits are those over the filtered rows, number by number.
RC_GTEST_PROP(FilteredLaw, OfChainVerifiersIsThatOfTheFilteredRows, ()) {
  auto const c = *filtered_cases();
  auto const rows_count = static_cast<std::int32_t>(c.tree.parents.size());
  std::vector<std::uint64_t> naive;
  for (std::int32_t v = 0; v < rows_count; ++v)
    for (auto const mass : naive_row(c, static_cast<std::size_t>(v))) naive.push_back(mass);
  std::vector<std::uint64_t> const even(naive.size(), 1);
  std::vector<tev::token_id> drafted;
  for (std::int32_t v = 1; v < rows_count; ++v)
    drafted.push_back(*rc::gen::inRange(0, c.tree.vocab));
  auto const vocab = c.tree.vocab;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    tev::softmax_storage storage;
    tev::mass_storage<std::uint64_t> plain, draft, other_draft;
    using softmax = divided_rows<tev::softmax_rows<float>>;
    tev::chain_problem<softmax, integer_rows> const filtered{
        drafted.data(),
        rows_count - 1,
        {storage.rows(source_of(c), rows_count, c.sampling)},
        draft.rows(even.data(), rows_count, vocab, vocab),
        5,
        9};
    tev::chain_problem<integer_rows> const expected{
        drafted.data(),
        rows_count - 1,
        plain.rows(naive.data(), rows_count, vocab, vocab),
        other_draft.rows(even.data(), rows_count, vocab, vocab),
        5,
        9};
    auto const expect_same = [&](auto const& verify) {
      auto const a = verify(tev::serial_team{}, filtered, tev::philox{seed});
      auto const b = verify(tev::serial_team{}, expected, tev::philox{seed});
      RC_ASSERT(a.exit_node == b.exit_node && a.bonus_token == b.bonus_token);
      RC_ASSERT((a.state == tev::status::ok) == (b.state == tev::status::ok));
    };
    expect_same(tev::speculative_sampling{});
    expect_same(tev::block{});
    expect_same(tev::hierarchical{});
  }
}

}  // namespace
