// The suite accepts the library's verifiers and refuses others, each for its own fault.
#include "support/verifier_suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/all_verifiers.hpp"
#include "support/generators.hpp"
#include "tev/verify/predraw.hpp"
#include "tev/verify/tree_exit.hpp"

namespace {

using namespace tev_test;
using testing::Contains;
using testing::StartsWith;

TEST(VerifierSuite, AcceptsEveryVerifierOfTheLibrary) {
  verifier_workspace space(8);
  for_each_verifier([&](std::string const& name, auto const& make) {
    auto const found = run_verifier_suite([&](std::uint64_t unit) { return make(unit, space); });
    EXPECT_TRUE(found.passed()) << name << ": " << testing::PrintToString(found.faults);
    EXPECT_GE(found.laws, 200u) << name;
  });
}

// A verifier with `change(outcome, problem, team)` applied to what it gives.
template <class Change>
struct changed {
  Change change;

  template <class Team, class Problem, class Source>
  tev::outcome operator()(Team const& team, Problem const& p, Source const& source) const {
    return change(tev::predraw{}(team, p, source), p, team);
  }
};

template <class Change>
suite_report report_of(Change const& change) {
  return run_verifier_suite([&](std::uint64_t) { return changed<Change>{change}; });
}

TEST(VerifierSuite, RefusesAnotherLaw) {
  auto const up = [](tev::outcome o, auto const& p, auto const&) {
    if (o.exit_node == 0 || o.state != tev::status::ok) return o;
    return tev::outcome{p.tree.parent(o.exit_node), p.tree.token(o.exit_node),
                        o.accepted_length - 1, o.state};
  };
  EXPECT_THAT(report_of(up).faults, Contains(StartsWith("the enumerated law is not")));
}

TEST(VerifierSuite, RefusesAnAcceptedLengthThatIsNotTheDepth) {
  auto const longer = [](tev::outcome o, auto const&, auto const&) {
    o.accepted_length += 1;
    return o;
  };
  EXPECT_THAT(report_of(longer).faults, Contains(StartsWith("the accepted length")));
}

TEST(VerifierSuite, RefusesAStatusBesideAToken) {
  auto const worried = [](tev::outcome o, auto const&, auto const&) {
    o.state = tev::status::bad_tree;
    return o;
  };
  EXPECT_THAT(report_of(worried).faults, Contains(StartsWith("there has to be either")));
}

TEST(VerifierSuite, RefusesATokenOfProbabilityZero) {
  auto const foreign = [](tev::outcome o, auto const&, auto const&) {
    o.bonus_token = 99;
    return o;
  };
  EXPECT_THAT(report_of(foreign).faults, Contains(StartsWith("a number at an end")));
}

TEST(VerifierSuite, RefusesAWalkWithoutAnEnd) {
  auto const circles = [](tev::outcome o, auto const& p, auto const&) {
    for (tev::node_id v = p.tree.first_child(0); v > 0 && v < p.tree.size();)
      v = p.tree.next_sibling(v);
    return o;
  };
  EXPECT_THAT(report_of(circles).faults, Contains(StartsWith("a damaged tree keeps")));
}

TEST(VerifierSuite, RefusesAnOutcomeThatDependsOnTheThread) {
  auto const ranked = [](tev::outcome o, auto const&, auto const& team) {
    o.accepted_length += team.rank();
    return o;
  };
  EXPECT_THAT(report_of(ranked).faults, Contains(StartsWith("a team of three")));
  auto const parting = [](tev::outcome o, auto const&, auto const& team) {
    if (team.rank() == 1) team.barrier();
    return o;
  };
  EXPECT_THAT(report_of(parting).faults, Contains(StartsWith("the threads of a team part")));
}

TEST(VerifierSuite, RefusesAnOutcomeThatDependsOnTheCall) {
  std::int32_t calls = 0;
  auto const counting = [&](tev::outcome o, auto const&, auto const&) {
    o.accepted_length += ++calls;
    return o;
  };
  EXPECT_THAT(report_of(counting).faults, Contains(StartsWith("the same call gave")));
}

TEST(VerifierSuite, ItsInstancesHaveEveryTrait) {
  instance_traits seen;
  for (std::uint64_t number = 0; number < 240; ++number) {
    auto const t = traits_of(small_instance(number));
    seen.lone_root |= t.lone_root;
    seen.branching |= t.branching;
    seen.empty_row |= t.empty_row;
    seen.massless_child |= t.massless_child;
    seen.covered_row |= t.covered_row;
  }
  EXPECT_TRUE(seen.lone_root && seen.branching && seen.empty_row && seen.massless_child &&
              seen.covered_row);
}

}  // namespace
