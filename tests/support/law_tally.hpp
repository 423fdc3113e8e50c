// Laws of all verifiers over a problem, compared with one that is expected, and counted.
#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/all_verifiers.hpp"
#include "support/expected_law.hpp"

namespace tev_test {

/// What was compared.
struct law_tally {
  std::size_t laws = 0;
  std::size_t outcomes = 0;
  std::size_t too_large = 0;  ///< Laws over more outcomes than the limit, left out.
};

/// Asserts that every verifier's enumerated law over `p` is the expected one. Inside a property.
template <class Problem>
void expect_laws(Problem const& p, outcome_law const& expected, std::uint64_t unit,
                 std::size_t outcome_limit, law_tally& t) {
  verifier_workspace space(p.tree.size());
  for_each_verifier([&](std::string const& name, auto const& make) {
    auto const law = enumerated_law(make(unit, space), p, outcome_limit, t.outcomes);
    if (!law) {
      ++t.too_large;
      return;
    }
    ++t.laws;
    RC_LOG() << name << '\n';
    RC_ASSERT(*law == expected);
  });
}

}  // namespace tev_test
