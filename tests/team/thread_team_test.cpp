// Distributions and verifiers give a team of threads what they give one thread.
#include "team/thread_team.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/distribution/softmax_rows.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/verify/concept.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

using tev::token_id;
using tev_test::run_team;
using tev_test::thread_team;

constexpr std::int32_t vocab = 2600;
constexpr std::int32_t row_count = 4;

struct two_tokens {
  token_id a, b;
  template <class Visit>
  void for_each(Visit&& visit) const {
    visit(a);
    visit(b);
  }
};

// Everything that a distribution answers about every row, in one list.
template <class Rows, class Team>
std::vector<std::uint64_t> answers(Rows const& rows, Team const& team) {
  std::vector<std::uint64_t> found;
  for (tev::node_id v = 0; v < row_count; ++v) {
    rows.prepare(team, v);
    rows.prepare(team, v);
    std::uint64_t const total = rows.total(v);
    found.push_back(static_cast<std::uint64_t>(rows.row_status(v)));
    found.push_back(total);
    found.push_back(static_cast<std::uint64_t>(rows.best(team, v)));
    for (std::uint64_t i = 0; i <= 8; ++i) {
      std::uint64_t const r = total / 8 * i;
      found.push_back(static_cast<std::uint64_t>(rows.draw(team, v, r, tev::no_tokens{})));
      found.push_back(static_cast<std::uint64_t>(rows.draw(team, v, r, two_tokens{3, 1500})));
    }
  }
  return found;
}

template <class MakeRows>
void expect_same_for_all_teams(MakeRows const& make_rows) {
  auto const expected = answers(make_rows(), tev::serial_team{});
  for (std::int32_t const size : {2, 3, 7}) {
    auto const rows = make_rows();
    for (auto const& found : run_team(size, [&](thread_team const& t) { return answers(rows, t); }))
      EXPECT_EQ(found, expected) << size << " threads";
  }
}

std::vector<float> some_logits() {
  std::mt19937 random(20260101);
  std::vector<float> logits(vocab * row_count);
  for (auto& x : logits) x = static_cast<float>(random() % 4000u) * 0.01f;
  float const inf = std::numeric_limits<float>::infinity();
  for (token_id x = 0; x < 1024; ++x) logits[x] = -inf;
  logits[vocab + 2100] = 200.0f;                                      // One chunk has all mass.
  for (token_id x = 0; x < vocab; ++x) logits[2 * vocab + x] = -inf;  // No mass.
  logits[3 * vocab + 77] = std::numeric_limits<float>::quiet_NaN();   // Not finite.
  return logits;
}

TEST(ThreadTeam, GetsTheSerialAnswersFromSoftmaxRows) {
  auto const logits = some_logits();
  for (float const temperature : {0.0f, 0.7f, 3.0f, -1.0f}) {
    tev::softmax_storage storage;
    expect_same_for_all_teams(
        [&] { return storage.rows(logits.data(), row_count, vocab, vocab, temperature); });
  }
}

TEST(ThreadTeam, GetsTheSerialAnswersFromMassRows) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> masses(vocab * row_count);
  for (auto& m : masses) m = random() % 5 == 0 ? 0 : random() >> 40;
  for (token_id x = 0; x < vocab; ++x) masses[2 * vocab + x] = 0;
  masses[3 * vocab] = std::numeric_limits<std::uint64_t>::max();
  tev::mass_storage<std::uint64_t> storage;
  expect_same_for_all_teams([&] { return storage.rows(masses.data(), row_count, vocab, vocab); });
}

template <class Verifier>
void expect_same_outcomes(Verifier const& verify) {
  auto const logits = some_logits();
  std::vector<float> copies;
  for (int v = 0; v < row_count; ++v)
    copies.insert(copies.end(), logits.begin(), logits.begin() + vocab);
  auto const tree = tev::draft_tree::from_parents({-1, 0, 0, 1}, {0, 1024, 1900, 2500});
  tev::softmax_storage storage;
  auto const problem_at = [&](std::uint32_t position) {
    return tev::problem{tree.view(), storage.rows(copies.data(), row_count, vocab, vocab, 40.0f),
                        17u, position};
  };
  for (std::uint32_t position = 0; position < 6; ++position) {
    auto const expected = verify(tev::serial_team{}, problem_at(position), tev::philox{99});
    for (std::int32_t const size : {2, 3, 7}) {
      auto const problem = problem_at(position);
      for (auto const& found : run_team(
               size, [&](thread_team const& t) { return verify(t, problem, tev::philox{99}); }))
        EXPECT_EQ(found, expected) << size << " threads";
    }
  }
}

TEST(ThreadTeam, GetsTheSerialOutcomeFromVerifiers) {
  expect_same_outcomes(tev::tree_exit{});
  expect_same_outcomes(tev::predraw{});
}

}  // namespace
