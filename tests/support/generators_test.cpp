// The generators give valid trees only, and reach every case that the law tests rely on.
#include "support/generators.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "support/instance.hpp"
#include "tev/tree/validate.hpp"

namespace {

using namespace tev_test;

RC_GTEST_PROP(Generators, GiveTreesThatValidate, ()) {
  auto const i = *instances();
  classify(i);
  RC_ASSERT(tev::validate({.parents = i.parents, .tokens = i.tokens, .vocab_size = i.vocab}).ok());
  RC_ASSERT(i.masses.size() == i.parents.size() * i.vocab);
  for (auto const mass : i.masses) RC_ASSERT(mass <= 4u);
}

TEST(Generators, ReachEveryTrait) {
  std::array<int, 5> seen{};
  std::uint64_t largest = 0;
  std::size_t nodes = 0;
  rc::Random random(20260101);
  for (int n = 0; n < 300; ++n) {
    auto const i = instances()(random.split(), 100).value();
    auto const t = traits_of(i);
    bool const traits[] = {t.lone_root, t.branching, t.empty_row, t.massless_child, t.covered_row};
    for (std::size_t k = 0; k < seen.size(); ++k) seen[k] += traits[k];
    for (auto const mass : i.masses) largest = std::max(largest, mass);
    nodes = std::max(nodes, i.parents.size());
  }
  for (int const count : seen) EXPECT_GE(count, 20);
  EXPECT_EQ(largest, 4u);
  EXPECT_EQ(nodes, 6u);
}

TEST(ExactUnit, IsTheLeastCommonMultipleOfPathProducts) {
  // Totals: root 2, its children 3 and 4, a grandchild under the first 5.
  integer_scene scene({{-1, 0, 0, 1}, {-1, 0, 1, 0}, 2, {1, 1, 1, 2, 2, 2, 5, 0}});
  EXPECT_EQ(exact_unit(scene.prepared()), 120u);  // lcm(2, 6, 8, 30)
}

}  // namespace
