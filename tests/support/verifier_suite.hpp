// What the library's own saturated verifiers have to pass, for a verifier of anybody's. Needs tev
// and Boost.Multiprecision, and no test framework.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/counted_tree.hpp"
#include "support/debug_team.hpp"
#include "support/enumerating_source.hpp"
#include "support/expected_law.hpp"
#include "support/fixed_sources.hpp"
#include "support/instance.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/exit_law/flow.hpp"
#include "tev/random/philox.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/tree/attention.hpp"
#include "tev/tree/view.hpp"
#include "tev/verify/concept.hpp"

namespace tev_test {

/// What the suite did, and the first fault of each kind.
struct suite_report {
  std::size_t laws = 0;      ///< Laws that were enumerated and compared.
  std::size_t outcomes = 0;  ///< Outcomes of which they were made.
  std::vector<std::string> faults;

  [[nodiscard]] bool passed() const { return faults.empty() && laws > 0; }
};

/// The number-th of a fixed series of small instances: up to 6 nodes, 4 tokens and masses to 4,
/// with empty rows, children without mass and rows that the children cover.
[[nodiscard]] inline instance small_instance(std::uint64_t number) {
  std::uint64_t state = number * 0x9E3779B97F4A7C15u + 1;
  auto const below = [&](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  instance i{{tev::no_node}, {tev::no_token}, static_cast<std::int32_t>(1 + below(4)), {}};
  for (std::uint64_t tries = below(9); tries > 0 && i.parents.size() < 6; --tries) {
    auto const parent = static_cast<tev::node_id>(below(i.parents.size()));
    auto const token = static_cast<tev::token_id>(below(static_cast<std::uint64_t>(i.vocab)));
    bool taken = false;
    for (std::size_t v = 1; v < i.parents.size(); ++v)
      taken |= i.parents[v] == parent && i.tokens[v] == token;
    if (taken) continue;
    i.parents.push_back(parent);
    i.tokens.push_back(token);
  }
  for (std::size_t v = 0; v < i.parents.size(); ++v) {
    std::uint64_t const range = below(8) == 0 ? 1 : 2 + below(4);
    for (std::int32_t x = 0; x < i.vocab; ++x) i.masses.push_back(below(range));
  }
  return i;
}

namespace detail {

template <class Make>
class suite {
 public:
  explicit suite(Make const& make) : make_(make) {}

  suite_report run() {
    for (std::uint64_t number = 0; number < instances; ++number) {
      instance const i = small_instance(number);
      std::ostringstream text;
      text << i;
      where_ = text.str();
      integer_scene scene(i);
      check_law(scene.prepared());
      check_ends(scene);
      check_damaged(scene.prepared(), number);
      if (number % 8 == 0) check_team(scene);
    }
    return std::move(report_);
  }

 private:
  static constexpr std::uint64_t instances = 240;
  static constexpr std::size_t outcome_limit = 20'000;

  void expect(bool held, std::string const& what) {
    auto const same = [&](std::string const& fault) { return fault.starts_with(what); };
    if (held || std::ranges::any_of(report_.faults, same)) return;
    report_.faults.push_back(what + "\n" + where_);
  }

  void check_law(integer_problem const& p) {
    auto const law = enumerated_law(make_(exact_unit(p)), p, outcome_limit, report_.outcomes);
    if (!law) return;
    ++report_.laws;
    expect(*law == expected_law(p), "the enumerated law is not the exit law");
    expect_sound(p, make_(exact_unit(p)), {.seed = 1});
  }

  template <class Verifier>
  void expect_sound(integer_problem const& p, Verifier const& verify, tev::philox source) {
    auto const depth = tev::depths(p.tree);
    tev::outcome const o = verify(tev::serial_team{}, p, source);
    bool const inside = 0 <= o.exit_node && o.exit_node < p.tree.size();
    expect(inside, "the exit node is no node");
    if (inside)
      expect(o.accepted_length == depth[o.exit_node],
             "the accepted length is not the exit node's depth");
    expect((o.bonus_token == tev::no_token) == (o.state != tev::status::ok),
           "there has to be either a bonus token or a status that tells why not");
    expect(verify(tev::serial_team{}, p, source) == o, "the same call gave another outcome");
  }

  // Rows are prepared by the verifier itself, and numbers lie at the ends of their ranges.
  void check_ends(integer_scene& scene) {
    auto const allowed = expected_law(scene.prepared());
    for (end const which : {end::low, end::high}) {
      auto const p = scene.unprepared();
      auto const o = make_(tev::default_flow_unit)(tev::serial_team{}, p, end_source{which});
      expect(allowed.contains({o.exit_node, o.bonus_token}),
             "a number at an end of its range gives an outcome of probability 0");
    }
  }

  // Links that point anywhere, and tokens that occur twice.
  void check_damaged(integer_problem const& p, std::uint64_t seed) {
    std::int32_t const size = p.tree.size();
    std::vector<tev::node_id> children, siblings;
    std::vector<tev::token_id> tokens;
    tev::philox const source{seed};
    auto const any = [&](std::uint32_t position, std::int32_t v, std::uint64_t n) {
      return static_cast<std::int32_t>(
          source.below({7, position, tev::purpose::drafter, static_cast<std::uint32_t>(v)}, n));
    };
    for (std::int32_t v = 0; v < size; ++v) {
      children.push_back(any(0, v, static_cast<std::uint64_t>(size) + 4) - 2);
      siblings.push_back(any(1, v, static_cast<std::uint64_t>(size) + 4) - 2);
      tokens.push_back(any(2, v, 6) - 1);
    }
    tev::tree_view const damaged{size, p.tree.parents, tokens.data(), children.data(),
                                 siblings.data()};
    tev::problem<counted_tree, integer_rows> const problem{
        {damaged, (2 * size + 2) * (p.target.vocab_size() + 2)}, p.target, p.request, p.position};
    try {
      auto const o = make_(tev::default_flow_unit)(tev::serial_team{}, problem, source);
      expect(0 <= o.exit_node && o.exit_node < size && o.accepted_length < size,
             "a damaged tree leads out of the tree");
    } catch (std::logic_error const&) {
      expect(false, "a damaged tree keeps the walk going");
    }
  }

  void check_team(integer_scene& scene) {
    tev::philox const source{.seed = 3};
    auto const verify = make_(tev::default_flow_unit);
    auto const expected = verify(tev::serial_team{}, scene.unprepared(), source);
    auto const p = scene.unprepared();
    try {
      for (auto const& o : run_team(3, [&](debug_team const& t) { return verify(t, p, source); }))
        expect(o == expected, "a team of three gives another outcome than one thread");
    } catch (divergence const& found) {
      expect(false, std::string("the threads of a team part: ") + found.what());
    }
  }

  Make const& make_;
  suite_report report_;
  std::string where_;
};

}  // namespace detail

/// Tries a saturated verifier on a few hundred small trees: its law, enumerated, is the exit law
/// (compared with `==`); nothing of probability 0 comes out at the ends of [0, n); outcomes are
/// consistent and pure; damaged links end the walk; a team gives what one thread gives.
///
/// `make(unit)` returns the verifier for a flow unit; one that needs none ignores it.
template <class Make>
[[nodiscard]] suite_report run_verifier_suite(Make const& make) {
  return detail::suite<Make>(make).run();
}

}  // namespace tev_test
