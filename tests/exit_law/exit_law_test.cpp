// Reach, local exit, exit law and coverage on trees small enough to do by hand.
#include "tev/exit_law/exit_law.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "support/enumerating_source.hpp"
#include "support/instance.hpp"
#include "tev/distribution/mass_rows.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/draft_tree.hpp"

namespace {

using tev_test::integer_scene;
using tev_test::rational;

// Root: tokens a (1/2), b (1/4), c. Below a: b (2/3). Below b: c (all).
integer_scene worked_example() {
  return integer_scene(
      {{-1, 0, 0, 1, 2}, {-1, 0, 1, 1, 2}, 3, {2, 1, 1, 0, 2, 1, 0, 0, 5, 1, 1, 1, 1, 0, 0}});
}

TEST(ExitLaw, OfTheWorkedExampleIsTheOneComputedByHand) {
  auto scene = worked_example();
  auto const p = scene.prepared();
  auto const law = tev::exit_law_of<rational>(p.tree, p.target);
  using values = std::vector<rational>;
  rational const quarter(1, 4), third(1, 3);
  EXPECT_EQ(law.reach, (values{1, 2 * quarter, quarter, third, quarter}));
  EXPECT_EQ(law.local_exit, (values{quarter, third, 0, 1, 1}));
  EXPECT_EQ(law.exit, (values{quarter, rational(1, 6), 0, third, quarter}));
  EXPECT_EQ(law.coverage, rational(4, 3));
  EXPECT_EQ(tev::accepted_length_distribution(p.tree, law),
            (values{quarter, rational(1, 6), rational(7, 12)}));
  // Squares: 1/6 + 4 * 7/12 = 5/2; less the mean's 16/9.
  EXPECT_EQ(tev::accepted_length_variance(p.tree, law), rational(13, 18));
}

TEST(ExitLaw, InDoublesIsCloseToTheExactOne) {
  auto scene = worked_example();
  auto const p = scene.prepared();
  auto const exact = tev::exit_law_of<rational>(p.tree, p.target);
  auto const law = tev::exit_law_of(p.tree, p.target);
  for (std::size_t v = 0; v < law.exit.size(); ++v) {
    EXPECT_NEAR(law.reach[v], static_cast<double>(exact.reach[v]), 1e-15);
    EXPECT_NEAR(law.exit[v], static_cast<double>(exact.exit[v]), 1e-15);
  }
  EXPECT_EQ(law.exit[2], 0.0) << "a residual is a sum of what is left, so this one is exactly 0";
  EXPECT_NEAR(law.coverage, 4.0 / 3.0, 1e-15);
}

TEST(ExitLaw, OfALoneRootIsCertain) {
  integer_scene scene({{-1}, {-1}, 2, {1, 1}});
  auto const p = scene.prepared();
  auto const law = tev::exit_law_of<rational>(p.tree, p.target);
  EXPECT_EQ(law.exit, std::vector<rational>{1});
  EXPECT_EQ(law.coverage, 0);
  EXPECT_EQ(tev::accepted_length_distribution(p.tree, law), std::vector<rational>{1});
  EXPECT_EQ(tev::accepted_length_variance(p.tree, law), 0);
}

TEST(ExitLaw, LetsNothingPassARowWithoutMass) {
  integer_scene scene({{-1, 0, 1}, {-1, 0, 0}, 2, {3, 1, 0, 0, 1, 1}});
  auto const p = scene.prepared();
  auto const law = tev::exit_law_of<rational>(p.tree, p.target);
  EXPECT_EQ(law.reach, (std::vector<rational>{1, rational(3, 4), 0}));
  EXPECT_EQ(law.exit, (std::vector<rational>{rational(1, 4), rational(3, 4), 0}));
}

TEST(ExitLaw, GivesAForeignTokenNoMass) {
  auto const tree = tev::draft_tree::from_parents({-1, 0}, {-1, 900});
  std::vector<std::uint64_t> const masses{1, 1, 1, 1};
  tev::mass_storage<std::uint64_t> storage;
  auto const target = storage.rows(masses.data(), 2, 2, 2);
  for (tev::node_id v = 0; v < 2; ++v) target.prepare(tev::serial_team{}, v);
  auto const law = tev::exit_law_of<rational>(tree, target);
  EXPECT_EQ(law.exit, (std::vector<rational>{1, 0}));
}

TEST(ExitLaw, TakesRationalMassesAndTotalsThatLeaveSomethingOut) {
  auto const tree = tev::draft_tree::from_parents({-1, 0}, {-1, 0});
  std::vector<rational> const masses{rational(1, 3), rational(1, 6), 1, 0};
  std::vector<rational> const totals{1, 1};
  tev::mass_storage<rational> storage;
  auto const target = storage.rows(masses.data(), 2, 2, 2, totals.data());
  for (tev::node_id v = 0; v < 2; ++v) target.prepare(tev::serial_team{}, v);
  auto const law = tev::exit_law_of<rational>(tree, target);
  EXPECT_EQ(law.exit, (std::vector<rational>{rational(2, 3), rational(1, 3)}));
  EXPECT_EQ(law.coverage, rational(1, 3));
}

TEST(AcceptedLength, OfAChainIsTheGeometricLaw) {
  integer_scene scene({{-1, 0, 1, 2}, {-1, 0, 0, 0}, 2, {1, 1, 1, 1, 1, 1, 1, 1}});
  auto const p = scene.prepared();
  auto const law = tev::exit_law_of<rational>(p.tree, p.target);
  rational const half(1, 2);
  EXPECT_EQ(tev::accepted_length_distribution(p.tree, law),
            (std::vector<rational>{half, half * half, half * half * half, half * half * half}));
  EXPECT_EQ(law.coverage, rational(7, 8));
}

}  // namespace
