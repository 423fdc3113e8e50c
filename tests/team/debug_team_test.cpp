// Distributions and verifiers give a team of threads what they give one thread, and every thread of
// the team reaches every collective in the same order.
#include "support/debug_team.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/all_verifiers.hpp"
#include "tev/core/types.hpp"
#include "tev/distribution/concept.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/distribution/sampling_parameters.hpp"
#include "tev/distribution/softmax_rows.hpp"
#include "tev/distribution/softmax_storage.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"
#include "tev/verify/concept.hpp"
#include "tev/verify/greedy.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

using tev::token_id;
using tev_test::debug_team;
using tev_test::run_team;

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
    for (auto const& found : run_team(size, [&](debug_team const& t) { return answers(rows, t); }))
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

TEST(DebugTeam, GetsTheSerialAnswersFromSoftmaxRows) {
  auto const logits = some_logits();
  for (float const temperature : {0.0f, 0.7f, 3.0f, -1.0f}) {
    tev::softmax_storage storage;
    expect_same_for_all_teams(
        [&] { return storage.rows(logits.data(), row_count, vocab, vocab, temperature); });
  }
}

TEST(DebugTeam, GetsTheSerialAnswersFromMassRows) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> masses(vocab * row_count);
  for (auto& m : masses) m = random() % 5 == 0 ? 0 : random() >> 40;
  for (token_id x = 0; x < vocab; ++x) masses[2 * vocab + x] = 0;
  masses[3 * vocab] = std::numeric_limits<std::uint64_t>::max();
  tev::mass_storage<std::uint64_t> storage;
  expect_same_for_all_teams([&] { return storage.rows(masses.data(), row_count, vocab, vocab); });
}

// Copies of the first row below a tree with branches.
struct scene {
  explicit scene(tev::sampling_parameters const& how) : sampling(how) {
    auto const row = some_logits();
    for (int v = 0; v < row_count; ++v)
      logits.insert(logits.end(), row.begin(), row.begin() + vocab);
  }
  auto problem_at(std::uint32_t position) {
    return tev::problem{tree.view(), storage.rows(logits.data(), row_count, vocab, vocab, sampling),
                        17u, position};
  }

  tev::sampling_parameters sampling;
  std::vector<float> logits;
  tev::draft_tree tree = tev::draft_tree::from_parents({-1, 0, 0, 1}, {0, 1024, 1900, 2500});
  tev::softmax_storage storage;
};

template <class Verifier>
void expect_same_outcomes(std::string const& name, scene& s, Verifier const& verify) {
  for (std::uint32_t position = 0; position < 6; ++position) {
    auto const expected = verify(tev::serial_team{}, s.problem_at(position), tev::philox{99});
    for (std::int32_t const size : {2, 3, 7}) {
      auto const problem = s.problem_at(position);
      for (auto const& found :
           run_team(size, [&](debug_team const& t) { return verify(t, problem, tev::philox{99}); }))
        EXPECT_EQ(found, expected) << name << ", " << size << " threads";
    }
  }
}

TEST(DebugTeam, GetsTheSerialOutcomeFromEveryVerifier) {
  tev::sampling_parameters const settings[] = {{.temperature = 40.0f},
                                               {.temperature = 0.0f},
                                               {.temperature = 9.0f, .top_k = 40, .top_p = 0.9f}};
  for (auto const& sampling : settings) {
    scene s(sampling);
    tev_test::verifier_workspace space(row_count);
    expect_same_outcomes("greedy", s, tev::greedy{});
    tev_test::for_each_verifier([&](std::string const& name, auto const& make) {
      expect_same_outcomes(name, s, make(tev::default_flow_unit, space));
    });
  }
}

// The words of the divergence that `work` ends in; empty when it ends well.
template <class Work>
std::string divergence_of(std::int32_t size, Work const& work) {
  try {
    (void)run_team(size, [&](debug_team const& t) {
      work(t);
      return 0;
    });
  } catch (tev_test::divergence const& found) {
    return found.what();
  }
  return "";
}

TEST(DebugTeam, NamesTheRankThatReachesAnotherCollective) {
  auto const said = divergence_of(3, [](debug_team const& t) {
    t.barrier();
    (void)(t.rank() == 1 ? t.max(1) : t.sum(1));
  });
  EXPECT_EQ(said, "collective 1: rank 1 reached max(0) where the others reached sum(0)");
}

TEST(DebugTeam, NamesTheRankThatSkipsACollectiveInsteadOfHanging) {
  auto const skips = divergence_of(4, [](debug_team const& t) {
    if (t.rank() != 2) t.barrier();
  });
  EXPECT_EQ(skips,
            "collective 0: rank 2 reached nothing (it returned) where the others reached "
            "barrier(0)");
  auto const once_more = divergence_of(4, [](debug_team const& t) {
    if (t.rank() == 0) t.barrier();
  });
  EXPECT_EQ(once_more,
            "collective 0: rank 0 reached barrier(0) where the others reached nothing (it "
            "returned)");
}

TEST(DebugTeam, NamesTheRankThatPicksWithAnotherNumber) {
  EXPECT_EQ(divergence_of(3, [](debug_team const& t) { (void)t.pick(5, t.rank() == 0 ? 1 : 2); }),
            "collective 0: rank 0 reached pick(1) where the others reached pick(2)");
  EXPECT_NE(divergence_of(3, [](debug_team const& t) { (void)t.broadcast(5, t.rank()); }), "");
}

TEST(DebugTeam, PassesOnWhatAThreadThrows) {
  auto const throws = [](debug_team const& t) {
    if (t.rank() == 1) throw std::runtime_error("planted");
    t.barrier();
    return 0;
  };
  EXPECT_THROW((void)run_team(3, throws), std::runtime_error);
}

// Forgets that only some threads see a child that is worth a collective.
struct divergent_verifier {
  template <class Team, class Problem, class Source>
  tev::outcome operator()(Team const& team, Problem const& p, Source const& source) const {
    p.target.prepare(team, 0);
    if (team.rank() == 0) team.barrier();
    return tev::tree_exit{}(team, p, source);
  }
};

TEST(DebugTeam, ReportsAVerifierWhoseThreadsPart) {
  scene s({.temperature = 40.0f});
  auto const problem = s.problem_at(0);
  auto const verify = [&](debug_team const& t) {
    return divergent_verifier{}(t, problem, tev::philox{99});
  };
  EXPECT_THROW((void)run_team(3, verify), tev_test::divergence);
  EXPECT_NO_THROW((void)run_team(1, verify));
}

}  // namespace
