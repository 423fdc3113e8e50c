// What a verifier does, over all random numbers or over those that matter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/exact.hpp"
#include "support/expected_law.hpp"
#include "tev/core/types.hpp"
#include "tev/random/concept.hpp"
#include "tev/team/serial_team.hpp"
#include "tev/verify/concept.hpp"

namespace conformance {

/// Answers the first questions as it is told and the others with 0, and notes what was asked.
struct scripted_source {
  std::vector<std::uint64_t> const* script;
  mutable std::vector<std::pair<tev::decision, std::uint64_t>> asked{};

  [[nodiscard]] std::uint64_t below(tev::decision d, std::uint64_t n) const {
    asked.emplace_back(d, n);
    std::size_t const i = asked.size() - 1;
    return i < script->size() ? std::min((*script)[i], n - 1) : 0;
  }

  [[nodiscard]] bool asked_twice() const {
    for (std::size_t i = 1; i < asked.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (asked[i].first == asked[j].first) return true;
    return false;
  }
};

/// The law of a verifier whose numbers are too large to be enumerated one by one.
///
/// Each range of answers is halved until its ends lead to the same outcome and the same questions;
/// what lies between is then taken to do so too. This holds for verifiers that compare a number
/// with running sums, as all of the list do, and needs few runs where there are few outcomes. None
/// when it takes more than `limit` runs or a decision is asked twice in one run.
template <class Verifier, class Problem>
class halving {
 public:
  halving(Verifier const& verifier, Problem const& p, std::size_t limit)
      : verifier_(verifier), problem_(p), limit_(limit) {}

  [[nodiscard]] std::optional<tev_test::outcome_law> law() {
    if (!follow(1)) return std::nullopt;
    return law_;
  }

 private:
  struct run_record {
    tev::outcome end;
    std::vector<std::pair<tev::decision, std::uint64_t>> asked;

    friend bool operator==(run_record const&, run_record const&) = default;
  };

  // None when the limit is passed.
  [[nodiscard]] std::optional<run_record> run() {
    if (++runs_ > limit_) return std::nullopt;
    scripted_source const source{&script_};
    auto const end = verifier_(tev::serial_team{}, problem_, source);
    if (source.asked_twice()) return std::nullopt;
    return run_record{end, source.asked};
  }

  [[nodiscard]] std::optional<run_record> run_with(std::uint64_t answer) {
    script_.back() = answer;
    return run();
  }

  // Adds what follows the script, whose probability is `weight`.
  [[nodiscard]] bool follow(rational const& weight) {
    auto const now = run();
    if (!now) return false;
    if (now->asked.size() == script_.size()) {
      law_[{now->end.exit_node, now->end.bonus_token}] += weight;
      return true;
    }
    std::uint64_t const n = now->asked[script_.size()].second;
    script_.push_back(n - 1);
    auto const last = run();
    bool const done = last && split(0, *now, n - 1, *last, weight / n);
    script_.pop_back();
    return done;
  }

  // Follows the answers [low, high] of the last question, whose ends have been tried.
  [[nodiscard]] bool split(std::uint64_t low, run_record const& at_low, std::uint64_t high,
                           run_record const& at_high, rational const& weight) {
    if (at_low == at_high) {
      script_.back() = low;
      return follow(weight * (big_integer(high - low) + 1));
    }
    std::uint64_t const middle = low + (high - low) / 2;
    auto const at_middle = run_with(middle);
    auto const at_next = run_with(middle + 1);
    return at_middle && at_next && split(low, at_low, middle, *at_middle, weight) &&
           split(middle + 1, *at_next, high, at_high, weight);
  }

  Verifier const& verifier_;
  Problem const& problem_;
  std::size_t limit_;
  std::size_t runs_ = 0;
  std::vector<std::uint64_t> script_;
  tev_test::outcome_law law_;
};

}  // namespace conformance
