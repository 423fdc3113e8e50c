// Laws of (exit node, bonus token) as cases list them, and as the library gives them.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/checker.hpp"
#include "conformance/exact.hpp"
#include "conformance/fields.hpp"
#include "support/expected_law.hpp"
#include "tev/core/status.hpp"
#include "tev/core/types.hpp"
#include "tev/exit_law/exit_law.hpp"

namespace conformance {

using tev_test::outcome_law;

/// A law as a case lists it.
using listed_law = std::map<std::pair<tev::node_id, tev::token_id>, quantity>;

/// Reads a list of [node, token, probability].
[[nodiscard]] inline listed_law read_law(value const& list) {
  listed_law law;
  for (auto const& entry : list.items()) {
    auto const parts = entry.items();
    if (parts.size() != 3) throw case_error(entry.place() + " needs node, token and probability");
    if (!law.try_emplace({parts[0].index(), parts[1].index()}, parts[2].number()).second)
      throw case_error(entry.place() + " lists a pair again");
  }
  return law;
}

/// Compares a law with the listed one.
///
/// What is not listed may not occur, and what is listed has to be met. Where the list has a
/// tolerance, negligible entries may be missing on either side, unless `impossible(node, token)`:
/// such an entry is wrong however small it is.
template <class Impossible>
void compare_law(checker& check, std::string const& place, listed_law const& expected,
                 outcome_law const& got, Impossible&& impossible) {
  auto const name = [&](auto const& pair) {
    return place + " of [" + text(pair.first) + ", " + text(pair.second) + "]";
  };
  bool const rounded =
      std::ranges::any_of(expected, [](auto const& e) { return !e.second.exact.has_value(); });
  for (auto const& [pair, probability] : expected)
    if (auto const found = got.find(pair); found != got.end())
      check.agrees(name(pair), probability, found->second);
    else if (probability.exact ? *probability.exact != 0 : probability.rounded >= negligible)
      check.fail(name(pair), text(probability), "nothing");
  for (auto const& [pair, probability] : got) {
    if (expected.contains(pair) || probability == 0) continue;
    bool const tail = rounded && to_double(probability) < negligible;
    if (!tail || impossible(pair.first, pair.second))
      check.fail(name(pair), "nothing", text(to_double(probability)));
  }
}

inline void compare_law(checker& check, std::string const& place, listed_law const& expected,
                        outcome_law const& got) {
  compare_law(check, place, expected, got, [](tev::node_id, tev::token_id) { return true; });
}

/// What a request reports whose walk may end in these ways: the gravest status of a row at which it
/// may end without a token.
template <class Target>
[[nodiscard]] tev::status request_status(outcome_law const& law, Target const& target) {
  auto const gravity = [](tev::status s) {
    return s == tev::status::bad_parameter ? 3 : s == tev::status::not_finite ? 2 : 1;
  };
  tev::status gravest = tev::status::ok;
  for (auto const& [pair, probability] : law) {
    if (pair.second != tev::no_token) continue;
    tev::status const s = target.row_status(pair.first);
    if (gravest == tev::status::ok || gravity(s) > gravity(gravest)) gravest = s;
  }
  return gravest;
}

/// The law of a request that can't be looked at: nothing is accepted, nothing emitted.
[[nodiscard]] inline outcome_law nothing_accepted() { return {{{0, tev::no_token}, 1}}; }

/// The exit law of such a request with `size` nodes.
[[nodiscard]] inline tev::exit_law<rational> nothing_reached(std::size_t size) {
  tev::exit_law<rational> law{std::vector<rational>(size, 0), std::vector<rational>(size, 1),
                              std::vector<rational>(size, 0), 0};
  if (size > 0) law.reach[0] = law.exit[0] = 1;
  return law;
}

}  // namespace conformance
