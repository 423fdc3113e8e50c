// Laws for numbers that are too large to enumerate: by the intervals in which nothing changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "support/enumerating_source.hpp"
#include "tev/random/concept.hpp"
#include "tev/verify/concept.hpp"

namespace tev_test {

/// Answers from a list; the first question behind it is kept, and answered with 0.
struct listing_source {
  struct question {
    tev::decision what;
    std::uint64_t n = 0;
    friend bool operator==(question const&, question const&) = default;
  };

  std::vector<std::uint64_t> const& answers;
  mutable std::size_t asked = 0;
  mutable std::optional<question> next{};

  [[nodiscard]] std::uint64_t below(tev::decision d, std::uint64_t n) const {
    if (asked < answers.size()) return answers[asked++];
    if (!next) next = question{d, n};
    return 0;
  }
};

/// The law of `run(source) -> outcome` for numbers of any size: instead of every value of a
/// number, the ends of the intervals on which the function goes on in the same way.
///
/// Right for functions that ask each decision once and compare its number with thresholds, so that
/// values with the same consequence are neighbours.
template <class Run, class Visit>
void for_each_interval(Run const& run, std::vector<std::uint64_t>& answers, rational const& weight,
                       Visit const& visit) {
  auto const behaviour = [&] {
    listing_source const source{answers};
    auto const o = run(source);
    return std::pair(source.next, source.next ? tev::outcome{} : o);
  };
  auto const first = behaviour();
  if (!first.first) {
    visit(first.second, weight);
    return;
  }
  std::uint64_t const n = first.first->n;
  auto const after = [&](std::uint64_t value) {
    answers.push_back(value);
    auto const b = behaviour();
    answers.pop_back();
    return b;
  };
  for (std::uint64_t begin = 0; begin < n;) {
    auto const here = after(begin);
    std::uint64_t end = n;  // The first value that is not like `begin`, by halving.
    if (after(n - 1) != here) {
      std::uint64_t same = begin;
      for (end = n - 1; end - same > 1;) {
        std::uint64_t const middle = same + (end - same) / 2;
        (after(middle) == here ? same : end) = middle;
      }
    }
    answers.push_back(begin);
    for_each_interval(run, answers, weight * rational(end - begin) / rational(n), visit);
    answers.pop_back();
    begin = end;
  }
}

}  // namespace tev_test
