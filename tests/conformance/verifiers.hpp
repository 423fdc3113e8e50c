// Every verifier of the library against the law that a tree and its rows promise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/checker.hpp"
#include "conformance/exact.hpp"
#include "conformance/laws.hpp"
#include "conformance/observed.hpp"
#include "support/all_verifiers.hpp"
#include "support/expected_law.hpp"
#include "support/fixed_sources.hpp"
#include "tev/core/status.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/attention.hpp"
#include "tev/verify/predraw.hpp"

namespace conformance {

/// The least flow unit that every division of the flow divides exactly, where it fits; the default
/// otherwise.
template <class Problem>
[[nodiscard]] std::uint64_t flow_unit(Problem const& p) {
  std::vector<big_integer> product(static_cast<std::size_t>(p.tree.size()), 1);
  big_integer unit = 1;
  for (tev::node_id v = 0; v < p.tree.size(); ++v) {
    if (v > 0) product[v] = product[p.tree.parent(v)];
    if (p.target.total(v) > 0) product[v] *= p.target.total(v);
    unit = lcm(unit, product[v]);
    if (unit > tev::default_flow_unit) return tev::default_flow_unit;
  }
  return static_cast<std::uint64_t>(unit);
}

/// Half the sum of the differences of two laws.
[[nodiscard]] inline rational variation(outcome_law const& a, outcome_law const& b) {
  rational sum = 0;
  auto const at = [](outcome_law const& law, auto const& pair) {
    auto const found = law.find(pair);
    return found == law.end() ? rational(0) : found->second;
  };
  for (auto const& [pair, probability] : a) sum += abs(rational(probability - at(b, pair)));
  for (auto const& [pair, probability] : b)
    if (!a.contains(pair)) sum += probability;
  return sum / 2;
}

/// Runs verifiers over one problem whose rows are prepared and whose law is known.
template <class Problem>
class verifier_check {
 public:
  verifier_check(checker& check, Problem const& p, outcome_law const& law)
      : check_(check), problem_(p), law_(law), depth_(tev::depths(p.tree)) {
    std::int64_t const deepest = *std::ranges::max_element(depth_);
    limit_ = static_cast<std::size_t>(30'000'000 / ((p.target.vocab_size() + 64) * (deepest + 1)));
  }

  /// Every verifier of the list: its law where that can be had, and single numbers otherwise.
  void run() {
    std::uint64_t const unit = flow_unit(problem_);
    tev_test::for_each_verifier([&](char const* name, auto&& make) {
      tev_test::verifier_workspace space(problem_.tree.size());
      auto const shipped = make(tev::default_flow_unit, space);
      run_ends(name, shipped);
      run_seeds(name, shipped, space);
      std::string const whose = std::string("law of ") + name;
      if (auto const got = law_of(make(unit, space)))
        compare(whose, *got, unit == tev::default_flow_unit && whose == "law of tree_exit");
    });
  }

  /// The law of one verifier, where it can be had.
  template <class Verifier>
  [[nodiscard]] std::optional<outcome_law> law_of(Verifier const& verifier) {
    std::size_t count = 0;
    if (auto got =
            tev_test::enumerated_law(verifier, problem_, std::min(limit_, enumerated), count))
      return got;
    if (law_.size() * 40 > limit_) return std::nullopt;
    return halving<Verifier, Problem>(verifier, problem_, limit_).law();
  }

 private:
  static constexpr std::size_t enumerated = 3000;

  void compare(std::string const& whose, outcome_law const& got, bool rounded) {
    rational const allowed =
        rounded ? rational(problem_.tree.size(), tev::default_flow_unit) : rational(0);
    rational const off = variation(law_, got);
    if (off > allowed)
      check_.fail(whose, "the law of the tree",
                  "another, " + text(to_double(off)) + " away in total variation");
    for (auto const& [pair, probability] : got)
      if (!law_.contains(pair)) unlisted(whose, pair.first, pair.second);
  }

  void unlisted(std::string const& whose, tev::node_id v, tev::token_id token) {
    check_.fail(whose, "nothing outside the law", "[" + text(v) + ", " + text(token) + "]");
  }

  void admit(std::string const& whose, tev::outcome const& o) {
    if (!law_.contains({o.exit_node, o.bonus_token}))
      return unlisted(whose, o.exit_node, o.bonus_token);
    check_.equal(whose + ", accepted length", depth_[o.exit_node], o.accepted_length);
    check_.equal(whose + ", status", std::string(name(problem_.target.row_status(o.exit_node))),
                 std::string(name(o.state)));
  }

  // The numbers 0 and the largest below 1, together and mixed.
  template <class Verifier>
  void run_ends(std::string const& name, Verifier const& verifier) {
    for (auto const side : {tev_test::end::low, tev_test::end::high}) {
      std::string const whose = name + (side == tev_test::end::low ? " at random number 0"
                                                                   : " at the last number below 1");
      admit(whose, verifier(tev::serial_team{}, problem_, tev_test::end_source{side}));
      for (std::uint64_t const exit : {std::uint64_t{0}, tev::default_flow_unit - 1})
        admit(whose, verifier(tev::serial_team{}, problem_, tev_test::probing_source{exit, side}));
    }
  }

  // Philox with a few seeds: nothing outside the law, the same again over other scratch, and for
  // predraw the same as with all tokens drawn beforehand.
  template <class Verifier>
  void run_seeds(std::string const& name, Verifier const& verifier,
                 tev_test::verifier_workspace& space) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      tev::philox const source{seed};
      auto const fill = [&](std::int32_t with) {
        std::ranges::fill(space.drawn, with);
        std::ranges::fill(space.depth, with);
      };
      fill(0x55555555);
      tev::outcome const first = verifier(tev::serial_team{}, problem_, source);
      fill(-1);
      tev::outcome const again = verifier(tev::serial_team{}, problem_, source);
      std::string const whose = name + " with seed " + text(seed);
      admit(whose, first);
      if (!(first == again)) check_.fail(whose, "the same twice", "two outcomes");
      if (name.starts_with("predraw") &&
          !(first == tev::predraw{}(tev::serial_team{}, problem_, source)))
        check_.fail(whose, "the outcome of predraw", "another");
    }
  }

  checker& check_;
  Problem const& problem_;
  outcome_law const& law_;
  std::vector<std::int32_t> depth_;
  std::size_t limit_;
};

}  // namespace conformance
